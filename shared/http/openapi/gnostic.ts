/**
 * OpenAPI documents as protobuf: the messages of gnostic's models by their field numbers, as much of them as our documents use. A table per
 * message; what a document holds beyond the tables is an error, not lost.
 */
import protobuf, {type Writer} from 'protobufjs/minimal.js';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by the tables below, which say what each value is
type Value = any;
/** Writes a value under a field number. */
type Codec = (writer: Writer, number: number, value: Value) => void;
/** Writes the members of a message. */
type Body = (writer: Writer, value: Value) => void;
type Fields = Record<string, readonly [number: number, codec: Codec]>;

const wireBytes = 2;

const string: Codec = (writer, number, value) => writer.uint32((number << 3) | wireBytes).string(value);
const bool: Codec = (writer, number, value) => writer.uint32(number << 3).bool(value);
const embedded: (body: Body) => Codec = (body) => (writer, number, value) => {
  writer.uint32((number << 3) | wireBytes).fork();
  body(writer, value);
  writer.ldelim();
};
const repeated =
  (codec: Codec): Codec =>
  (writer, number, values) => {
    for (const value of values) codec(writer, number, value);
  };
/** A message of one member: gnostic's choices and wrappers. */
const within = (inner: number, codec: Codec): Codec => embedded((writer, value) => codec(writer, inner, value));
/** An object of any keys: `{name, value}` records. */
const named =
  (codec: Codec): Codec =>
  (writer, number, entries) => {
    for (const name of Object.keys(entries))
      embedded((inner) => {
        string(inner, 1, name);
        codec(inner, 2, entries[name]);
      })(writer, number, undefined);
  };
const mapOf = (codec: Codec, number = 1): Codec => within(number, named(codec));
/** Free values travel as YAML. */
const any: Codec = embedded((writer, value) => string(writer, 2, `${yamlLines(value).join('\n')}\n`));
/** The tables refer to each other in circles. */
const lazily =
  (codec: () => Codec): Codec =>
  (writer, number, value) =>
    codec()(writer, number, value);

function fields(table: Fields, extensions: number): Body {
  const rows = Object.entries(table).sort(([, [a]], [, [b]]) => a - b);
  return (writer, value) => {
    for (const [name, [number, codec]] of rows) if (value[name] !== undefined) codec(writer, number, value[name]);
    for (const name of Object.keys(value)) {
      if (table[name] !== undefined) continue;
      if (!name.startsWith('x-') || extensions === 0) throw new Error(`OpenAPI: no field for ${name}`);
      named(any)(writer, extensions, {[name]: value[name]});
    }
  };
}

const message = (table: Fields, extensions = 0): Codec => embedded(fields(table, extensions));

function yamlLines(value: Value): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => yamlLines(item).map((line, at) => (at === 0 ? `- ${line}` : `  ${line}`)));
  if (typeof value !== 'object' || value === null) return [typeof value === 'string' ? scalar(value) : String(value)];
  return Object.entries(value).flatMap(([key, item]) => {
    const lines = yamlLines(item);
    return typeof item === 'object' && item !== null
      ? [`${scalar(key)}:`, ...lines.map((line) => `  ${line}`)]
      : [`${scalar(key)}: ${lines[0]}`];
  });
}

/** Words stand as they are; what YAML might take for something else is quoted, as JSON is. */
const scalar = (text: string): string =>
  /^[A-Za-z][\w./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text) ? text : JSON.stringify(text);

const strings = repeated(string);
const about = {title: string, version: string};

// Version 2.

const schemaV2: Codec = lazily(() => schemaV2Message);
const schemaV2Message = message(
  {
    $ref: [1, string],
    format: [2, string],
    description: [4, string],
    default: [5, any],
    required: [19, strings],
    enum: [20, repeated(any)],
    additionalProperties: [21, within(1, schemaV2)],
    type: [22, within(1, string)],
    items: [23, within(1, schemaV2)],
    properties: [25, mapOf(schemaV2)],
  },
  31,
);

const bodyParameter = message({name: [2, string], in: [3, string], required: [4, bool], schema: [5, schemaV2]}, 6);
const queryParameter = message({required: [1, bool], in: [2, string], name: [4, string], type: [6, string], uniqueItems: [20, bool]}, 23);
const pathParameter = message({required: [1, bool], in: [2, string], name: [4, string], type: [5, string], uniqueItems: [19, bool]}, 22);

const parameterV2: Codec = (writer, number, value) => {
  const codec =
    value.in === 'body' ? within(1, bodyParameter) : within(2, value.in === 'path' ? within(4, pathParameter) : within(3, queryParameter));
  codec(writer, number, value);
};
const parameterItemV2: Codec = (writer, number, value) =>
  value.$ref === undefined ? within(1, parameterV2)(writer, number, value) : within(2, message({$ref: [1, string]}))(writer, number, value);

