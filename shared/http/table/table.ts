/**
 * Objects as a meta.k8s.io Table, for clients that show them to people. Which columns a kind has, and what stands in its cells, is the
 * kind's own affair (../../kinds/<group>/<kind>.table.ts). A Status is never put into a table: whoever answers with one sends it as it is.
 */
import {convert} from '../../convert/convert.ts';
import {type Column, type KindTable, plainTable, type RowCondition} from '../../kinds/common/columns.table.ts';
import {printersFor} from '../../kinds/tables.ts';
import {groupVersion, type KubeObject, parseGroupVersion} from '../../object.ts';
import type {Resource} from '../../registry/resource.ts';
import type {IncludeObject} from './include-object.ts';

export interface TableInput {
  /** In the version of the request. A bookmark is an object of which only the metadata is known. */
  items: readonly KubeObject[];
  /** The same objects as they are stored, where the caller has them: rows are printed from these. Converted from `items` when absent. */
  stored?: readonly KubeObject[];
  listMeta: {resourceVersion?: string; continue?: string; remainingItemCount?: number};
  resource: Pick<Resource, 'group' | 'version' | 'kind' | 'storage'>;
  /** One object, not a list: a GET, the answer to a write, an event of a watch. */
  single: boolean;
}

export interface TableOptions {
  version: 'v1' | 'v1beta1';
  includeObject: IncludeObject;
  /** Wall time that ages are measured to, ms since the epoch. */
  now: number;
  /** Events of a watch after its first leave the columns out. */
  omitHeaders?: boolean;
  /** The table of a custom resource, made from its definition. */
  printer?: KindTable;
}

interface Row {
  cells: unknown[];
  conditions?: readonly RowCondition[];
  object: object | null;
}

export interface Table {
  kind: 'Table';
  apiVersion: string;
  metadata: TableInput['listMeta'];
  columnDefinitions: readonly Column[] | null;
  rows: Row[] | null;
}

export function toTable(input: TableInput, options: TableOptions): Table {
  const {items, listMeta, resource, single} = input;
  const apiVersion = `meta.k8s.io/${options.version}`;
  const table = options.printer ?? tableOf(resource, items[0]);
  const storedVersion = groupVersion(resource.storage);
  const printable = items.map((object, index) => ({
    object,
    stored: input.stored?.[index] ?? (isOwnKind(resource, object, storedVersion) ? convert(object, resource.storage) : object),
  }));
  if (table.order && !single) printable.sort((a, b) => table.order!(a.stored, b.stored));
  const rows = printable.map(({object, stored}): Row => {
    const conditions = table.conditions?.(stored);
    return {
      cells: table.cells(stored, options.now),
      ...(conditions && {conditions}),
      object: included(object, apiVersion, options.includeObject),
    };
  });
  return {
    kind: 'Table',
    apiVersion,
    metadata: listMeta,
    columnDefinitions: options.omitHeaders && !table.quirks?.repeatsColumns ? null : table.columns,
    rows: rows.length === 0 && table.quirks?.nullWhenEmpty ? null : rows,
  };
}

/** Subresources may answer with another kind (Scale) than the resource's. */
function tableOf(resource: TableInput['resource'], first: KubeObject | undefined): KindTable {
  const isOther = first && first.kind !== resource.kind;
  const group = isOther ? (parseGroupVersion(first.apiVersion)?.group ?? '') : resource.storage.group;
  return printersFor(group, isOther ? first.kind : resource.kind) ?? plainTable;
}

const isOwnKind = (resource: TableInput['resource'], object: KubeObject, storedVersion: string): boolean =>
  object.kind === resource.kind && object.apiVersion !== storedVersion;

/** The end of a watch's initial events is told by an annotation, so that one is shown whatever was asked for. */
function included(object: KubeObject, apiVersion: string, includeObject: IncludeObject): object | null {
  if (includeObject === 'Object') return object;
  if (includeObject === 'None' && object.metadata.annotations?.['k8s.io/initial-events-end'] !== 'true') return null;
  return {kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata};
}
