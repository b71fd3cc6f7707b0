/** Everything that is not a resource: discovery, OpenAPI, version, health, metrics, the issuer's documents, and the list of paths. */
import type {ApiOptions} from '../api.ts';
import type {Assembly} from '../assemble.ts';
import {keySet, openidConfiguration} from '../auth/discovery-documents.ts';
import {genericError, notAcceptable} from '../errors.ts';
import {encodeBody, headersFor} from '../registry/respond.ts';
import {Discovery} from './discovery.ts';
import {sha512Hex} from './hash.ts';
import {Health, type HealthState} from './health.ts';
import type {ApiRequest, ApiResponse} from './messages.ts';
import {negotiate, parseAccept, plainOffer} from './negotiate.ts';
import {answerOpenApi} from './openapi/answer.ts';
import {OpenApi} from './openapi/openapi.ts';
import type {RequestInfo} from './request-info.ts';
import {versionInfo} from './version.ts';

const noCache = {'cache-control': 'no-cache, private'};

export class NonResourceRoutes {
  readonly #assembly: Assembly;
  readonly #discovery: Discovery;
  readonly #health: Health;
  readonly #openapi: OpenApi;
  readonly #serverAddress: string;
  readonly #aggregated = new Map<string, Promise<{body: Uint8Array; etag: string}>>();

  constructor(assembly: Assembly, health: () => HealthState, options: ApiOptions) {
    this.#assembly = assembly;
    const {address, port} = options.advertise ?? {address: '127.0.0.1', port: 443};
    this.#serverAddress = `${address.includes(':') ? `[${address}]` : address}:${port}`;
    this.#discovery = new Discovery(assembly.machine.catalogue, this.#serverAddress);
    this.#health = new Health(health);
    this.#openapi = new OpenApi(assembly.machine.catalogue);
  }

