/**
 * Every namespace has a service account for pods that name none, and the certificate by which its pods know the API server. Both are
 * written when a namespace appears and again when somebody deletes or changes them.
 */
import type {Log} from '../../api.ts';
import type {ObjectCaches} from '../../changes/object-cache.ts';
import type {Client, ResourcePath} from '../../client/client.ts';
import type {Clock} from '../../clock.ts';
import {isReason} from '../../errors.ts';
import type {KubeObject} from '../../object.ts';
import {Queue} from '../queue.ts';

const serviceAccountName = 'default';
const rootCaName = 'kube-root-ca.crt';
const rootCaKey = 'ca.crt';
const rootCaDescription = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
};

export interface Observed {
  namespace: KubeObject | undefined;
  serviceAccount: KubeObject | undefined;
  rootCa: KubeObject | undefined;
}

export type Action = {action: 'create' | 'update'; resource: 'serviceaccounts' | 'configmaps'; object: KubeObject};

export function decide({namespace, serviceAccount, rootCa}: Observed, caCertificate: string | undefined): Action[] {
  if (!namespace || namespace.metadata.deletionTimestamp) return [];
  const actions: Action[] = [];
  const inNamespace = (name: string) => ({name, namespace: namespace.metadata.name!});
  if (!serviceAccount)
    actions.push({
      action: 'create',
      resource: 'serviceaccounts',
      object: {kind: 'ServiceAccount', apiVersion: 'v1', metadata: inNamespace(serviceAccountName)},
    });
  if (caCertificate === undefined) return actions;
  const data = {[rootCaKey]: caCertificate};
  if (!rootCa)
    actions.push({
      action: 'create',
      resource: 'configmaps',
      object: {kind: 'ConfigMap', apiVersion: 'v1', metadata: {...inNamespace(rootCaName), annotations: rootCaDescription}, data},
    });
  else if (rootCa['data']?.[rootCaKey] !== caCertificate || Object.keys(rootCa['data']).length !== 1)
    actions.push({
      action: 'update',
      resource: 'configmaps',
      object: {
        ...rootCa,
        metadata: {...rootCa.metadata, annotations: {...rootCa.metadata.annotations, ...rootCaDescription}},
        data,
      },
    });
  return actions;
}

export interface NamespaceContentOptions {
  client: Client;
  caches: ObjectCaches;
  clock: Clock;
  log: Log;
  caCertificate?: string;
}

export class NamespaceContent {
  readonly #options: NamespaceContentOptions;
  readonly #queue: Queue;

  constructor(options: NamespaceContentOptions) {
    this.#options = options;
    this.#queue = new Queue(options.clock, options.log, 'namespace content', async (name) => {
      await this.#settle(name);
      return undefined;
    });
  }

  /** Resolves when the namespaces that there are have what they need. */
  async start(): Promise<void> {
    const [namespaces, serviceAccounts, configMaps] = await this.#caches();
    await Promise.all([...namespaces.values()].map((namespace) => this.#settle(namespace.metadata.name!)));
    namespaces.onChange((name, object) => {
      if (object) this.#queue.add(name);
    });
    const follow = (wanted: string) => (key: string) => {
      const slash = key.indexOf('/');
      if (key.slice(slash + 1) === wanted) this.#queue.add(key.slice(0, slash));
    };
    serviceAccounts.onChange(follow(serviceAccountName));
    configMaps.onChange(follow(rootCaName));
  }

  /** See Queue. */
  settled(signal: AbortSignal): Promise<boolean> {
    return this.#queue.settled(signal);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  #caches() {
    const {caches} = this.#options;
    return Promise.all([caches.of('namespaces'), caches.of('serviceaccounts'), caches.named('configmaps', rootCaName)]);
  }

  async #settle(name: string): Promise<void> {
    const {client, caCertificate} = this.#options;
    const [namespaces, serviceAccounts, configMaps] = await this.#caches();
    const observed = {
      namespace: namespaces.get(name),
      serviceAccount: serviceAccounts.get(`${name}/${serviceAccountName}`),
      rootCa: configMaps.get(`${name}/${rootCaName}`),
    };
    await Promise.all(
      decide(observed, caCertificate).map(async ({action, resource, object}) => {
        const path: ResourcePath = {groupVersion: 'v1', resource, namespace: name};
        try {
          await (action === 'create' ? client.create(path, object) : client.update(path, object));
        } catch (error) {
          if (!isSettledOtherwise(error)) throw error;
        }
      }),
    );
  }
}

/** Somebody wrote it first, or the namespace goes: a change that follows brings us back where needed. */
const isSettledOtherwise = (error: unknown): boolean =>
  isReason(error, 'AlreadyExists') || isReason(error, 'NotFound') || isReason(error, 'Conflict') || isReason(error, 'Forbidden');
