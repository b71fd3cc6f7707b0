/** The agent's HTTP API: the secure port with everything, the read-only port with what anyone may see, and the health port. */

import {readFile} from 'node:fs/promises';
import http, {type IncomingMessage, type ServerResponse} from 'node:http';
import https from 'node:https';
import type {AddressInfo} from 'node:net';
import type {Duplex} from 'node:stream';
import type {Clock} from '../../shared/clock.ts';
import type {Cgroups} from '../cgroups/cgroups.ts';
import {cipherList} from '../cli/cipher-suites.ts';
import type {Settings} from '../cli/settings.ts';
import {cadvisorMetrics} from '../figures/cadvisor.ts';
import {FigureSource} from '../figures/figures.ts';
import {agentMetrics, noResourceMetrics, resourceMetrics} from '../figures/metrics.ts';
import type {ProbeCounts} from '../figures/probe-counts.ts';
import {subjectsOf} from '../figures/subjects.ts';
import {summaryOf} from '../figures/summary.ts';
import type {NodeState} from '../node/node-state.ts';
import type {Log} from '../pods/context.ts';
import type {PodManager} from '../pods/manager.ts';
import {isRunning} from '../pods/plan.ts';
import type {PodWorker} from '../pods/worker.ts';
import type {Runtime} from '../runtime/runtime.ts';
import type {PutSource} from '../sources/put.ts';
import {serveManifests} from '../sources/put-route.ts';
import type {Access, Caller} from './access.ts';
import {bridgeChannels, bridgeTunnel, channelsV5, tunnelled} from './bridge.ts';
import {sendHostLog} from './host-logs.ts';
import {logOptions, sendLog} from './logs.ts';
import {Refusal} from './refusal.ts';
import {handOn} from './streams.ts';
import {servingCertificate} from './tls.ts';

export interface ServerOptions {
  settings: Settings;
  manager: PodManager;
  state: NodeState;
  runtime: Runtime;
  cgroups: Pick<Cgroups, 'where'>;
  clock: Clock;
  probes: ProbeCounts;
  access: Access;
  log: Log;
  version: string;
  logRoot: string;
  /** Where manifests can be put. */
  manifests?: PutSource | undefined;
}

interface Call {
  path: string;
  parts: string[];
  query: URLSearchParams;
  request: IncomingMessage;
  response: ServerResponse;
  /** Of the secure port: who asks. */
  user?: Caller;
}

type Route = (call: Call) => Promise<void> | void;

const apiServer: Caller = {name: 'kube-apiserver-kubelet-client', groups: ['system:masters', 'system:authenticated']};
const disabled = 'Debug endpoints are disabled.\n';
const maxUrl = 64 * 1024;
/** What takes more than a GET. */
const methods: Readonly<Record<string, string>> = {
  ...{stats: 'POST', run: 'POST', exec: 'POST', attach: 'POST', portForward: 'POST'},
  manifests: 'PUT POST DELETE',
};
const debugRoutes: ReadonlySet<string> = new Set(['exec', 'attach', 'run', 'portForward', 'containerLogs', 'runningpods', 'logs', 'debug']);
const json = 'application/json';
const prometheus = 'text/plain; version=0.0.4; charset=utf-8';

export class AgentServer {
  readonly #options: ServerOptions;
  readonly #figures: FigureSource;
  readonly #servers: http.Server[] = [];
  #tunnelled: http.Server | undefined;
  /** Of the tunnel, by whether the one request that was let through on it has come. */
  readonly #streams = new WeakMap<Duplex, 'new' | 'spent'>();
  readonly #routes: Readonly<Record<string, Route>>;

