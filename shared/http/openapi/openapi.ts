/**
 * What `/openapi/v2` and `/openapi/v3` answer: documents made from the catalogue and the types, on demand. What is kept of them is compressed
 * text and a hash; an idle server holds nothing else. Routing and headers are the caller's (see `negotiateOpenApi` for what clients may ask).
 */
import {createHash} from 'node:crypto';
import {gunzipSync, gzipSync} from 'node:zlib';
import type {Catalogue, ServedGroup} from '../../registry/catalogue.ts';
import {parseAccept} from '../negotiate.ts';
import {Definitions, registeredKinds} from './definitions.ts';
import {type About, documentV2, documentV3} from './documents.ts';
import {encodeOpenApiV2, encodeOpenApiV3} from './gnostic.ts';
import {documentOperation, groupWord, type Paths, pathsOf, tagOf} from './operations.ts';

export interface OpenApiAnswer {
  /** Unpacked when read. */
  readonly bytes: Uint8Array;
  /** The same bytes for clients that accept gzip. */
  gzip: Uint8Array;
  contentType: string;
  /** With its quotes. The same for JSON and protobuf. */
  etag: string;
}

export type OpenApiFormat = 'json' | 'protobuf';

const contentTypes = {
  2: {json: 'application/json', protobuf: 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'},
  3: {json: 'application/json', protobuf: 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'},
} as const;

/** Undefined: 406, with no body. Clients say `@`, which no media type may hold, or `.`. */
export function negotiateOpenApi(accept: string | undefined, version: 2 | 3): OpenApiFormat | undefined {
  if (!accept) return 'json';
  for (const {type} of parseAccept(accept)) {
    if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
    if (type.replace('@', '.') === contentTypes[version].protobuf) return 'protobuf';
  }
  return undefined;
}

interface Kept {
  hash: string;
  json?: Uint8Array;
  protobuf?: Uint8Array;
}

/** A document of version 3 that is not made here: of a custom resource's group version. */
export interface ForeignDocument {
  /** `apis/x.example.com/v1` */
  path: string;
  hash: string;
}

export class OpenApi {
  readonly #catalogue: Pick<Catalogue, 'groups'>;
  readonly #about: About;
  readonly #kept = new Map<string, Kept>();

  constructor(catalogue: Pick<Catalogue, 'groups'>, release = '1.36') {
    this.#catalogue = catalogue;
    this.#about = {title: 'Kubernetes', version: release};
  }

  /** The body of `/openapi/v3` and its Content-Type: where each document is, by a path that names its content. */
  indexV3(foreign: readonly ForeignDocument[] = []): {bytes: Uint8Array; contentType: string} {
    const hashes = new Map(foreign.map(({path, hash}) => [path, hash]));
    // Definitions are much the same in all documents: made once for all of them, and let go.
    let definitions: Definitions | undefined;
    for (const [path, source] of this.#sources()) {
      let kept = this.#kept.get(path);
      if (!kept) {
        definitions ??= this.#definitions();
        kept = {hash: hashOf(this.#json(source, definitions))};
        this.#kept.set(path, kept);
      }
      hashes.set(path, kept.hash);
    }
    const paths = [...hashes]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, hash]) => [path, {serverRelativeURL: `/openapi/v3/${path}?hash=${hash}`}]);
    return {bytes: Buffer.from(JSON.stringify({paths: Object.fromEntries(paths)})), contentType: 'text/plain; charset=utf-8'};
  }

  /** `path` as the index names it: `api/v1`, `apis/apps/v1`, `version`. Undefined: 404. */
  documentV3(path: string, format: OpenApiFormat = 'json'): OpenApiAnswer | undefined {
    const source = this.#sources().get(path);
    return source && this.#answer(path, 3, format, () => this.#json(source, this.#definitions()));
  }

  documentV2(format: OpenApiFormat = 'json'): OpenApiAnswer {
    return this.#answer('v2', 2, format, () => {
      const all: Paths = new Map();
      for (const {paths} of this.#sources().values()) for (const [path, operations] of paths()) all.set(path, operations);
      const sorted = new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
      return documentV2(this.#about, sorted, this.#kinds());
    });
  }

  #answer(key: string, version: 2 | 3, format: OpenApiFormat, make: () => string): OpenApiAnswer {
    let kept = this.#kept.get(key);
    if (!kept?.json) {
      const json = make();
      kept = {hash: kept?.hash ?? hashOf(json), json: compress(Buffer.from(json))};
      this.#kept.set(key, kept);
    }
    if (format === 'protobuf' && !kept.protobuf) {
      const document = JSON.parse(gunzipSync(kept.json!).toString());
      kept.protobuf = compress(version === 2 ? encodeOpenApiV2(document) : encodeOpenApiV3(document));
    }
    const gzip = kept[format]!;
    return {
      get bytes() {
        return gunzipSync(gzip);
      },
      gzip,
      contentType: contentTypes[version][format],
      etag: `"${kept.hash}"`,
    };
  }

  #json({paths, gv}: Source, definitions: Definitions): string {
    return documentV3(this.#about, paths(), definitions, gv);
  }

  #definitions(): Definitions {
    return new Definitions(3, this.#kinds());
  }

  #kinds() {
    return registeredKinds(this.#catalogue.groups.flatMap((group) => group.versions.map(({version}) => ({group: group.name, version}))));
  }

  #sources(): Map<string, Source> {
    const sources = new Map<string, Source>(fixedSources);
    for (const group of this.#catalogue.groups) {
      if (group.name !== '') sources.set(`apis/${group.name}`, {paths: () => groupPaths(group)});
      for (const served of group.versions) {
        const path = group.name === '' ? `api/${served.version}` : `apis/${group.name}/${served.version}`;
        sources.set(path, {paths: () => pathsOf(group.name, served), gv: {group: group.name, version: served.version}});
      }
    }
    return sources;
  }
}

interface Source {
  paths: () => Paths;
  gv?: {group: string; version: string};
}

const single = (path: string, ...operation: Parameters<typeof documentOperation>): Source => ({
  paths: () => new Map([[path, [documentOperation(...operation)]]]),
});

const groupPaths = (group: ServedGroup): Paths =>
  new Map([[`/apis/${group.name}/`, [documentOperation(`get${groupWord(group.name)}APIGroup`, tagOf(group.name), 'meta/v1.APIGroup')]]]);

const fixedSources: readonly [string, Source][] = [
  [
    '.well-known/openid-configuration',
    single('/.well-known/openid-configuration/', 'getServiceAccountIssuerOpenIDConfiguration', 'WellKnown', undefined, [
      'application/json',
    ]),
  ],
  ['api', single('/api/', 'getCoreAPIVersions', 'core', 'meta/v1.APIVersions')],
  ['apis', single('/apis/', 'getAPIVersions', 'apis', 'meta/v1.APIGroupList')],
  ['openid/v1/jwks', single('/openid/v1/jwks/', 'getServiceAccountIssuerOpenIDKeyset', 'openid', undefined, ['application/jwk-set+json'])],
  ['version', single('/version/', 'getCodeVersion', 'version', 'version.Info', ['application/json'])],
];

const hashOf = (text: string): string => createHash('sha512').update(text).digest('hex').toUpperCase();

/** Most of the gain for a third of the time. */
const compress = (bytes: Uint8Array): Uint8Array => gzipSync(bytes, {level: 4});
