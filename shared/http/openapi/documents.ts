/** Operations and definitions written as OpenAPI documents, version 2 (one for everything) and 3 (one per group version). */
import {createHash} from 'node:crypto';
import {Definitions, type KindsOfType, type Schema} from './definitions.ts';
import type {Method, Operation, Parameter, Paths} from './operations.ts';

/** The order in which a path lists its methods. */
const methodOrder: readonly Method[] = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
const words: Record<number, string> = {200: 'OK', 201: 'Created', 202: 'Accepted', 401: 'Unauthorized'};
const bearer = {description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header'};

export interface About {
  title: string;
  /** Major and minor: `1.36`. */
  version: string;
}

/** JSON text. `gv` narrows which kinds the schemas name. */
export function documentV3(about: About, paths: Paths, definitions: Definitions, gv?: {group: string; version: string}): string {
  const content = new Contents(definitions);
  const items = pathItems(paths, (operation, shared) => operationV3(operation, shared, content), parameterV3);
  const schemas = definitions.closure(rootsOf(paths), gv);
  const security = `"securitySchemes":{"BearerToken":${JSON.stringify(bearer)}}`;
  const components = schemas ? `"schemas":{${schemas}},${security}` : security;
  return `{"openapi":"3.0.0","info":${JSON.stringify(about)},"paths":{${items}},"components":{${components}}}`;
}

export function documentV2(about: About, paths: Paths, kinds: KindsOfType): string {
  const definitions = new Definitions(2, kinds);
  const parameters = new SharedParameters(definitions);
  const items = pathItems(
    paths,
    (operation, shared) => JSON.stringify(operationV2(operation, shared, definitions, parameters)),
    (parameter) => JSON.stringify(parameters.place(parameter)),
  );
  const schemas = definitions.closure(rootsOf(paths));
  return `{"swagger":"2.0","info":${JSON.stringify(about)},"paths":{${items}},"definitions":{${schemas}},"parameters":${parameters.json()},"securityDefinitions":{"BearerToken":${JSON.stringify(bearer)}},"security":[{"BearerToken":[]}]}`;
}

function* rootsOf(paths: Paths): Generator<string> {
  for (const operations of paths.values())
    for (const operation of operations) {
      if (operation.body) yield operation.body.ref;
      for (const [, of] of operation.responses) if (of !== undefined && of !== 'string') yield of;
    }
}

type IsShared = (parameter: Parameter) => boolean;

/** Parameters that all operations of a path have stand with the path. JSON text: there are some hundred, most of them alike. */
function pathItems(
  paths: Paths,
  write: (operation: Operation, isShared: IsShared) => string,
  place: (parameter: Parameter) => string,
): string {
  const items: string[] = [];
  for (const [path, operations] of paths) {
    const isShared: IsShared = (parameter) => operations.every((operation) => hasParameter(operation, parameter));
    const members: string[] = [];
    for (const method of methodOrder) {
      const operation = operations.find((candidate) => candidate.method === method);
      if (operation) members.push(`"${method}":${write(operation, isShared)}`);
    }
    const shared = inOrder(operations[0]!.parameters.filter(isShared));
    if (shared.length > 0) members.push(`"parameters":[${shared.map(place).join()}]`);
    items.push(`${JSON.stringify(path)}:{${members.join()}}`);
  }
  return items.join();
}

const hasParameter = ({parameters}: Operation, {in: where, name}: Parameter): boolean =>
  parameters.some((parameter) => parameter.name === name && parameter.in === where);

const inOrder = (parameters: readonly Parameter[]): Parameter[] =>
  parameters.toSorted((a, b) => (a.name === b.name ? (a.in < b.in ? -1 : 1) : a.name < b.name ? -1 : 1));

const extensions = ({action, gvk}: Operation): Schema => ({
  ...(action && {'x-kubernetes-action': action}),
  ...(gvk && {'x-kubernetes-group-version-kind': {group: gvk.group, version: gvk.version, kind: gvk.kind}}),
});

const parameterV3 = ({name, in: where, type}: Parameter): string =>
  `{"name":"${name}","in":"${where}",${where === 'path' ? '"required":true,' : ''}"schema":{"type":"${type}","uniqueItems":true}}`;

const schemaOf = (of: string, definitions: Definitions): Schema => (of === 'string' ? {type: 'string'} : definitions.reference(of));

/** What a body or an answer may be, by media type: the same few over and over. */
class Contents {
  readonly #definitions: Definitions;
  readonly #made = new Map<string, string>();

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  of(mediaTypes: readonly string[], of: string): string {
    const key = `${mediaTypes.length} ${mediaTypes[0]} ${of}`;
    let made = this.#made.get(key);
    if (made === undefined) {
      const schema = JSON.stringify({schema: schemaOf(of, this.#definitions)});
      made = `{${mediaTypes
        .toSorted()
        .map((mediaType) => `"${mediaType}":${schema}`)
        .join()}}`;
      this.#made.set(key, made);
    }
    return made;
  }
}

function operationV3(operation: Operation, isShared: IsShared, contents: Contents): string {
  const {tag, operationId, body, responses, produces} = operation;
  const own = inOrder(operation.parameters.filter((parameter) => !isShared(parameter)));
  const answers = responses.map(
    ([code, of]) => `"${code}":{"description":"${words[code]}"${of === undefined ? '' : `,"content":${contents.of(produces, of)}`}}`,
  );
  const members = [
    `"tags":["${tag}"],"operationId":"${operationId}"`,
    ...(own.length > 0 ? [`"parameters":[${own.map(parameterV3).join()}]`] : []),
    ...(body ? [`"requestBody":{"content":${contents.of(body.mediaTypes, body.ref)}${body.required ? ',"required":true' : ''}}`] : []),
    `"responses":{${answers.join()}}`,
    ...Object.entries(extensions(operation)).map(([name, value]) => `"${name}":${JSON.stringify(value)}`),
  ];
  return `{${members.join()}}`;
}

function operationV2(operation: Operation, isShared: IsShared, definitions: Definitions, parameters: SharedParameters): Schema {
  const {body, consumes, produces} = operation;
  const own = inOrder(operation.parameters.filter((parameter) => !isShared(parameter))).map((parameter) => parameters.place(parameter));
  if (body) own.unshift(parameters.placeBody(body));
  return {
    ...(consumes.length > 0 && {consumes}),
    produces,
    schemes: ['https'],
    tags: [operation.tag],
    operationId: operation.operationId,
    ...(own.length > 0 && {parameters: own}),
    responses: Object.fromEntries(
      operation.responses.map(([code, of]) => [
        String(code),
        {description: words[code], ...(of !== undefined && {schema: schemaOf(of, definitions)})},
      ]),
    ),
    ...extensions(operation),
  };
}

/** Version 2 says a parameter once and refers to it. */
class SharedParameters {
  readonly #definitions: Definitions;
  readonly #made = new Map<string, Schema>();

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  place({name, in: where, type}: Parameter): Schema {
    const parameter = {uniqueItems: true, type, name, in: where, ...(where === 'path' && {required: true})};
    // Clients older than 1.27 look for these two in the operation itself.
    if (name === 'dryRun' || name === 'fieldValidation' || name === 'name') return parameter;
    return this.#refer(parameter);
  }

  placeBody({ref, required}: {ref: string; required: boolean}): Schema {
    const parameter = {name: 'body', in: 'body', ...(required && {required}), schema: this.#definitions.reference(ref)};
    return ref.startsWith('meta/') ? this.#refer(parameter) : parameter;
  }

  #refer(parameter: Schema): Schema {
    const json = JSON.stringify(parameter);
    const key = `${parameter['name']}-${createHash('sha256').update(json).digest('base64url').slice(0, 8)}`;
    this.#made.set(key, parameter);
    return {$ref: `#/parameters/${key}`};
  }

  json(): string {
    return JSON.stringify(Object.fromEntries([...this.#made].sort(([a], [b]) => (a < b ? -1 : 1))));
  }
}
