/** The services of the cluster, for the environment of pods. */
import type {Informer} from '../../shared/client/informer.ts';
import type {Clock} from '../../shared/clock.ts';
import type {KubeObject} from '../../shared/object.ts';
import {serviceVariables} from '../pods/environment.ts';
import type {ApiClient} from './client.ts';

const masterService = 'kubernetes';
/** A pod is better started without than not at all. */
const patienceMs = 10_000;

export interface ServicesOptions {
  client: ApiClient;
  masterNamespace: string;
  clock: Clock;
  onError(error: Error): void;
  /** The master service as pods of this node reach it. */
  reach(published: KubeObject | undefined): Promise<KubeObject | undefined>;
}

export class Services {
  readonly #informer: Informer;
  readonly #options: ServicesOptions;

  constructor(options: ServicesOptions) {
    this.#options = options;
    const {client, onError} = options;
    this.#informer = client.informer(
      {path: {groupVersion: 'v1', resource: 'services'}},
      {keep: essence, handlers: {failed: (error) => onError(error as Error)}},
    );
  }

  stop(): void {
    this.#informer.close();
  }

  async variables(namespace: string, links: boolean): Promise<Map<string, string>> {
    const {clock, masterNamespace, reach} = this.#options;
    let cancel = (): void => {};
    await Promise.race([
      this.#informer.synced,
      new Promise<void>((resolve) => {
        cancel = clock.after(patienceMs, resolve);
      }),
    ]);
    cancel();
    const published = this.#informer.get(`${masterNamespace}/${masterService}`);
    const master = await reach(published);
    const isSeen = (service: KubeObject) => links && service.metadata.namespace === namespace && service !== published;
    const seen = this.#informer.list().filter(isSeen);
    return serviceVariables([...(master ? [master] : []), ...seen]);
  }
}

/** Of each only what variables are made of. */
function essence({kind, apiVersion, metadata, spec}: KubeObject): KubeObject {
  const {name = '', namespace = '', uid = '', resourceVersion = ''} = metadata;
  return {kind, apiVersion, metadata: {name, namespace, uid, resourceVersion}, spec: {clusterIP: spec?.clusterIP, ports: spec?.ports}};
}
