/** What a table of a kind is made of. Each kind has one in <group>/<kind>.table.ts; http/table puts their rows into a Table. */
import type {KubeObject} from '../../object.ts';

export type Cell = string | number | boolean | null;

/** A column of meta.k8s.io; priority 0 is always shown, 1 by `-o wide`. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format: string;
  description: string;
  priority: number;
}

export interface RowCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

export interface KindTable {
  columns: readonly Column[];
  /** One cell a column, the wide ones included. Pure; the object is of the storage version and may lack all but its metadata (a bookmark). */
  cells(object: KubeObject, now: number): Cell[];
  conditions?(object: KubeObject): readonly RowCondition[] | undefined;
  /** Rows of a list stand in this order instead of the list's. */
  order?(a: KubeObject, b: KubeObject): number;
  /** How the reference writes a table without rows, and whether each event of a watch repeats the columns. */
  quirks?: {nullWhenEmpty?: boolean; repeatsColumns?: boolean};
}

const make = (type: Column['type'], name: string, description: string, format = ''): Column => ({
  name,
  type,
  format,
  description,
  priority: 0,
});

export const text = (name: string, description: string, format = ''): Column => make('string', name, description, format);
export const integer = (name: string, description: string): Column => make('integer', name, description);
export const boolean = (name: string, description: string): Column => make('boolean', name, description);
export const wide = (column: Column): Column => ({...column, priority: 1});

export const name = text('Name', 'Name of the object.', 'name');
export const age = text('Age', 'Time since the object was created.');
export const containers = wide(text('Containers', 'Names of the containers.'));
export const images = wide(text('Images', 'Images of the containers.'));
export const selector = wide(text('Selector', 'Labels of the pods that belong to the object.'));

/** Kinds without a table of their own. */
export const plainTable: KindTable = {
  columns: [name, make('date', 'Created At', 'Time at which the object was created.')],
  // The zero time of a bookmark is printed as one.
  cells: ({metadata}) => [metadata.name ?? '', metadata.creationTimestamp ?? '0001-01-01T00:00:00Z'],
  quirks: {nullWhenEmpty: true},
};
