/** The services of the cluster, for the environment of pods. */
import type {KubeObject} from '../../shared/object.ts';
import {serviceVariables} from '../pods/environment.ts';
import type {ApiClient} from './client.ts';
import {Reflector} from './reflector.ts';

const masterService = 'kubernetes';
/** A pod is better started without than not at all. */
const patienceMs = 10_000;

export class Services {
  readonly #byNamespace = new Map<string, Map<string, KubeObject>>();
  readonly #reflector: Reflector;
  readonly #masterNamespace: string;
  readonly #first: Promise<void>;
  readonly #reach: (service: KubeObject | undefined) => Promise<KubeObject | undefined>;

  /** `reach`: the master service as pods of this node reach it. */
  constructor(
    client: ApiClient,
    masterNamespace: string,
    onError: (error: Error) => void,
    reach: (service: KubeObject | undefined) => Promise<KubeObject | undefined>,
  ) {
    this.#masterNamespace = masterNamespace;
    this.#reach = reach;
    let heard = () => {};
    this.#first = new Promise((resolve) => {
      heard = resolve;
    });
    this.#reflector = new Reflector({
      client,
      path: '/api/v1/services',
      onError,
      listener: {
        replace: (services) => {
          this.#byNamespace.clear();
          for (const service of services) this.#set(service);
          heard();
        },
        changed: (service) => this.#set(service),
        removed: ({metadata}) => this.#byNamespace.get(metadata.namespace!)?.delete(metadata.name!),
      },
    }).start();
  }

  stop(): void {
    this.#reflector.stop();
  }

  async variables(namespace: string, links: boolean): Promise<Map<string, string>> {
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([this.#first, new Promise((resolve) => (timer = setTimeout(resolve, patienceMs)))]);
    clearTimeout(timer);
    const published = this.#byNamespace.get(this.#masterNamespace)?.get(masterService);
    const master = await this.#reach(published);
    const seen = links ? [...(this.#byNamespace.get(namespace)?.values() ?? [])].filter((service) => service !== published) : [];
    return serviceVariables([...(master ? [master] : []), ...seen]);
  }

  #set(service: KubeObject): void {
    const {namespace, name} = service.metadata;
    let services = this.#byNamespace.get(namespace!);
    if (!services) {
      services = new Map();
      this.#byNamespace.set(namespace!, services);
    }
    // Of each only what variables are made of.
    const {clusterIP, ports} = service.spec ?? {};
    services.set(name!, {kind: 'Service', apiVersion: 'v1', metadata: {name: name!}, spec: {clusterIP, ports}});
  }
}
