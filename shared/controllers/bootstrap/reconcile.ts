/**
 * What a later start does to an object that is there already. Pure: each rule answers with the object to write, or that nothing is to be
 * done. Roles only grow: what an administrator added stays, what they took away comes back unless they said otherwise.
 */
import {uncovered} from '../../auth/rbac/rules.ts';
import {sameJson} from '../../kinds/common/equal.ts';
import type {KubeObject} from '../../object.ts';

export type Change = {update: KubeObject} | {recreate: KubeObject} | undefined;
export type Reconcile = (existing: KubeObject, expected: KubeObject) => Change;

/** Whoever changes it means it. */
export const keepOnce: Reconcile = () => undefined;

const autoUpdateKey = 'rbac.authorization.kubernetes.io/autoupdate';
const autoUpdateSpecKey = 'apf.kubernetes.io/autoupdate-spec';

/** The existing labels and annotations win over the expected ones. */
function withMetadata(existing: KubeObject, expected: KubeObject): KubeObject {
  const {metadata} = existing;
  return {
    ...existing,
    metadata: {
      ...metadata,
      labels: {...expected.metadata.labels, ...metadata.labels},
      annotations: {...expected.metadata.annotations, ...metadata.annotations},
    },
  };
}

const updated = (existing: KubeObject, reconciled: KubeObject): Change =>
  sameJson(withMetadata(existing, {...existing, metadata: {}}), reconciled) ? undefined : {update: reconciled};

const isProtected = ({metadata}: KubeObject): boolean => metadata.annotations?.[autoUpdateKey] === 'false';

export const reconcileRole: Reconcile = (existing, expected) => {
  if (isProtected(existing)) return undefined;
  const role = withMetadata(existing, expected);
  const missing = uncovered(existing['rules'] ?? [], expected['rules'] ?? []);
  if (missing.length > 0) role['rules'] = [...(existing['rules'] ?? []), ...missing];
  const expectedSelectors: unknown[] = expected['aggregationRule']?.clusterRoleSelectors ?? [];
  const selectors: unknown[] = existing['aggregationRule']?.clusterRoleSelectors ?? [];
  const missingSelectors = expectedSelectors.filter((wanted) => !selectors.some((selector) => sameJson(selector, wanted)));
  if (!expected['aggregationRule']) delete role['aggregationRule'];
  else if (missingSelectors.length > 0) role['aggregationRule'] = {clusterRoleSelectors: [...selectors, ...missingSelectors]};
  return updated(existing, role);
};

export const reconcileBinding: Reconcile = (existing, expected) => {
  if (isProtected(existing)) return undefined;
  // A binding cannot change its role.
  if (!sameJson(existing['roleRef'], expected['roleRef'])) return {recreate: expected};
  const binding = withMetadata(existing, expected);
  const subjects: unknown[] = existing['subjects'] ?? [];
  const missing = ((expected['subjects'] ?? []) as unknown[]).filter((wanted) => !subjects.some((subject) => sameJson(subject, wanted)));
  if (missing.length > 0) binding['subjects'] = [...subjects, ...missing];
  return updated(existing, binding);
};

/** Ours until an administrator takes it over: they say so in the annotation, or, where there is none, by having changed it. */
export const keepSpec: Reconcile = (existing, expected) => {
  const ours = existing.metadata.annotations?.[autoUpdateSpecKey];
  if (ours === 'false' || (ours === undefined && expected.metadata.annotations && (existing.metadata.generation ?? 1) > 1))
    return undefined;
  return includes(existing['spec'], expected['spec']) ? undefined : {update: {...existing, spec: expected['spec']}};
};

/** Published anew by each start; what else is in the map stays. */
export const keepData: Reconcile = (existing, expected) => {
  const data = {...existing['data'], ...expected['data']};
  return sameJson(existing['data'], data) || Object.keys(data).length === 0 ? undefined : {update: {...existing, data}};
};

/** Follows where the server listens now. */
export const keepAddresses: Reconcile = (existing, expected) => {
  if (expected.kind === 'Service') {
    const {ports} = expected['spec'];
    return includes(existing['spec']?.ports, ports) ? undefined : {update: {...existing, spec: {...existing['spec'], ports}}};
  }
  const {kind: _kind, apiVersion: _version, metadata: _metadata, ...fields} = expected;
  const followed = {...existing, ...fields};
  if (includes(existing, fields)) return undefined;
  // The address family of a slice cannot change.
  return existing['addressType'] === expected['addressType'] ? {update: followed} : {recreate: expected};
};

/** Whether an object says all that is expected; what was defaulted beyond it does not count. Lists are compared whole. */
function includes(actual: unknown, expected: unknown): boolean {
  if (Array.isArray(expected))
    return Array.isArray(actual) && actual.length === expected.length && expected.every((wanted, index) => includes(actual[index], wanted));
  if (expected && typeof expected === 'object')
    return (
      actual !== null &&
      typeof actual === 'object' &&
      Object.entries(expected).every(([field, wanted]) => includes((actual as Record<string, unknown>)[field], wanted))
    );
  return actual === expected;
}
