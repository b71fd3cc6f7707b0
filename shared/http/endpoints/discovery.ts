/** /api and /apis, the list of paths, the version, and the documents of the issuer of tokens. */
import type {ApiOptions} from '../../api.ts';
import type {Assembly} from '../../assemble.ts';
import {keySet, openidConfiguration} from '../../auth/discovery-documents.ts';
import {subprotocol} from '../../changes/protocol/messages.ts';
import {genericError, notAcceptable} from '../../errors.ts';
import {tunnelProtocol} from '../../nodes/tunnel/frames.ts';
import {encodeBody, headersFor} from '../../registry/respond.ts';
import {Discovery} from '../discovery.ts';
import {sha512Hex} from '../hash.ts';
import {Health} from '../health.ts';
import type {ApiRequest, ApiResponse} from '../messages.ts';
import {negotiate, parseAccept, plainOffer} from '../negotiate.ts';
import {versionInfo} from '../version.ts';
import {type Endpoint, type Endpoints, indented, requireGet} from './endpoint.ts';

type Parts = Pick<Assembly, 'machine' | 'issuer' | 'verificationKeys'>;

export function discoveryEndpoints(assembly: Parts, options: Pick<ApiOptions, 'advertise' | 'watchSocket' | 'nodeTunnel'>): Endpoints {
  const documents = new DiscoveryDocuments(assembly, options);
  const got =
    (answer: Endpoint): Endpoint =>
    (request, rest) => {
      requireGet(request);
      return answer(request, rest);
    };
  const only =
    (path: string, answer: Endpoint): Endpoint =>
    (request, rest) =>
      rest.join('/') === path ? got(answer)(request, rest) : undefined;
  return {
    '': got(() => documents.paths()),
    api: got((request, rest) => documents.discover(request, 'api', rest)),
    apis: got((request, rest) => documents.discover(request, 'apis', rest)),
    version: only('', () => version(options)),
    '.well-known': only('openid-configuration', () => documents.issuer('configuration')),
    openid: only('v1/jwks', (request) => documents.issuer('keys', request)),
  };
}

/** Whoever speaks the watch protocol, or opens a tunnel, looks for the headers; nobody else does. */
function version({watchSocket, nodeTunnel}: Pick<ApiOptions, 'watchSocket' | 'nodeTunnel'>): ApiResponse {
  const answer = indented(versionInfo);
  if (watchSocket !== undefined) answer.headers['watch-socket'] = `${watchSocket} ${subprotocol}`;
  if (nodeTunnel !== undefined) answer.headers['node-tunnel'] = `${nodeTunnel} ${tunnelProtocol}`;
  return answer;
}

const figuresGroup = 'metrics.k8s.io';
const nodesKeptMs = 60_000;

/** The names of checks do not depend on how they are. */
const healthNames = new Health(() => ({started: true, draining: false, storeFailing: undefined, withinGrace: false}));

class DiscoveryDocuments {
  readonly #assembly: Parts;
  readonly #whole: Discovery;
  readonly #withoutFigures: Discovery;
  #nodesSeenAt = Number.NEGATIVE_INFINITY;
  readonly #serverAddress: string;
  readonly #aggregated = new Map<string, Promise<{body: Uint8Array; etag: string}>>();

  constructor(assembly: Parts, options: Pick<ApiOptions, 'advertise'>) {
    this.#assembly = assembly;
    const {address, port} = options.advertise ?? {address: '127.0.0.1', port: 443};
    this.#serverAddress = `${address.includes(':') ? `[${address}]` : address}:${port}`;
    this.#whole = new Discovery(assembly.machine.catalogue, this.#serverAddress);
    this.#withoutFigures = new Discovery(assembly.machine.catalogue, this.#serverAddress, figuresGroup);
  }

  /** A cluster without nodes has nothing to measure, and looks as the reference does on its own. */
  async #discovery(): Promise<Discovery> {
    const {store, clock} = this.#assembly.machine;
    if (clock.now() - this.#nodesSeenAt < nodesKeptMs) return this.#whole;
    const {items} = await store.scan('nodes', {prefix: '', limit: 1});
    if (items.length === 0) return this.#withoutFigures;
    this.#nodesSeenAt = clock.now();
    return this.#whole;
  }

  async discover(request: ApiRequest, prefix: 'api' | 'apis', rest: readonly string[]): Promise<ApiResponse | undefined> {
    const [one, two, ...more] = rest;
    if (more.length > 0) return undefined;
    const discovery = prefix === 'api' ? this.#whole : await this.#discovery();
    if (one === undefined) {
      const version = aggregatedVersion(request);
      if (version) return this.#aggregatedAnswer(request, discovery, prefix, version);
      return plain(request, prefix === 'api' ? discovery.apiVersions() : discovery.groupList());
    }
    if (prefix === 'api') {
      const list = two === undefined ? await discovery.resourceList('', one) : undefined;
      if (!list) throw genericError(404, '', {group: '', resource: ''}, '');
      return plain(request, list);
    }
    const group = discovery.group(one);
    if (!group) return undefined;
    if (two === undefined) return plain(request, group);
    const list = await discovery.resourceList(one, two);
    if (!list) throw genericError(404, '', {group: '', resource: ''}, '');
    return plain(request, list);
  }

  async #aggregatedAnswer(
    request: ApiRequest,
    discovery: Discovery,
    prefix: 'api' | 'apis',
    version: 'v2' | 'v2beta1',
  ): Promise<ApiResponse> {
    const key = `${prefix} ${version} ${discovery.groups.length}`;
    let built = this.#aggregated.get(key);
    if (!built) {
      const body = Buffer.from(`${JSON.stringify(discovery.aggregated(prefix, version))}\n`);
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

  async paths(): Promise<ApiResponse> {
    const {groups} = await this.#discovery();
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
      ...groups.flatMap(({name, versions}) => [
        ...(name ? [`/apis/${name}`] : []),
        ...versions.map(({version}) => (name ? `/apis/${name}/${version}` : `/api/${version}`)),
      ]),
      ...(['healthz', 'livez', 'readyz'] as const).flatMap((endpoint) => [
        `/${endpoint}`,
        ...healthNames.names(endpoint).map((name) => `/${endpoint}/${name}`),
      ]),
    ];
    return indented({paths: paths.sort()});
  }

  async issuer(which: 'configuration' | 'keys', request?: ApiRequest): Promise<ApiResponse> {
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
