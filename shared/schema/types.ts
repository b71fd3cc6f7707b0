/**
 * The types of the API as a model to walk: structs with their fields in Go's order, embedded ones flattened, references resolved when
 * first met. Made from ./data/types; decoding, protobuf, OpenAPI, strategic merge and field ownership all read this one.
 */
import {type GroupVersionKind, groupVersion} from '../object.ts';
import {loadData} from './data.ts';

export type ScalarKind = 'string' | 'bool' | 'int32' | 'int64' | 'double' | 'bytes';
/** Types whose JSON is their own: see data/types and the facts about special types. */
export type SpecialKind =
  | 'time'
  | 'microTime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  | 'raw'
  | 'fieldsV1'
  | 'any'
  | 'schemaOrBool'
  | 'schemaOrArray'
  | 'schemaOrStringArray';

export interface ScalarType {
  kind: ScalarKind;
  /** As Go prints it in errors: `int32`, `v1.RestartPolicy`. */
  goName: string;
  /** Known values of a string type; `closed` when there are no others. */
  values?: readonly string[];
  closed?: boolean;
}

export interface SpecialType {
  kind: SpecialKind;
  goName: string;
  /** The struct behind it, for protobuf. */
  ref: string;
}

export interface ListType {
  kind: 'list';
  of: Type;
  goName: string;
  /** In protobuf a message with this list as field 1 (ExtraValue, Verbs). */
  asMessage?: boolean;
}

export interface MapType {
  kind: 'map';
  /** Of maps that have a name of their own: `core/v1.ResourceList`. */
  ref?: string;
  of: Type;
  key: ScalarType;
  goName: string;
}

export interface StructType {
  kind: 'struct';
  /** `core/v1.PodSpec` */
  ref: string;
  /** `PodSpec` */
  name: string;
  goName: string;
  protoPackage: string;
  /** Go's import source, `k8s.io/api@v0.36.3`: names of OpenAPI definitions come from it. */
  source: string;
  group: string;
  version: string;
  /** Owned and replaced as a whole by whoever applies it. */
  atomic: boolean;
  /** JSON fields in Go's order, embedded structs flattened. */
  readonly fields: readonly Field[];
  readonly byName: ReadonlyMap<string, Field>;
  /** Fields as protobuf sees them: embedded structs are fields of their own where they have a number. */
  readonly protoFields: readonly Field[];
}

export type Type = ScalarType | SpecialType | ListType | MapType | StructType;

export interface Field {
  /** Name in JSON; of an embedded struct (protoFields only) its Go field in lower camel case. */
  name: string;
  readonly type: Type;
  pointer: boolean;
  omitempty: boolean;
  omitzero: boolean;
  required: boolean;
  /** Embedded: its members stand in the parent. */
  inline: boolean;
  /** Where Go says a field of an embedded struct is: `ProbeHandler.httpGet`. */
  goPath: string;
  proto?: number;
  protoName?: string;
  default?: unknown;
  patchStrategy?: string;
  patchMergeKey?: string;
  listType?: string;
  listMapKeys?: readonly string[];
  mapType?: string;
  structType?: string;
}

interface FieldRow {
  name: string;
  type: string;
  pointer?: boolean;
  inline?: boolean;
  omitempty?: boolean;
  omitzero?: boolean;
  noJSON?: boolean;
  required?: boolean;
  proto?: number;
  protoName?: string;
  default?: unknown;
  patchStrategy?: string;
  patchMergeKey?: string;
  listType?: string;
  listMapKeys?: string[];
  mapType?: string;
  structType?: string;
}

interface TypeRow {
  alias?: string;
  values?: string[];
  enum?: boolean;
  protoItems?: boolean;
  customJSON?: boolean;
  structType?: string;
  fields?: FieldRow[];
}

interface TypeFile {
  group: string;
  version: string;
  source: string;
  protoPackage: string;
  kinds: Record<string, string>;
  types: Record<string, TypeRow>;
}

