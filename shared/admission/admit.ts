/**
 * The built-in admission plugins that are on by default, in the reference's order. Each phase runs through all of them: first those that
 * change an object, later (after validation) those that only judge. Web hooks and policies will join this chain. Quota comes last: it
 * charges for what nobody else refuses.
 */
import type {AdmissionAttributes, Phase, Plugin} from './attributes.ts';
import {certificateApproval, certificateSigning, certificateSubjectRestriction} from './certificates.ts';
import {defaultIngressClass} from './default-ingress-class.ts';
import {defaultStorageClass} from './default-storage-class.ts';
import {defaultTolerationSeconds} from './default-toleration-seconds.ts';
import {limitRanger} from './limit-ranger.ts';
import type {Lookups} from './lookups.ts';
import {namespaceLifecycle} from './namespace-lifecycle.ts';
import {persistentVolumeClaimResize} from './persistent-volume-claim-resize.ts';
import {podSecurity} from './pod-security/plugin.ts';
import {podTopologyLabels} from './pod-topology-labels.ts';
import {priority} from './priority.ts';
import {resourceQuota} from './quota/plugin.ts';
import {runtimeClass} from './runtime-class.ts';
import {serviceAccount} from './service-account.ts';
import {storageObjectInUseProtection} from './storage-object-in-use-protection.ts';
import {taintNodesByCondition} from './taint-nodes-by-condition.ts';

export type {AdmissionAttributes, Phase} from './attributes.ts';
export type {Lookups} from './lookups.ts';

const plugins: readonly Plugin[] = [
  namespaceLifecycle,
  limitRanger,
  serviceAccount,
  taintNodesByCondition,
  podSecurity,
  priority,
  defaultTolerationSeconds,
  defaultStorageClass,
  storageObjectInUseProtection,
  persistentVolumeClaimResize,
  runtimeClass,
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  defaultIngressClass,
  podTopologyLabels,
  resourceQuota,
];

/** @throws StatusError of the first plugin that refuses: mostly 403, 404 for a namespace that does not exist. */
export async function admit(attributes: AdmissionAttributes, lookups: Lookups, phase: Phase): Promise<void> {
  const {resource, operation, subresource} = attributes;
  const qualified = resource.group ? `${resource.resource}.${resource.group}` : resource.resource;
  for (const plugin of plugins) {
    const handle = plugin[phase];
    if (!handle || !plugin.operations.includes(operation)) continue;
    if (plugin.resources && !plugin.resources.includes(qualified)) continue;
    if (plugin.resources && subresource !== '' && !plugin.subresources?.includes(subresource)) continue;
    await handle.call(plugin, attributes, lookups);
  }
}
