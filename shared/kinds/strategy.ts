/**
 * What a kind adds to its structure: one Strategy per kind, in shared/kinds/<group>/<kind>.ts. Strategies are pure: they see plain
 * objects of the storage version, already decoded and defaulted, and change or judge them. Whatever needs another object (quota,
 * addresses, service accounts) is admission.
 */
import type {FieldError} from '../field-errors.ts';
import type {KubeObject} from '../object.ts';

export interface StrategyContext {
  /** Wall time, ms since the epoch. */
  now: number;
  /** Empty for the object itself, else `status`, `scale`, `finalize`, `approval`, `resize`, `ephemeralcontainers`, ... */
  subresource: string;
  user: {name: string; uid?: string; groups: readonly string[]; extra?: Readonly<Record<string, readonly string[]>>};
}

/** How names of a kind are checked: the reference's name functions, by their usual names. */
export type NameRule =
  | 'dns1123Subdomain'
  | 'longName'
  | 'dns1123Label'
  | 'dns1035Label'
  | 'pathSegment'
  | 'ip'
  | ((name: string, prefix: boolean) => string[]);

export interface Strategy {
  /** Default: dns1123Subdomain. */
  name?: NameRule;
  /** PUT of an absent object creates it (Lease, Endpoints, ...). Default: false. */
  allowCreateOnUpdate?: boolean;
  /** PUT without a resourceVersion replaces whatever is stored. Default: true for most built-in kinds. */
  allowUnconditionalUpdate?: boolean;
  /**
   * The object has metadata.generation: it starts at 1 and grows when anything but metadata and status changes. Default: false. The
   * strategies made by define.ts keep it themselves in prepareForCreate and prepareForUpdate; nobody else needs to.
   */
  generation?: boolean;
  /** Finalizers without a domain are allowed (kinds of the generic machinery). Default: false. */
  plainFinalizers?: boolean;
  /** Passes over metadata that the kind adds on update to the two that every kind gets; the reference's causes show each. Default: update. */
  metadataOnUpdate?: readonly ('update' | 'full')[];
  /** The kind has a status that only the status subresource may write. Default: from the catalogue (a `status` subresource exists). */
  hasStatus?: boolean;
  /** Clears what a client may not set and computes what only the server may, on create. */
  prepareForCreate?(object: KubeObject, context: StrategyContext): void;
  /** The same on update; `context.subresource` says what is being written. Copy from `old` what this write may not change. */
  prepareForUpdate?(object: KubeObject, old: KubeObject, context: StrategyContext): void;
  validate?(object: KubeObject, context: StrategyContext): FieldError[];
  validateUpdate?(object: KubeObject, old: KubeObject, context: StrategyContext): FieldError[];
  /** Texts for Warning headers. */
  warningsOnCreate?(object: KubeObject): string[];
  warningsOnUpdate?(object: KubeObject, old: KubeObject): string[];
  /** Last change before storing, on create and update alike (sorting, dropping what is empty). */
  canonicalize?(object: KubeObject): void;
  /** Values of the selectable fields besides metadata.name and metadata.namespace. Every selectable field must be present, '' included. */
  selectableFields?(object: KubeObject): Record<string, string>;
  /** Grace of a delete: undefined means at once. */
  gracefulDeletion?(object: KubeObject, requestedSeconds: number | undefined): number | undefined;
  /** propagationPolicy when the client names none. Default: background. */
  defaultPropagation?: 'Background' | 'Orphan' | 'Foreground';
  /** DELETE answers with the object instead of a Status. */
  deleteReturnsObject?: boolean;
}