const special: Record<string, SpecialKind> = {
  'meta/v1.Time': 'time',
  'meta/v1.MicroTime': 'microTime',
  'meta/v1.Duration': 'duration',
  'meta/v1.FieldsV1': 'fieldsV1',
  'api/resource.Quantity': 'quantity',
  'util/intstr.IntOrString': 'intOrString',
  'runtime.RawExtension': 'raw',
  'apiextensions/v1.JSON': 'any',
  'apiextensions/v1.JSONSchemaPropsOrBool': 'schemaOrBool',
  'apiextensions/v1.JSONSchemaPropsOrArray': 'schemaOrArray',
  'apiextensions/v1.JSONSchemaPropsOrStringArray': 'schemaOrStringArray',
};
const scalars = new Set<string>(['string', 'bool', 'int32', 'int64', 'double', 'bytes']);
const goScalars: Record<string, string> = {double: 'float64', bytes: '[]uint8'};

const types = new Map<string, Type>();

/** The struct of a kind; undefined for kinds that no served group version has. */
export function typeByKind({group, version, kind}: GroupVersionKind): StructType | undefined {
  const index = loadData('types/index') as Record<string, string>;
  const file = own(index, groupVersion({group, version}));
  const name = file === undefined ? undefined : own(fileOf(file).kinds, kind);
  if (name === undefined && (file !== undefined || group === 'meta.k8s.io') && everywhere.has(kind))
    return typeByRef(`meta/v1.${kind}`) as StructType;
  if (file === undefined || name === undefined) return undefined;
  return typeByRef(name.includes('.') ? name : `${dotted(file)}.${name}`) as StructType;
}

/** Strangers name versions and kinds: what every object inherits is none. */
const own = <T>(record: Record<string, T>, key: string): T | undefined => (Object.hasOwn(record, key) ? record[key] : undefined);

/** Kinds of the machinery, registered in every group version. */
const everywhere = new Set([
  'CreateOptions',
  'DeleteOptions',
  'GetOptions',
  'ListOptions',
  'PatchOptions',
  'UpdateOptions',
  'WatchEvent',
  'Status',
  'Table',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
]);

/** The kinds that a group version registers. */
export function kindsOf(gv: {group: string; version: string}): readonly string[] {
  const file = own(loadData('types/index') as Record<string, string>, groupVersion(gv));
  return file === undefined ? [] : Object.keys(fileOf(file).kinds);
}

/** `core/v1.PodSpec`, `meta/v1.ObjectMeta`, ... */
export function typeByRef(ref: string): Type {
  let type = types.get(ref);
  if (!type) {
    type = build(ref);
    types.set(ref, type);
  }
  return type;
}

/** `core/v1.PodSpec` lives in core_v1.json, `runtime.RawExtension` in runtime.json. */
const fileOf = (file: string) => loadData(`types/${file}`) as TypeFile;
const dotted = (file: string) => file.replace('_', '/');

function build(ref: string): Type {
  const dot = ref.lastIndexOf('.');
  const [scope, name] = [ref.slice(0, dot), ref.slice(dot + 1)];
  const file = fileOf(scope.replace('/', '_'));
  const row = file.types[name];
  const goName = `${scope.slice(scope.lastIndexOf('/') + 1)}.${name}`;
  const kind = special[ref];
  if (kind) return {kind, goName, ref};
  if (!row) throw new Error(`no type ${ref}`);
  if (row.alias) {
    const target = parseType(row.alias, scope);
    if (target.kind === 'list') return {...target, goName, ...(row.protoItems && {asMessage: true})};
    if (target.kind === 'map') return {...target, ref, goName};
    if (target.kind === 'struct') return target;
    return {...target, goName, ...(row.values && {values: row.values}), ...(row.enum && {closed: true})} as Type;
  }
  return new Struct(ref, name, goName, scope, file, row);
}

