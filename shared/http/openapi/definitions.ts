/**
 * The types of the API as OpenAPI schemas: the same definitions for version 2 and 3, which differ in how they refer to each other and in
 * that only 3 tells defaults. Descriptions are left out: they are upstream's prose.
 */
import {type GroupVersionKind, groupVersion} from '../../object.ts';
import {type Field, kindsOf, type ListType, type MapType, type StructType, type Type, typeByKind, typeByRef} from '../../schema/types.ts';
import {moreValues, optionVersions, unions} from './markers.ts';

export type OpenApiVersion = 2 | 3;
export type Schema = Record<string, unknown>;

/** `core/v1.Pod` by the name that upstream's generator gives it: its package, the domain first. */
export function definitionName(ref: string): string {
  const dot = ref.lastIndexOf('.');
  return `${packageOf(ref.slice(0, dot))}.${ref.slice(dot + 1)}`;
}

const machinery: Record<string, string> = {
  'meta/v1': 'io.k8s.apimachinery.pkg.apis.meta.v1',
  runtime: 'io.k8s.apimachinery.pkg.runtime',
  version: 'io.k8s.apimachinery.pkg.version',
  'util/intstr': 'io.k8s.apimachinery.pkg.util.intstr',
  'api/resource': 'io.k8s.apimachinery.pkg.api.resource',
};

function packageOf(scope: string): string {
  if (machinery[scope]) return machinery[scope];
  if (scope.startsWith('apiextensions/')) return `io.k8s.apiextensions-apiserver.pkg.apis.${scope.replace('/', '.')}`;
  if (scope.startsWith('apiregistration/')) return `io.k8s.kube-aggregator.pkg.apis.${scope.replace('/', '.')}`;
  if (scope.startsWith('metrics/')) return `io.k8s.metrics.pkg.apis.${scope.replace('/', '.')}`;
  return `io.k8s.api.${scope.replace('/', '.')}`;
}

/** The one type of a request body that is no struct: a patch. */
export const patchRef = 'meta/v1.Patch';

/** Which kinds a type is registered as. */
export type KindsOfType = ReadonlyMap<string, readonly GroupVersionKind[]>;

export function registeredKinds(served: readonly {group: string; version: string}[]): KindsOfType {
  const kinds = new Map<string, GroupVersionKind[]>();
  const add = (ref: string, gvk: GroupVersionKind) => {
    const list = kinds.get(ref);
    if (list) list.push(gvk);
    else kinds.set(ref, [gvk]);
  };
  for (const gv of served)
    for (const kind of kindsOf(gv)) {
      const type = typeByKind({...gv, kind});
      // What the machinery registers everywhere is told once, below.
      if (type && !type.ref.startsWith('meta/')) add(type.ref, {...gv, kind});
    }
  for (const kind of ['Status', 'APIVersions', 'APIGroupList', 'APIGroup', 'APIResourceList'])
    add(`meta/v1.${kind}`, {group: '', version: 'v1', kind});
  for (const kind of ['DeleteOptions', 'WatchEvent']) for (const gv of optionVersions) add(`meta/v1.${kind}`, {...gv, kind});
  return kinds;
}

/** Schemas of one document (or of several that agree), and of what they refer to. */
export class Definitions {
  readonly #version: OpenApiVersion;
  readonly #kinds: KindsOfType;
  readonly #prefix: string;
  readonly #made = new Map<string, {json: string; refs: readonly string[]}>();

  constructor(version: OpenApiVersion, kinds: KindsOfType) {
    this.#version = version;
    this.#kinds = kinds;
    this.#prefix = version === 2 ? '#/definitions/' : '#/components/schemas/';
  }

  reference(ref: string): {$ref: string} {
    return {$ref: `${this.#prefix}${definitionName(ref)}`};
  }

  /** `"name":{schema},…` of everything that `roots` lead to, sorted by name. `document` narrows the kinds that schemas name. */
  closure(roots: Iterable<string>, document?: {group: string; version: string}): string {
    const found = new Map<string, string>();
    const open = [...roots];
    for (let ref = open.pop(); ref !== undefined; ref = open.pop()) {
      const name = definitionName(ref);
      if (found.has(name)) continue;
      const {json, refs} = this.#definition(ref, document);
      found.set(name, json);
      for (const next of refs) if (!found.has(definitionName(next))) open.push(next);
    }
    return [...found.keys()]
      .sort()
      .map((name) => `${JSON.stringify(name)}:${found.get(name)}`)
      .join(',');
  }