  async answer(request: ApiRequest, info: RequestInfo): Promise<ApiResponse> {
    const parts = info.path.split('/').filter(Boolean);
    const [first, second, third, ...more] = parts;
    switch (first) {
      case undefined:
        return getOnly(request, () => this.#paths());
      case 'api':
      case 'apis':
        return getOnly(request, () => this.#discover(request, first, [second, third, ...more]));
      case 'version':
        if (second !== undefined) break;
        return getOnly(request, () => indented(versionInfo));
      case 'healthz':
      case 'livez':
      case 'readyz':
        return this.#health.answer(first, parts.slice(1).join('/'), request.query) ?? pageNotFound();
      case 'metrics':
        if (second === 'slis') return prometheus(this.#health.slis());
        if (second !== undefined) break;
        return prometheus(await this.#renderMetrics());
      case 'openapi':
        return getOnly(
          request,
          () => answerOpenApi(this.#openapi, request, parts.slice(1), this.#assembly.machine.clock.now()) ?? pageNotFound(),
        );
      case '.well-known':
        if (second !== 'openid-configuration' || third !== undefined) break;
        return getOnly(request, () => this.#issuerDocument('configuration'));
      case 'openid':
        if (second !== 'v1' || third !== 'jwks') break;
        return getOnly(request, () => this.#issuerDocument('keys', request));
    }
    return pageNotFound();
  }

  async #discover(request: ApiRequest, prefix: 'api' | 'apis', rest: (string | undefined)[]): Promise<ApiResponse> {
    const [one, two, ...more] = rest;
    if (more.length > 0) return pageNotFound();
    if (one === undefined) {
      const version = aggregatedVersion(request);
      if (version) return this.#aggregatedAnswer(request, prefix, version);
      return plain(request, prefix === 'api' ? this.#discovery.apiVersions() : this.#discovery.groupList());
    }
    if (prefix === 'api') {
      const list = two === undefined ? await this.#discovery.resourceList('', one) : undefined;
      if (!list) throw genericError(404, '', {group: '', resource: ''}, '');
      return plain(request, list);
    }
    const group = this.#discovery.group(one);
    if (!group) return pageNotFound();
    if (two === undefined) return plain(request, group);
    const list = await this.#discovery.resourceList(one, two);
    if (!list) throw genericError(404, '', {group: '', resource: ''}, '');
    return plain(request, list);
  }

  async #aggregatedAnswer(request: ApiRequest, prefix: 'api' | 'apis', version: 'v2' | 'v2beta1'): Promise<ApiResponse> {
    const key = `${prefix} ${version}`;
    let built = this.#aggregated.get(key);
    if (!built) {
      const body = Buffer.from(`${JSON.stringify(this.#discovery.aggregated(prefix, version))}\n`);
      built = sha512Hex(body).then((hash) => ({body, etag: `"${hash}"`}));
      this.#aggregated.set(key, built);
    }
    const {body, etag} = await built;
    const headers = {
      'cache-control': 'public',
      etag,
      vary: 'Accept',
      'content-type': `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    };
    if (request.headers['if-none-match'] === etag) return {status: 304, headers};
    return {status: 200, headers, body};
  }

  async #renderMetrics(): Promise<string> {
    const {metrics, store, catalogue} = this.#assembly.machine;
    const counts = [...(await store.counts())].filter(([type]) => catalogue.byType(type) !== undefined);
    return metrics.render(new Map(counts));
  }

  #paths(): ApiResponse {
    const {catalogue} = this.#assembly.machine;
    const paths = [
      '/.well-known/openid-configuration',
      '/api',
      '/apis',
      '/apis/',
      '/metrics',
      '/metrics/slis',
      '/openapi/v2',
      '/openapi/v3',
      '/openapi/v3/',
      '/openid/v1/jwks',
      '/version',
      ...catalogue.groups.flatMap(({name, versions}) => [
        ...(name ? [`/apis/${name}`] : []),
        ...versions.map(({version}) => (name ? `/apis/${name}/${version}` : `/api/${version}`)),
      ]),
      ...(['healthz', 'livez', 'readyz'] as const).flatMap((endpoint) => [
        `/${endpoint}`,
        ...this.#health.names(endpoint).map((name) => `/${endpoint}/${name}`),
      ]),
    ];
    return indented({paths: paths.sort()});
  }

  async #issuerDocument(which: 'configuration' | 'keys', request?: ApiRequest): Promise<ApiResponse> {
    const {issuer, verificationKeys} = this.#assembly;
    const accept = request?.headers['accept'];
    if (which === 'keys' && accept && !/application\/jwk-set\+json|application\/\*|\*\/\*/.test(accept))
      throw notAcceptable('406: Not Acceptable\n\nAvailable representations: application/jwk-set+json');
    const document =
      which === 'configuration' ? openidConfiguration(issuer, this.#serverAddress, verificationKeys) : keySet(verificationKeys);
    return {
      status: 200,
      headers: {'cache-control': document.cacheControl, 'content-type': document.contentType},
      body: Buffer.from(document.body),
    };
  }
}

function getOnly(request: ApiRequest, answer: () => ApiResponse | Promise<ApiResponse>): ApiResponse | Promise<ApiResponse> {
  if (request.method !== 'GET') throw genericError(405, '', {group: '', resource: ''}, '');
  return answer();
}

/** Which aggregated form the client prefers, if any. @throws StatusError 406 when it takes nothing else and we do not have it */
function aggregatedVersion(request: ApiRequest): 'v2' | 'v2beta1' | undefined {
  const accept = request.headers['accept'];
  if (!accept?.includes('APIGroupDiscoveryList')) return undefined;
  for (const {type, params} of parseAccept(accept)) {
    if (params['as'] === undefined) return undefined;
    const served = type === 'application/json' && params['as'] === 'APIGroupDiscoveryList' && params['g'] === 'apidiscovery.k8s.io';
    if (served && (params['v'] === 'v2' || params['v'] === 'v2beta1')) return params['v'];
  }
  return undefined;
}

function plain(request: ApiRequest, object: object): ApiResponse {
  const representation = negotiate(request.headers, request.query, plainOffer);
  // In JSON some of these documents are served without their version; a protobuf envelope has to name it.
  const named = representation.format === 'protobuf' ? {apiVersion: 'v1', ...object} : object;
  return {status: 200, headers: headersFor(representation), body: encodeBody(representation, named)};
}

const indented = (object: object): ApiResponse => ({
  status: 200,
  headers: {...noCache, 'content-type': 'application/json'},
  body: Buffer.from(JSON.stringify(object, null, 2)),
});

const prometheus = (text: string): ApiResponse => ({
  status: 200,
  headers: {...noCache, 'content-type': 'text/plain; version=0.0.4; charset=utf-8'},
  body: Buffer.from(text),
});

const pageNotFound = (): ApiResponse => ({
  status: 404,
  headers: {...noCache, 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff'},
  body: Buffer.from('404 page not found\n'),
});
