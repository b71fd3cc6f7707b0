/**
 * A rehearsal: the CDK app deployed for real into an emulator, its functions under the real Lambda runtime behind a REST and a WebSocket
 * API of our own, which do as AWS documents where the emulator does not. Everything listens on loopback and ends with it.
 */
import {existsSync, mkdirSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {createServer, type Server} from 'node:https';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {loadOrCreatePki} from '../certificates.ts';
import {writePrivately} from '../kubeconfig.ts';
import type {RestApi, WebSocketApi} from './api/deployed.ts';
import {restGateway} from './api/rest-gateway.ts';
import {WebSocketGateway} from './api/websocket-gateway.ts';
import {bootstrap, deploy, type Outputs, synthesize} from './deploy.ts';
import {ControlPlane, type DeployedFunction, region} from './emulator/control-plane.ts';
import {startInvokeServer} from './emulator/invoke-server.ts';
import {startMinistack} from './emulator/ministack.ts';
import {accessKeyOf, type RecordedCall, Recorder} from './emulator/recorder.ts';
import {tokenKubeconfig} from './kubeconfig.ts';
import type {Environment} from './lambda/environment.ts';
import {Functions} from './lambda/functions.ts';
import {Reaper} from './reaper.ts';
import type {Toolchain} from './toolchain.ts';

export interface RehearsalOptions {
  tools: Toolchain;
  /** Must be there; what is written stays in it. */
  folder: string;
  /** CDK context: cluster name, retention ... */
  context?: Record<string, string>;
  /** Lines of token,user,uid,"groups": the template's StaticTokens. */
  tokenFile: string;
  /** One of them: the kubeconfig's. */
  token: string;
  /** Another app than cdk.json's, or an assembly. */
  app?: string;
  /** The port of the REST API; a free one when 0. */
  port?: number;
  log(line: string): void;
}

export interface Rehearsal {
  /** As behind a custom domain: without the stage. */
  url: string;
  webSocketUrl: string;
  kubeconfig: string;
  outputs: Outputs;
  /** Where any AWS client finds the emulator; what functions ask of it is recorded. */
  endpoint: string;
  /** What was deployed last, synthesized: the `app` of a redeployment that takes back what came after it. */
  assembly: string;
  calls(): RecordedCall[];
  environments(): Promise<readonly Environment[]>;
  coldStarts(): Promise<Record<string, number>>;
  /** Another deployment over the same data: what is served changes, what is stored stays. */
  redeploy(change: {context?: Record<string, string>; app?: string}): Promise<Outputs>;
  /** After a deployment that somebody else made into the emulator. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

const callsFile = 'calls.json';

export async function startRehearsal(options: RehearsalOptions): Promise<Rehearsal> {
  const undo: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await start(options, undo, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(options: RehearsalOptions, undo: (() => unknown)[], close: () => Promise<void>): Promise<Rehearsal> {
  const {tools, folder, log} = options;
  const logs = join(folder, 'logs');
  for (const name of [logs, join(folder, 'emulator'), join(folder, 'functions')]) mkdirSync(name, {recursive: true});
  const reaper = new Reaper();
  undo.push(() => reaper.close());

  let functions: Functions | undefined;
  const invocations = await startInvokeServer(() => functions!);
  undo.push(() => invocations.close());
  const emulator = await startMinistack(tools, join(folder, 'emulator'), invocations.url);
  reaper.started(emulator.pid);
  undo.push(() => emulator.stop());
  const recorder = new Recorder(emulator.url);
  undo.push(() => recorder.close());
  const endpoint = await recorder.listen();
  const controlPlane = new ControlPlane(emulator.url);

  let restApi: RestApi | undefined;
  let webSocketApi: WebSocketApi | undefined;
  const pki = await loadOrCreatePki({names: ['localhost', '127.0.0.1']});
  const tls = {cert: pki.serving.certificate, key: pki.serving.key};
  const invoke: Functions['invoke'] = (name, event, sink) => functions!.invoke(name, event, sink);
  const rest = restGateway(() => restApi!, invoke, log);
  const webSockets = new WebSocketGateway(() => webSocketApi, invoke, log);
  recorder.intercept = (request, body, response) => webSockets.connections.manage(request, body, response);
  undo.push(() => webSockets.close());
  const restServer = createServer(tls, (request, response) => rest.serve(request, response));
  const webSocketServer = createServer(tls, (_request, response) => response.writeHead(403).end());
  webSocketServer.on('upgrade', (request, socket, head) => webSockets.upgrade(request, socket, head));
  const url = `https://127.0.0.1:${await listen(restServer, options.port ?? 0)}`;
  const webSocketHost = `127.0.0.1:${await listen(webSocketServer, 0)}`;
  undo.push(
    () => stopServing(restServer),
    () => stopServing(webSocketServer),
  );

  functions = new Functions({
    load: (name) => controlPlane.function(name),
    folder: join(folder, 'functions'),
    python: tools.python,
    host: {
      node: tools.node24,
      runtimeClient: tools.runtimeClient,
      variables: {AWS_REGION: region, AWS_DEFAULT_REGION: region, AWS_ENDPOINT_URL: endpoint},
      logFile: (name) => join(logs, `${name}.log`),
      started: (pid) => reaper.started(pid),
      ended: (pid) => reaper.ended(pid),
    },
    variables(deployed) {
      const accessKey = accessKeyOf(deployed.name);
      recorder.know(accessKey, deployed.logicalId);
      return {AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: 'rehearsal', AWS_SESSION_TOKEN: 'rehearsal', ...resolved(deployed)};
    },
  });
  undo.push(() => functions!.close());

  /** Host names of AWS in a function's variables, resolved as DNS would: to where they are served here. */
  const resolved = ({variables}: DeployedFunction): Record<string, string> => {
    const served = Object.entries(variables).map(([name, value]) => [
      name,
      value
        .replace(/wss:\/\/\w+\.execute-api\.[\w-]+\.amazonaws\.com/g, `wss://${webSocketHost}`)
        .replace(/https:\/\/(\w+)\.execute-api\.[\w-]+\.amazonaws\.com/g, (_, id: string) =>
          id === restApi?.id ? url : `${endpoint}/_aws/execute-api/${id}`,
        ),
    ]);
    return Object.fromEntries(served.filter(([name, value]) => variables[name!] !== value));
  };

  const parameters = {StaticTokens: options.tokenFile};
  const deployment = {tools, emulatorUrl: emulator.url, folder, log, parameters, ...(options.app && {app: options.app})};
  const readDeployed = async (): Promise<void> => {
    restApi = await controlPlane.restApi();
    webSocketApi = await controlPlane.webSocketApi();
    if (!restApi) throw new Error('the app deployed no REST API');
    await Promise.all((await controlPlane.functionNames()).map((name) => functions!.refresh(name)));
  };
  let deployments = 0;
  let assembly = '';
  type Change = {context?: Record<string, string>; app?: string};
  const changed = ({context, app}: Change) => ({...deployment, context: {...options.context, ...context}, ...(app && {app})});
  const synthesizeOnce = async (change: Change): Promise<void> => {
    const {app} = changed(change);
    const isAssembly = app !== undefined && existsSync(join(app, 'manifest.json'));
    assembly = isAssembly ? app : join(folder, `cdk.out-${deployments++}`);
    if (!isAssembly) await synthesize(changed(change), assembly);
  };
  await synthesizeOnce({});
  // Of what was synthesized: by itself it would do that as well, for nothing.
  await bootstrap(changed({app: assembly}));
  let outputs = await deploy(changed({}), assembly);
  await readDeployed();

  const kubeconfig = join(folder, 'kubeconfig');
  await writePrivately(kubeconfig, tokenKubeconfig(`${url}/${restApi!.stage}`, pki.ca.certificate, options.token));
  undo.push(() => writeFile(join(folder, callsFile), `${JSON.stringify(recorder.calls, undefined, 1)}\n`));
  return {
    url,
    webSocketUrl: `wss://${webSocketHost}/${webSocketApi?.stage ?? ''}`,
    kubeconfig,
    get outputs() {
      return outputs;
    },
    endpoint,
    get assembly() {
      return assembly;
    },
    calls: () => recorder.calls,
    environments: () => functions!.environments(),
    coldStarts: () => functions!.coldStarts(),
    async redeploy(change) {
      await synthesizeOnce(change);
      outputs = await deploy(changed(change), assembly);
      await readDeployed();
      return outputs;
    },
    reload: readDeployed,
    close,
  };
}

async function listen(server: Server, port: number): Promise<number> {
  // Streams last as long as they last; the gateway has limits of its own.
  server.requestTimeout = 0;
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((done, fail) => server.once('error', fail).listen(port, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

function stopServing(server: Server): void {
  server.close();
  server.closeAllConnections();
}