const responseV2 = message({description: [1, string], schema: [2, within(1, schemaV2)]}, 5);
const operationV2 = message(
  {
    tags: [1, strings],
    description: [3, string],
    operationId: [5, string],
    produces: [6, strings],
    consumes: [7, strings],
    parameters: [8, repeated(parameterItemV2)],
    responses: [9, mapOf(within(1, responseV2))],
    schemes: [10, strings],
  },
  13,
);

const pathItemV2 = message({
  get: [2, operationV2],
  put: [3, operationV2],
  post: [4, operationV2],
  delete: [5, operationV2],
  options: [6, operationV2],
  head: [7, operationV2],
  patch: [8, operationV2],
  parameters: [9, repeated(parameterItemV2)],
});

const apiKey = message({type: [1, string], name: [2, string], in: [3, string], description: [4, string]});

const documentV2 = fields(
  {
    swagger: [1, string],
    info: [2, message({title: [1, about.title], version: [2, about.version]})],
    paths: [8, mapOf(pathItemV2, 2)],
    definitions: [9, mapOf(schemaV2)],
    parameters: [10, mapOf(parameterV2)],
    security: [12, repeated(mapOf(message({})))],
    securityDefinitions: [13, mapOf(within(2, apiKey))],
  },
  16,
);

// Version 3.

const schemaV3: Codec = lazily(() => schemaOrReference);
/** Numbers, booleans and strings have a place; of an object's default only the mark remains. */
const defaultV3: Codec = (writer, number, value) => {
  if (typeof value === 'number') embedded((inner) => inner.uint32((1 << 3) | 1).double(value))(writer, number, value);
  else if (typeof value === 'boolean') within(2, bool)(writer, number, value);
  else if (typeof value === 'string') within(3, string)(writer, number, value);
  else writer.uint32((number << 3) | wireBytes).uint32(0);
};
const schemaV3Message = message(
  {
    uniqueItems: [20, bool],
    required: [23, strings],
    enum: [24, repeated(any)],
    type: [25, string],
    allOf: [26, repeated(schemaV3)],
    oneOf: [27, repeated(schemaV3)],
    items: [30, within(1, schemaV3)],
    properties: [31, mapOf(schemaV3)],
    additionalProperties: [32, within(1, schemaV3)],
    default: [33, defaultV3],
    description: [34, string],
    format: [35, string],
  },
  36,
);
const reference = message({$ref: [1, string]});
const schemaOrReference: Codec = (writer, number, value) =>
  value.$ref === undefined ? within(1, schemaV3Message)(writer, number, value) : within(2, reference)(writer, number, value);

const content = mapOf(message({schema: [1, schemaV3]}, 5));
const parameterV3 = within(
  1,
  message({name: [1, string], in: [2, string], description: [3, string], required: [4, bool], schema: [10, schemaV3]}, 14),
);
const responseV3 = within(1, message({description: [1, string], content: [3, content]}, 5));
const operationV3 = message(
  {
    tags: [1, strings],
    description: [3, string],
    operationId: [5, string],
    parameters: [6, repeated(parameterV3)],
    requestBody: [7, within(1, message({description: [1, string], content: [2, content], required: [3, bool]}, 4))],
    responses: [8, mapOf(responseV3, 2)],
  },
  13,
);

const pathItemV3 = message({
  get: [4, operationV3],
  put: [5, operationV3],
  post: [6, operationV3],
  delete: [7, operationV3],
  options: [8, operationV3],
  head: [9, operationV3],
  patch: [10, operationV3],
  parameters: [13, repeated(parameterV3)],
});

const securityScheme = within(1, message({type: [1, string], description: [2, string], name: [3, string], in: [4, string]}));

const documentV3 = fields(
  {
    openapi: [1, string],
    info: [2, message({title: [1, about.title], version: [6, about.version]})],
    paths: [4, mapOf(pathItemV3)],
    components: [5, message({schemas: [1, mapOf(schemaV3)], securitySchemes: [7, mapOf(securityScheme)]})],
  },
  9,
);

const encoded = (body: Body, document: object): Uint8Array => {
  const writer = protobuf.Writer.create();
  body(writer, document);
  return writer.finish();
};

/** `document` is parsed JSON of version 2. */
export const encodeOpenApiV2 = (document: object): Uint8Array => encoded(documentV2, document);
export const encodeOpenApiV3 = (document: object): Uint8Array => encoded(documentV3, document);
