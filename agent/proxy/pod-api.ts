/**
 * How pods of this node reach the API: what KUBERNETES_SERVICE_HOST and _PORT say, and what stands in their ca.crt. Where the cluster's own
 * service answers that is what they get, as everywhere; else the API server itself where its address alone is enough; else the proxy.
 */
import {createHash} from 'node:crypto';
import {mkdir, readFile, rename, writeFile} from 'node:fs/promises';
import {networkInterfaces} from 'node:os';
import {join} from 'node:path';
import type {Clock} from '../../shared/clock.ts';
import type {KubeObject} from '../../shared/object.ts';
import type {ServerAccess} from '../api/clusterconfig.ts';
import {defaultAddresses} from '../node/machine.ts';
import type {Log} from '../pods/context.ts';
import {proxyCertificates} from './certificates.ts';
import type {PodProxy} from './proxy.ts';
import {type Address, answers, directAddress, isLoopback, type Way} from './way.ts';

export interface PodApiOptions {
  access: ServerAccess;
  /** --pod-api */
  mode: 'auto' | Way;
  /** --pod-api-port; the one that was taken before comes first: pods that run have it in their environment. */
  port: number;
  /** Below --root-dir. */
  folder: string;
  hostIps: readonly string[];
  /** Others of this machine, for nodes whose own is loopback: in a pod that is the pod. */
  moreAddresses?(): Promise<readonly string[]>;
  /** Addresses of pods that run here. */
  podIps(): Iterable<string>;
  clock: Clock;
  log: Log;
}

/** What the API publishes in each namespace for its pods to verify it with. */
const rootCaName = 'kube-root-ca.crt';
const rootCaKey = 'ca.crt';
const serviceNames = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'];
const lookAgainMs = 30_000;
const renewLookMs = 12 * 3_600_000;
const tryAgainMs = 5_000;

export class PodApi {
  readonly #options: PodApiOptions;
  readonly #direct: Address | undefined;
  #proxy: PodProxy | undefined;
  #proxyAddress: Address | undefined;
  #ca: string | undefined;
  #served: {key: string; at: number; found: Promise<boolean>} | undefined;
  #cancel = (): void => {};
  #stopped = false;

  /** The proxy listens, where pods may need it. A node is ready without; pods wait. */
  readonly ready: Promise<void>;

  constructor(options: PodApiOptions) {
    this.#options = options;
    this.#direct = directAddress(options.access);
    this.ready = this.#mayProxy
      ? this.#startProxy().catch((error: Error) => options.log.error("the pods' proxy to the API does not start", error))
      : Promise.resolve();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel();
    this.#proxy?.close();
  }

  /** The proxy's address, where there is one. */
  get proxyAddress(): Address | undefined {
    return this.#proxyAddress;
  }

  /** The service `kubernetes` as a pod that starts now gets to see it. */
  async service(published: KubeObject | undefined): Promise<KubeObject | undefined> {
    await this.ready;
    const address = await this.#address(published);
    if (!address) return published;
    return {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: {name: 'kubernetes'},
      spec: {clusterIP: address.host, ports: [{name: 'https', protocol: 'TCP', port: address.port}]},
    };
  }