  #definition(ref: string, document: {group: string; version: string} | undefined): {json: string; refs: readonly string[]} {
    // Only these are registered in more than one group version.
    const varies = document !== undefined && (this.#kinds.get(ref)?.length ?? 0) > 1;
    const key = varies ? `${ref} ${groupVersion(document)}` : ref;
    let made = this.#made.get(key);
    if (!made) {
      const refs = new Set<string>();
      const kinds = this.#kinds
        .get(ref)
        ?.filter((kind) => !document || kind.group === '' || groupVersion(kind) === groupVersion(document) || !varies);
      made = {json: JSON.stringify(this.#schema(ref, kinds, refs)), refs: [...refs]};
      this.#made.set(key, made);
    }
    return made;
  }

  #schema(ref: string, kinds: readonly GroupVersionKind[] | undefined, refs: Set<string>): Schema {
    const special = this.#specialSchema(ref);
    if (special) return special;
    const type = typeByRef(ref) as StructType;
    const required = type.fields.filter(isRequired).map((field) => field.name);
    const schema: Schema = {type: 'object'};
    if (required.length > 0) schema['required'] = required;
    const fields = type.fields.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    if (fields.length > 0) schema['properties'] = Object.fromEntries(fields.map((field) => [field.name, this.#property(field, refs)]));
    if (kinds && kinds.length > 0)
      schema['x-kubernetes-group-version-kind'] = kinds.map(({group, version, kind}) => ({group, kind, version}));
    if (type.atomic) schema['x-kubernetes-map-type'] = 'atomic';
    if (unions[ref]) schema['x-kubernetes-unions'] = [unions[ref]];
    return schema;
  }

  #specialSchema(ref: string): Schema | undefined {
    switch (ref) {
      case 'meta/v1.Time':
      case 'meta/v1.MicroTime':
        return {type: 'string', format: 'date-time'};
      case 'meta/v1.Duration':
        return {type: 'string'};
      case 'meta/v1.FieldsV1':
      case 'runtime.RawExtension':
      case patchRef:
        return {type: 'object'};
      case 'api/resource.Quantity':
        return this.#version === 2 ? {type: 'string'} : {oneOf: [{type: 'string'}, {type: 'number'}]};
      case 'util/intstr.IntOrString':
        return this.#version === 2
          ? {type: 'string', format: 'int-or-string'}
          : {format: 'int-or-string', oneOf: [{type: 'integer'}, {type: 'string'}]};
      case 'apiextensions/v1.JSON':
      case 'apiextensions/v1.JSONSchemaPropsOrBool':
      case 'apiextensions/v1.JSONSchemaPropsOrArray':
      case 'apiextensions/v1.JSONSchemaPropsOrStringArray':
        return {};
      default:
        return undefined;
    }
  }

  #property(field: Field, refs: Set<string>): Schema {
    const schema = this.#value(field.type, refs);
    const fallback = field.default ?? (field.pointer ? undefined : implied(field.type, field.omitempty));
    const property = this.#withDefault(schema, fallback);
    if (field.listMapKeys) property['x-kubernetes-list-map-keys'] = field.listMapKeys;
    if (field.listType) property['x-kubernetes-list-type'] = field.listType;
    const mapType = field.mapType ?? field.structType;
    if (mapType) property['x-kubernetes-map-type'] = mapType;
    if (field.patchMergeKey) property['x-kubernetes-patch-merge-key'] = field.patchMergeKey;
    if (field.patchStrategy) property['x-kubernetes-patch-strategy'] = field.patchStrategy;
    return property;
  }

  /** Only version 3 tells defaults; beside them a reference stands in an `allOf`. */
  #withDefault(schema: Schema, fallback: unknown): Schema {
    if (this.#version === 2) return schema;
    const {$ref, ...rest} = schema;
    if (fallback === undefined) return $ref === undefined ? rest : {allOf: [{$ref}]};
    if ($ref !== undefined) return {default: fallback, allOf: [{$ref}]};
    const {enum: values, ...plain} = rest;
    return {...plain, default: fallback, ...(values !== undefined && {enum: values})};
  }

  #value(type: Type, refs: Set<string>): Schema {
    switch (type.kind) {
      case 'string':
        return {type: 'string', ...(type.closed && type.values && {enum: [...new Set(moreValues[type.goName] ?? type.values)].sort()})};
      case 'bytes':
        return {type: 'string', format: 'byte'};
      case 'bool':
        return {type: 'boolean'};
      case 'int32':
      case 'int64':
        return {type: 'integer', format: type.kind};
      case 'double':
        return {type: 'number', format: 'double'};
      case 'list':
        return {type: 'array', items: this.#element(type, refs)};
      case 'map':
        return {type: 'object', additionalProperties: this.#element(type, refs)};
      default:
        if (type.ref === 'any') return {};
        refs.add(type.ref);
        return this.reference(type.ref);
    }
  }

  #element({of}: ListType | MapType, refs: Set<string>): Schema {
    const schema = this.#value(of, refs);
    const fallback = implied(of, false);
    return fallback === undefined ? schema : this.#withDefault(schema, fallback);
  }
}

/** What Go makes of a value that is not there. Structs are never absent; scalars are while `omitempty` drops their zero. */
function implied(type: Type, omitempty: boolean): unknown {
  if (type.kind === 'struct') return {};
  if (omitempty) return undefined;
  switch (type.kind) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
      return 0;
    default:
      return undefined;
  }
}

const isRequired = (field: Field): boolean => !isOptional(field) && (field.required || (!field.omitempty && !field.omitzero));

/** Said in the type's comment, not in its JSON tag. */
const isOptional = (field: Field): boolean => (field as Field & {optional?: boolean}).optional === true;
