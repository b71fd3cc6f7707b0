/** Whether a scheduler of the real kind is at work, by the Lease that it holds to lead. One that holds none is not seen. */
import type {ObjectCaches} from '../../changes/object-cache.ts';
import type {Clock} from '../../clock.ts';
import type {KubeObject} from '../../object.ts';

const leaseType = 'leases.coordination.k8s.io';
const leaseName = 'kube-scheduler';
const leaseKey = `kube-system/${leaseName}`;

export class RealScheduler {
  readonly #options: {caches: ObjectCaches; clock: Clock; changed: (isThere: boolean) => void};
  #expiresAt = 0;
  #isThere = false;
  #cancel = (): void => {};

  constructor(options: {caches: ObjectCaches; clock: Clock; changed: (isThere: boolean) => void}) {
    this.#options = options;
  }

  get isThere(): boolean {
    return this.#isThere;
  }

  async start(): Promise<void> {
    const leases = await this.#options.caches.named(leaseType, leaseName);
    let isFirst = true;
    leases.onChange((key, lease) => {
      if (key === leaseKey) this.#look(lease, isFirst);
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
    const leftMs = this.#expiresAt - clock.now();
    if (leftMs > 0) this.#cancel = clock.after(leftMs, () => this.#settle());
    const isThere = leftMs > 0;
    if (isThere === this.#isThere) return;
    this.#isThere = isThere;
    changed(isThere);
  }
}
