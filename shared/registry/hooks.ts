/**
 * What a write of some types does besides storing an object: it claims addresses for a Service, it must not hand out more rights than
 * the writer has, quotas leave a mark for those who look for them. `before` runs when the object is otherwise ready and may change it; what it claimed is given back when the write fails.
 */
import {checkEscalation} from '../auth/rbac/escalation.ts';
import type {WriteOptions} from '../http/write-options.ts';
import type {KubeObject} from '../object.ts';
import {isStoreError} from '../storage/contract.ts';
import type {RequestContext} from './context.ts';
import {quotaType} from './quotas.ts';

export interface Claim {
  release(): Promise<void>;
}

export interface Hook {
  before?(): Promise<Claim | undefined>;
  after?(): Promise<void>;
}

const none: Hook = {};

/** After the write: it has happened and is answered as such. What is left undone here the repair of claims does. */
export async function settle({machine}: RequestContext, hook: Hook): Promise<void> {
  try {
    await hook.after?.();
  } catch (error) {
    machine.log.warn({error: String(error)}, 'claims are left to be repaired');
  }
}

/** After a write that failed with `error`. When nobody can say whether it did, the claims stay: the repair frees what no service uses. */
export async function giveBack({machine}: RequestContext, claim: Claim | undefined, error?: unknown): Promise<void> {
  if (!claim || isStoreError(error, 'OutcomeUnknown')) return;
  try {
    await claim.release();
  } catch (failure) {
    machine.log.warn({error: String(failure)}, 'claims are left to be repaired');
  }
}

/** `old`: what is being replaced; absent for a create. */
export function writeHook(context: RequestContext, object: KubeObject, old: KubeObject | undefined, {dryRun}: WriteOptions): Hook {
  const {machine, resource, user} = context;
  if (resource.storageType === 'services') {
    if (context.info.subresource !== '') return none;
    let settle: (() => Promise<void>) | undefined;
    return {
      before: async () => {
        const claim = await machine.allocator.allocate(object, old, dryRun);
        settle = claim.commit;
        return claim;
      },
      after: async () => settle?.(),
    };
  }
  if (resource.storageType === quotaType && !dryRun) return {before: () => machine.quotas.mark(machine.store, object)};
  if (resource.group === 'rbac.authorization.k8s.io') {
    return {
      before: async () => {
        await checkEscalation({
          user,
          authorizer: machine.authorizer,
          rbac: machine.rbac,
          resource,
          object,
          ...(old && {old}),
          requestName: context.info.name,
        });
        return undefined;
      },
    };
  }
  return none;
}

export function deleteHook(context: RequestContext, old: KubeObject): Hook {
  const {machine, resource} = context;
  if (resource.storageType === quotaType) return {after: () => machine.quotas.unmark(machine.store, old)};
  if (resource.storageType !== 'services') return none;
  return {after: () => machine.allocator.release(old)};
}