  constructor(options: ServerOptions) {
    this.#options = options;
    const {settings, manager, state, runtime, version, logRoot} = options;
    this.#figures = new FigureSource({subjects: () => subjectsOf(manager, options.cgroups), runtime, clock: options.clock});
    const send = (response: ServerResponse, type: string, text: string) => {
      response.writeHead(200, {'content-type': type, 'content-length': Buffer.byteLength(text)});
      response.end(text);
    };
    this.#routes = {
      healthz: (call) => this.#healthz(call),
      pods: ({response}) => send(response, json, podList([...manager.workers()].map(({pod}) => pod))),
      runningpods: ({response}) =>
        send(response, json, podList([...manager.workers()].filter(({view}) => view.running().length > 0).map(runningPod))),
      stats: async ({response, parts, query}) => {
        if (parts[1] !== 'summary') throw notFound();
        const cpuAndMemoryOnly = query.get('only_cpu_and_memory') === 'true';
        const figures = await this.#figures.get(!cpuAndMemoryOnly);
        // Over which time rates were measured: the summary has no word for it.
        response.setHeader('stats-window-seconds', figures.windowMs / 1000);
        const {name: nodeName, startedAt, disk} = state;
        send(response, json, JSON.stringify(summaryOf(figures, {nodeName, startedAt, disk, cpuAndMemoryOnly})));
      },
      metrics: async ({response, parts}) => {
        if (parts[1] === 'cadvisor') send(response, prometheus, cadvisorMetrics(await this.#figures.get(true), state));
        else if (parts[1] === 'resource')
          send(response, prometheus, await this.#figures.get(false).then(resourceMetrics, noResourceMetrics));
        else if (parts[1] === 'probes') send(response, prometheus, options.probes.text());
        else if (parts[1] !== undefined) throw notFound();
        else send(response, prometheus, agentMetrics(state, manager, version));
      },
      configz: ({response}) => send(response, json, JSON.stringify({nodeagentconfig: settings.all()})),
      containerLogs: async ({parts, query, response}) => {
        const [, namespace, name, container] = parts;
        await sendLog(this.#worker(namespace, name), container ?? '', logOptions(query, Date.now()), logRoot, response);
      },
      run: async ({parts, query, request, response}) => {
        if (request.method !== 'POST') throw new Refusal(405, '405: Method Not Allowed');
        const {containerId} = this.#container(parts);
        const {stdout, stderr} = await runtime.exec(containerId, (query.get('cmd') ?? '').split(' '), 0);
        send(response, json, Buffer.concat([stdout, stderr]).toString());
      },
      ...(options.manifests && {manifests: (call: Call) => serveManifests(options.manifests!, {...call, user: call.user})}),
      logs: ({parts, response}) => sendHostLog(parts.slice(1), response),
      exec: () => upgradeNeeded(),
      attach: () => upgradeNeeded(),
      portForward: () => upgradeNeeded(),
    };
  }

  async start(): Promise<void> {
    const {settings, state, log} = this.#options;
    if (settings.bool('enable-server')) {
      const certificate = await servingCertificate(
        {certFile: settings.text('tls-cert-file'), keyFile: settings.text('tls-private-key-file'), certDir: settings.text('cert-dir')},
        [state.name, ...state.hostIps, '127.0.0.1'],
        Date.now(),
      );
      const ca = settings.text('client-ca-file') ? await readFile(settings.text('client-ca-file'), 'utf8') : undefined;
      const ciphers = cipherList(settings.list('tls-cipher-suites'));
      const secure = https.createServer({
        ...certificate,
        ...(ciphers && {ciphers}),
        ...(ca && {ca}),
        requestCert: ca !== undefined,
        rejectUnauthorized: false,
        minVersion: tlsVersion(settings.text('tls-min-version')),
        maxHeaderSize: maxUrl,
      });
      secure.on('request', (request, response) => void this.#serve(request, response, true));
      secure.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
      await this.#listen(secure, settings.number('port'), settings.text('address'));
      if (settings.number('read-only-port') > 0) {
        const open = http.createServer({maxHeaderSize: maxUrl}, (request, response) => void this.#serve(request, response, false));
        await this.#listen(open, settings.number('read-only-port'), settings.text('address'));
      }
    }
    if (settings.number('healthz-port') > 0) {
      const health = http.createServer((request, response) => void this.#serveHealth(request, response));
      await this.#listen(health, settings.number('healthz-port'), settings.text('healthz-bind-address')).catch((error) =>
        log.warn(`health port: ${error.message}`),
      );
    }
  }

  /** One request of the API server's, which has decided that it may be made: its stream came through the tunnel. */
  serve(stream: Duplex): void {
    if (!this.#tunnelled) {
      this.#tunnelled = http.createServer({maxHeaderSize: maxUrl, requestTimeout: 0});
      // A second one would be somebody's who was let through for the first. Node does not count upgrades: #authorize does.
      this.#tunnelled.maxRequestsPerSocket = 1;
      this.#tunnelled.on('request', (request, response) => void this.#serve(request, response, true));
      this.#tunnelled.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    }
    this.#streams.set(stream, 'new');
    this.#tunnelled.emit('connection', stream);
  }

  /** Of the secure, the read-only and the health port, as far as they are open. */
  get ports(): number[] {
    return this.#servers.map((server) => (server.address() as AddressInfo).port);
  }

  stop(): void {
    this.#figures.stop();
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  #listen(server: http.Server, port: number, host: string): Promise<void> {
    this.#servers.push(server);
    // The process lives for its pods, and the connections of followers must not be cut.
    server.requestTimeout = 0;
    server.on('clientError', refuseClient);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject);
        server.on('error', (error) => this.#options.log.warn(`server: ${error.message}`));
        resolve();
      });
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse, secure: boolean): Promise<void> {
    try {
      const call = callOf(request, response);
      if (secure) call.user = await this.#authorize(call);
      if (debugRoutes.has(call.parts[0] ?? '') && !(secure && this.#options.settings.bool('enable-debugging-handlers')))
        throw new Refusal(405, disabled);
      const route = Object.hasOwn(this.#routes, call.parts[0] ?? '') ? this.#routes[call.parts[0]!]! : undefined;
      if (!route || (call.parts[0] === 'configz' && !secure)) throw notFound();
      if (request.method !== 'GET' && !(methods[call.parts[0]!] ?? '').includes(request.method!))
        throw new Refusal(405, '405: Method Not Allowed');
      await route(call);
    } catch (error) {
      const {status, text} = answerTo(error, this.#options.log);
      if (response.headersSent) return void response.destroy();
      response.writeHead(status, {'content-type': text.startsWith('{') ? json : 'text/plain; charset=utf-8', connection: 'close'});
      response.end(text);
    }
  }

  async #serveHealth(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const call = callOf(request, response);
      if (call.parts[0] !== 'healthz') throw notFound();
      this.#healthz(call);
    } catch (error) {
      const {status, text} = answerTo(error, this.#options.log);
      response.writeHead(status, {'content-type': 'text/plain; charset=utf-8', connection: 'close'}).end(text);
    }
  }

  async #authorize({request, parts}: Call): Promise<Caller> {
    const stream = this.#streams.get(request.socket);
    if (stream === 'spent') throw new Refusal(503, 'a stream of the tunnel takes one request');
    if (stream) {
      this.#streams.set(request.socket, 'spent');
      return apiServer;
    }
    // Of the parts that choose the route, not of the path as it was spelled.
    const verdict = await this.#options.access.check(request, `/${parts.join('/')}`);
    if (verdict.status !== 200) throw new Refusal(verdict.status, verdict.text);
    return verdict.user;
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      const call = callOf(request, undefined as unknown as ServerResponse);
      const {parts, query} = call;
      await this.#authorize(call);
      if (!this.#options.settings.bool('enable-debugging-handlers')) throw new Refusal(405, disabled);
      await this.#stream(parts, query, request, socket, head);
    } catch (error) {
      const {status, text} = answerTo(error, this.#options.log);
      socket.end(
        `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
      );
    }
  }

  async #stream(parts: string[], query: URLSearchParams, request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const {runtime} = this.#options;
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    const [verb, namespace, name] = parts;
    if (verb === 'portForward') {
      const sandboxId = this.#worker(namespace, name, parts[3]).sandboxId;
      if (!sandboxId) throw new Refusal(404, `pod "${name}" is not running`);
      const ports = query
        .getAll('port')
        .concat(query.getAll('ports'))
        .flatMap((text) => text.split(','))
        .map(Number);
      const url = await runtime.portForwardUrl(sandboxId, ports);
      return offered.includes(tunnelled) ? bridgeTunnel(request, socket, head, url) : handOn(request, socket, head, url);
    }
    if (verb !== 'exec' && verb !== 'attach') throw notFound();
    const {containerId} = this.#container(parts);
    const flag = (long: string, short: string) => /^(1|true)$/.test(query.get(short) ?? query.get(long) ?? '');
    const tty = flag('tty', 'tty');
    // One terminal has one output.
    const streams = {stdin: flag('stdin', 'input'), stdout: flag('stdout', 'output'), stderr: flag('stderr', 'error') && !tty, tty};
    if (!streams.stdin && !streams.stdout && !streams.stderr)
      throw new Refusal(400, 'you must specify at least 1 of stdin, stdout, stderr');
    const url =
      verb === 'exec'
        ? await runtime.execUrl({containerId, cmd: query.getAll('command'), ...streams})
        : await runtime.attachUrl({containerId, ...streams});
    return offered.includes(channelsV5) ? bridgeChannels(request, socket, head, url, streams) : handOn(request, socket, head, url);
  }

  #worker(namespace = '', name = '', uid?: string): PodWorker {
    const worker = this.#options.manager.find(namespace, name, uid);
    if (!worker) throw new Refusal(404, `pod "${name}" does not exist`);
    return worker;
  }

  /** `/exec/{namespace}/{pod}[/{uid}]/{container}` */
  #container(parts: readonly string[]): {containerId: string} {
    const [, namespace, name, third, fourth] = parts;
    const worker = this.#worker(namespace, name, fourth === undefined ? undefined : third);
    const container = fourth ?? third ?? '';
    const instance = worker.view.instances.get(container)?.[0];
    if (!isRunning(instance)) throw new Refusal(404, `unable to upgrade connection: container not found ("${container}")`);
    return {containerId: instance.id};
  }

  #healthz({path, query, response}: Call): void {
    const {manager, state} = this.#options;
    const checks: [name: string, ok: boolean][] = [
      ['ping', true],
      ['log', true],
      ['syncloop', manager.listedAt === 0 || Date.now() - manager.listedAt < 5 * 60_000 || !state.isReady],
    ];
    const asked = path.split('/')[2];
    const some = checks.filter(([name]) => (!asked || asked === name) && !query.getAll('exclude').includes(name));
    if (asked && some.length === 0) return void response.writeHead(404).end('404 page not found\n');
    const well = some.every(([, ok]) => ok);
    const list = some.map(([name, ok]) => `[${ok ? '+' : '-'}]${name} ${ok ? 'ok' : 'failed: reason withheld'}\n`).join('');
    const text = well ? (query.has('verbose') ? `${list}healthz check passed\n` : 'ok') : `${list}healthz check failed\n`;
    response.writeHead(well ? 200 : 500, {'content-type': 'text/plain; charset=utf-8'}).end(text);
  }
}

function callOf(request: IncomingMessage, response: ServerResponse): Call {
  const url = request.url ?? '/';
  const [path = '/', search = ''] = url.split(/\?(.*)/s);
  try {
    return {path, parts: path.split('/').filter(Boolean).map(decodeURIComponent), query: new URLSearchParams(search), request, response};
  } catch {
    throw new Refusal(400, 'bad request path');
  }
}

function answerTo(error: unknown, log: Log): {status: number; text: string} {
  if (error instanceof Refusal) return {status: error.status, text: error.message};
  log.error('a request failed', error);
  return {status: 500, text: (error as Error).message};
}

const clientGoesWithinMs = 1000;

/** What is no request, or too long for one, is answered before the connection ends: the system would take the answer back with it. */
function refuseClient(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
  socket.on('error', () => socket.destroy());
  socket.resume();
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  setTimeout(() => socket.destroy(), clientGoesWithinMs).unref();
}

const notFound = (): Refusal => new Refusal(404, '404 page not found\n');

function upgradeNeeded(): never {
  throw new Refusal(400, 'unable to upgrade: missing upgrade headers in request');
}

const podList = (items: readonly object[]): string => `${JSON.stringify({kind: 'PodList', apiVersion: 'v1', metadata: {}, items})}\n`;

const runningPod = ({pod, view}: PodWorker): object => ({
  metadata: {name: pod.metadata.name, namespace: pod.metadata.namespace, uid: pod.metadata.uid},
  spec: {containers: view.running().map(({name, status}) => ({name, image: status.image.image, resources: {}}))},
  status: {},
});

const tlsVersion = (name: string): 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3' =>
  (({VersionTLS10: 'TLSv1', VersionTLS11: 'TLSv1.1', VersionTLS13: 'TLSv1.3'}) as const)[name] ?? 'TLSv1.2';