  /** A ConfigMap as pods see it: the cluster's certificates, and the proxy's own CA beside them. */
  async configMap(name: string, object: KubeObject | undefined): Promise<KubeObject | undefined> {
    if (name !== rootCaName || !object) return object;
    await this.ready;
    if (this.#ca === undefined) return object;
    const published: string = object.data?.[rootCaKey] ?? '';
    const lines = published === '' || published.endsWith('\n') ? published : `${published}\n`;
    return {...object, data: {...object.data, [rootCaKey]: `${lines}${this.#ca}`}};
  }

  get #mayProxy(): boolean {
    const {mode} = this.#options;
    return mode === 'proxy' || (mode === 'auto' && !this.#direct);
  }

  /** Undefined: as the service says. */
  async #address(published: KubeObject | undefined): Promise<Address | undefined> {
    const {mode} = this.#options;
    if (mode === 'service') return undefined;
    if (mode === 'direct') return this.#direct ?? serverAddress(this.#options.access);
    if (mode === 'auto' && (await this.#serviceAnswers(published))) return undefined;
    return (mode === 'auto' ? this.#direct : undefined) ?? this.#proxyAddress;
  }

  /** What the last look said; a look that is due is waited for only when it is the first. */
  #serviceAnswers(published: KubeObject | undefined): Promise<boolean> {
    const {access, clock} = this.#options;
    const host: string | undefined = published?.spec?.clusterIP;
    const port: number | undefined = published?.spec?.ports?.[0]?.port;
    if (!host || host === 'None' || port === undefined || access.ca === undefined || access.insecure) return Promise.resolve(false);
    const key = `${host} ${port}`;
    const before = this.#served;
    const isDue = before?.key !== key || clock.now() - before.at > lookAgainMs;
    if (!isDue) return before.found;
    const found = answers({host, port}, access.ca);
    if (before?.key !== key) {
      this.#served = {key, at: clock.now(), found};
      return found;
    }
    before.at = clock.now();
    void found.then((now) => {
      before.found = Promise.resolve(now);
    });
    return before.found;
  }

  async #startProxy(): Promise<void> {
    const {access, clock, folder, hostIps, log, podIps, port} = this.#options;
    const reachable = hostIps.find((ip) => !isLoopback(ip)) ?? (await (this.#options.moreAddresses ?? defaultAddresses)())[0];
    const host = reachable ?? hostIps[0] ?? '127.0.0.1';
    const names = [...new Set([host, ...hostIps, '127.0.0.1', '::1', ...serviceNames])];
    const [certificates, {PodProxy}, before] = await Promise.all([
      proxyCertificates(folder, names, clock.now()),
      import('./proxy.ts'),
      keptPort(folder),
    ]);
    this.#ca = certificates.ca;
    const serves = (address: string): boolean => {
      for (const ip of podIps()) if (ip === address) return true;
      return isOwn(address);
    };
    if (this.#stopped) return;
    const proxy = new PodProxy({access, certificate: certificates, serves, clock});
    this.#proxy = proxy;
    const listen = async (at: number): Promise<void> => {
      const taken = await proxy.listen(host, at);
      this.#proxyAddress = {host, port: taken};
      await mkdir(folder, {recursive: true, mode: 0o700});
      await writeFile(join(folder, 'port.new'), `${taken}\n`);
      await rename(join(folder, 'port.new'), join(folder, 'port'));
    };
    const first = before ?? (port || portOf(folder));
    // Who has a choice yet takes the next that is free.
    const choices = before === undefined && port === 0 ? [first, ...Array.from({length: 8}, (_, at) => first + at + 1), 0] : [first];
    let problem: unknown;
    for (const choice of choices) {
      problem = await listen(choice).then(
        () => undefined,
        (error: unknown) => error ?? new Error('it cannot be listened on'),
      );
      if (!problem) return this.#watchCertificate(names);
    }
    log.warn(`pods cannot reach the API yet: ${host}:${first}: ${(problem as Error).message}`);
    // Pods that run know this port and no other.
    this.#proxyAddress = {host, port: first};
    this.#tryAgain(async () => {
      await listen(first);
      this.#watchCertificate(names);
    });
  }

  #tryAgain(listen: () => Promise<void>): void {
    this.#cancel = this.#options.clock.after(tryAgainMs, () => {
      if (!this.#stopped) listen().catch(() => this.#tryAgain(listen));
    });
  }

  #watchCertificate(names: readonly string[]): void {
    const {clock, folder, log} = this.#options;
    this.#cancel = clock.after(renewLookMs, () => {
      proxyCertificates(folder, names, clock.now())
        .then((certificates) => this.#proxy?.renew(certificates))
        .catch((error: Error) => log.warn(`the certificate of the pods' proxy cannot be renewed: ${error.message}`));
      if (!this.#stopped) this.#watchCertificate(names);
    });
  }
}

const lowestPort = 10_270;
const portsBySpread = 1_000;

/** Below those that the kernel hands out, and another one for each agent of a machine, so that none finds its own taken when it comes back. */
const portOf = (folder: string): number => lowestPort + (createHash('sha256').update(folder).digest().readUInt32BE(0) % portsBySpread);

async function keptPort(folder: string): Promise<number | undefined> {
  const port = Number(await readFile(join(folder, 'port'), 'utf8').catch(() => ''));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

const serverAddress = ({url}: ServerAccess): Address => ({
  host: url.hostname.replace(/^\[|\]$/g, ''),
  port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
});

/** Of this machine: pods on the host's network, and the host itself. */
const isOwn = (address: string): boolean =>
  Object.values(networkInterfaces()).some((list) => list?.some((entry) => entry.address === address));
