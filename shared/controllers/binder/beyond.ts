/**
 * What the binder cannot judge: a pod that asks for it waits, and is told so, for to bind it anyway would break a promise that the API made.
 * What pods would merely like (preferred pod affinity, soft spreading) is left out of account.
 */
import type {ObjectCache, ObjectCaches} from '../../changes/object-cache.ts';
import type {KubeObject} from '../../object.ts';
import type {Term} from '../../selector/node-selector.ts';

const leaveItTo = 'is beyond the built-in binder: run kube-scheduler, or bind the pod yourself';

export function beyondBinder({spec}: KubeObject): string | undefined {
  const {podAffinity, podAntiAffinity} = spec.affinity ?? {};
  if (podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length) return `required pod affinity ${leaveItTo}`;
  if (podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.length) return `required pod anti-affinity ${leaveItTo}`;
  const constraints: KubeObject[] = spec.topologySpreadConstraints ?? [];
  if (constraints.some((each) => each['whenUnsatisfiable'] === 'DoNotSchedule')) return `a hard topology spread constraint ${leaveItTo}`;
  if (spec.resourceClaims?.length) return `a resource claim ${leaveItTo}`;
  if (spec.schedulingGroup || spec.workloadRef) return `scheduling pods as a group ${leaveItTo}`;
  return undefined;
}

/** Claims of volumes: bound ones bind the pod to where their volume is, others it has to wait for. */
export class Claims {
  readonly #caches: ObjectCaches;
  readonly #changed: () => void;
  #opened: Promise<{claims: ObjectCache; volumes: ObjectCache}> | undefined;

  /** `changed` is called when a pod that waited for a claim may have got it. */
  constructor(caches: ObjectCaches, changed: () => void) {
    this.#caches = caches;
    this.#changed = changed;
  }

  /** Why the pod has to wait, or where its volumes are: all of the groups of terms must match. */
  async of({metadata, spec}: KubeObject): Promise<{wait: string} | {where: (readonly Term[])[]}> {
    const names = (spec.volumes ?? []).flatMap((volume: KubeObject) => claimName(volume, metadata.name!) ?? []);
    if (names.length === 0) return nowhereSpecial;
    this.#opened ??= this.#open();
    const {claims, volumes} = await this.#opened;
    const where: (readonly Term[])[] = [];
    for (const {name, isEphemeral} of names) {
      const claim = claims.get(`${metadata.namespace}/${name}`);
      const quoted = JSON.stringify(name);
      if (!claim)
        return {
          wait: isEphemeral
            ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
            : `persistentvolumeclaim ${quoted} not found`,
        };
      if (claim.metadata.deletionTimestamp) return {wait: `persistentvolumeclaim ${quoted} is being deleted`};
      if (isEphemeral && !claim.metadata.ownerReferences?.some(({uid, controller}) => controller && uid === metadata.uid))
        return {
          wait: `PVC ${metadata.namespace}/${name} was not created for pod ${metadata.namespace}/${metadata.name} (pod is not owner)`,
        };
      const volumeName = claim['spec'].volumeName;
      if (!volumeName || claim['status']?.phase === 'Pending')
        return {wait: `pod has unbound PersistentVolumeClaims (${quoted}), and to find volumes ${leaveItTo}`};
      const volume = volumes.get(volumeName);
      if (!volume || claim['status']?.phase === 'Lost')
        return {wait: `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(volumeName)}`};
      const terms = volume['spec'].nodeAffinity?.required?.nodeSelectorTerms;
      if (terms) where.push(terms);
    }
    return {where};
  }

  async #open(): Promise<{claims: ObjectCache; volumes: ObjectCache}> {
    const [claims, volumes] = await Promise.all([this.#caches.of('persistentvolumeclaims'), this.#caches.of('persistentvolumes')]);
    claims.onChange(this.#changed);
    volumes.onChange(this.#changed);
    return {claims, volumes};
  }
}

const nowhereSpecial = {where: []};

function claimName(volume: KubeObject, pod: string): {name: string; isEphemeral: boolean} | undefined {
  const name = volume['persistentVolumeClaim']?.claimName;
  if (name) return {name, isEphemeral: false};
  return volume['ephemeral'] ? {name: `${pod}-${volume['name']}`, isEphemeral: true} : undefined;
}
