/** Whether one of the reference's own components is at work, by the Lease that it holds to lead. One that holds none is not seen. */
import type {ObjectCaches} from '../../changes/object-cache.ts';
import type {Clock} from '../../clock.ts';
import type {KubeObject} from '../../object.ts';

const leaseType = 'leases.coordination.k8s.io';

export interface LeaderOptions {
  /** Of its Lease in kube-system. */
  name: 'kube-scheduler' | 'kube-controller-manager';
  caches: ObjectCaches;
  clock: Clock;
  changed(isThere: boolean): void;
}

export class Leader {
  readonly #options: LeaderOptions;
  #expiresAt = 0;
  #wasThere = false;
  #cancel = (): void => {};

  constructor(options: LeaderOptions) {
    this.#options = options;
  }

  get isThere(): boolean {
    return this.#options.clock.now() < this.#expiresAt;
  }

  async start(): Promise<void> {
    const {caches, name} = this.#options;
    const leases = await caches.named(leaseType, name);
    let isFirst = true;
    leases.onChange((key, lease) => {
      if (key === `kube-system/${name}`) this.#look(lease, isFirst);
    });
    isFirst = false;
  }

  stop(): void {
    this.#cancel();
  }

  /** A renewal counts from when we hear of it, whatever its clock says; one from before our time by its own word. */
  #look(lease: KubeObject | undefined, isOld: boolean): void {
    const {holderIdentity = '', leaseDurationSeconds = 0, renewTime = ''} = lease?.['spec'] ?? {};
    const renewedAt = isOld ? Date.parse(renewTime) || 0 : this.#options.clock.now();
    this.#expiresAt = holderIdentity ? renewedAt + leaseDurationSeconds * 1_000 : 0;
    this.#settle();
  }

  #settle(): void {
    const {clock, changed} = this.#options;
    this.#cancel();
    const {isThere} = this;
    if (isThere) this.#cancel = clock.after(this.#expiresAt - clock.now(), () => this.#settle());
    if (isThere === this.#wasThere) return;
    this.#wasThere = isThere;
    changed(isThere);
  }
}
