/** eviction: a delete that a PodDisruptionBudget may refuse. */
import {badRequest, failure, tooManyRequests} from '../../errors.ts';
import type {DeleteOptions} from '../../http/delete-options.ts';
import {negotiate, plainOffer} from '../../http/negotiate.ts';
import {writeOptions} from '../../http/write-options.ts';
import type {KubeObject} from '../../object.ts';
import {selectorFromObject} from '../../selector/labels.ts';
import {decodeBody} from '../body.ts';
import {type Handler, keyOf, type RequestContext} from '../context.ts';
import {deleteObject} from '../delete.ts';
import {decodeImage} from '../encode.ts';
import {readStored} from '../get.ts';
import {encodeBody, headersFor} from '../respond.ts';
import {updateObject} from '../update.ts';

const evictionKind = {group: 'policy', version: 'v1', kind: 'Eviction'};

export const evict: Handler = async (context) => {
  const {request, info} = context;
  const representation = negotiate(request.headers, request.query, plainOffer);
  const options = writeOptions('CreateOptions', request.query);
  const eviction = decodeBody(context, evictionKind, options.fieldValidation);
  if (eviction.metadata.name && eviction.metadata.name !== info.name)
    throw badRequest(`name in URL does not match name in Eviction object`);
  const asked = eviction.deleteOptions ?? {};
  const deleteOptions: DeleteOptions = {
    dryRun: options.dryRun || (asked.dryRun?.length ?? 0) > 0,
    preconditions: asked.preconditions ?? {},
    ...(asked.gracePeriodSeconds !== undefined && {gracePeriodSeconds: asked.gracePeriodSeconds}),
    ...(asked.propagationPolicy !== undefined && {propagationPolicy: asked.propagationPolicy}),
  };
  const pod = decodeImage((await readStored(context, info.name)).image);
  if (!ignoresBudgets(pod)) await spendBudget(context, pod, deleteOptions.dryRun);
  await deleteObject(context, info.name, deleteOptions);
  return {status: 201, headers: headersFor(representation), body: encodeBody(representation, created)};
};

const created = {kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201};

/** Pods that are done, not yet running, or already going do not count as available. */
const ignoresBudgets = (pod: KubeObject): boolean =>
  ['Succeeded', 'Failed', 'Pending'].includes(pod.status?.phase) || pod.metadata.deletionTimestamp !== undefined;

/** @throws StatusError 429 when the budget allows no disruption now, 500 when several budgets cover the pod */
async function spendBudget(context: RequestContext, pod: KubeObject, dryRun: boolean): Promise<void> {
  const {machine} = context;
  const namespace = pod.metadata.namespace!;
  const budgets = [...(await machine.caches.of('poddisruptionbudgets.policy')).values()].filter(
    (budget) => budget.metadata.namespace === namespace && covers(budget, pod),
  );
  if (budgets.length === 0) return;
  if (budgets.length > 1)
    throw failure(
      500,
      'InternalError',
      'Internal error occurred: This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  const {name} = budgets[0]!.metadata;
  const resource = machine.catalogue.find('policy', 'v1', 'poddisruptionbudgets')!;
  const budgetContext: RequestContext = {...context, resource, info: {...context.info, namespace, name: name!, subresource: 'status'}};
  await machine.store.read(resource.storageType, keyOf(budgetContext, name!));
  await updateObject(
    budgetContext,
    {dryRun, fieldManager: '', fieldValidation: 'Ignore'},
    (old) => spent(old, pod, machine.clock.now()),
    true,
  );
}

const covers = (budget: KubeObject, pod: KubeObject): boolean =>
  budget.spec?.selector !== undefined && selectorFromObject(budget.spec.selector)(pod.metadata.labels ?? {});

function spent(old: KubeObject, pod: KubeObject, now: number): KubeObject {
  const budget = structuredClone(old);
  budget.status ??= {};
  const {status} = budget;
  if ((status.observedGeneration ?? 0) < (budget.metadata.generation ?? 0))
    throw tooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 10);
  if ((status.disruptionsAllowed ?? 0) <= 0) throw budgetSpent(budget);
  status.disruptionsAllowed--;
  status.disruptedPods = {...status.disruptedPods, [pod.metadata.name!]: `${new Date(now).toISOString().slice(0, 19)}Z`};
  return budget;
}

const budgetSpent = (budget: KubeObject) =>
  failure(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    details: {
      causes: [
        {
          reason: 'DisruptionBudget',
          message: `The disruption budget ${budget.metadata.name} needs ${budget.status?.desiredHealthy ?? 0} healthy pods and has ${budget.status?.currentHealthy ?? 0} currently`,
        },
      ],
    },
  });