/** Fields are resolved when first read: types refer to each other in circles. */
class Struct implements StructType {
  readonly kind = 'struct' as const;
  readonly ref: string;
  readonly name: string;
  readonly goName: string;
  readonly protoPackage: string;
  readonly source: string;
  readonly group: string;
  readonly version: string;
  readonly atomic: boolean;
  readonly #scope: string;
  readonly #rows: readonly FieldRow[];
  #fields: Field[] | undefined;
  #byName: Map<string, Field> | undefined;
  #protoFields: Field[] | undefined;

  constructor(ref: string, name: string, goName: string, scope: string, file: TypeFile, row: TypeRow) {
    this.ref = ref;
    this.name = name;
    this.goName = goName;
    this.#scope = scope;
    this.protoPackage = file.protoPackage;
    this.source = file.source;
    this.group = file.group;
    this.version = file.version;
    this.atomic = row.structType === 'atomic';
    this.#rows = row.fields ?? [];
  }

  get fields(): readonly Field[] {
    this.#fields ??= this.#rows.flatMap((row) => {
      if (row.noJSON) return [];
      const field = toField(row, this.#scope);
      if (!row.inline) return [field];
      const {type} = field;
      if (type.kind !== 'struct') return [field];
      if (type.ref === 'meta/v1.TypeMeta') return type.fields;
      return type.fields.map(
        (inner) =>
          Object.defineProperties(
            {},
            {...Object.getOwnPropertyDescriptors(inner), goPath: {value: `${type.name}.${inner.goPath}`, enumerable: true}},
          ) as Field,
      );
    });
    return this.#fields;
  }

  get byName(): ReadonlyMap<string, Field> {
    this.#byName ??= new Map(this.fields.map((field) => [field.name, field]));
    return this.#byName;
  }

  get protoFields(): readonly Field[] {
    this.#protoFields ??= this.#rows.flatMap((row) => {
      const field = toField(row, this.#scope);
      if (row.inline && row.proto === undefined)
        return field.type.kind === 'struct' && row.name !== 'typeMeta' ? field.type.protoFields : [];
      return row.proto === undefined ? [] : [field];
    });
    return this.#protoFields;
  }
}

function toField(row: FieldRow, scope: string): Field {
  let resolved: Type | undefined;
  const {type, ...rest} = row;
  return {
    ...rest,
    pointer: row.pointer === true,
    omitempty: row.omitempty === true,
    omitzero: row.omitzero === true,
    required: row.required === true,
    inline: row.inline === true,
    goPath: row.name,
    get type() {
      resolved ??= parseType(type, scope);
      return resolved;
    },
  };
}

/** `list<Container>`, `map<ResourceName,api/resource.Quantity>`, `*T`, `core/v1.PodSpec`, `int32`. */
function parseType(text: string, scope: string): Type {
  if (text.startsWith('*')) return parseType(text.slice(1), scope);
  if (scalars.has(text)) return {kind: text as ScalarKind, goName: goScalars[text] ?? text};
  if (text === 'types.UID') return {kind: 'string', goName: text};
  if (text === 'any') return {kind: 'any', goName: 'interface {}', ref: 'any'};
  if (text.startsWith('list<')) {
    const of = parseType(text.slice(5, -1), scope);
    return {kind: 'list', of, goName: `[]${of.goName}`};
  }
  if (text.startsWith('map<')) {
    const inner = text.slice(4, -1);
    const comma = topLevelComma(inner);
    const key = comma < 0 ? stringType : (parseType(inner.slice(0, comma), scope) as ScalarType);
    const of = parseType(inner.slice(comma + 1), scope);
    return {kind: 'map', key, of, goName: `map[${key.goName}]${of.goName}`};
  }
  if (/^[A-Z]/.test(text)) return typeByRef(`${scope}.${text}`);
  return typeByRef(text);
}

const stringType: ScalarType = {kind: 'string', goName: 'string'};

function topLevelComma(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '<') depth++;
    else if (char === '>') depth--;
    else if (char === ',' && depth === 0) return at;
  }
  return -1;
}
