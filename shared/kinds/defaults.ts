/**
 * What an object gets that its author left out. Each type brings its own rule (x.defaults.ts beside its kind), plain values stand in the
 * wire facts; this file walks an object along its type, parents before children, and only where a rule waits below. Whatever needs
 * another object (addresses, service accounts, priorities) is admission, not defaulting.
 */
import {type KubeObject, parseGroupVersion} from '../object.ts';
import {type Field, type MapType, type StructType, type Type, typeByKind} from '../schema/types.ts';
import {matchResourcesDefaults} from './admissionregistration/match-resources.defaults.ts';
import {mutatingAdmissionPolicyDefaults} from './admissionregistration/mutatingadmissionpolicy.defaults.ts';
import {mutatingWebhookConfigurationDefaults} from './admissionregistration/mutatingwebhookconfiguration.defaults.ts';
import {validatingAdmissionPolicyDefaults} from './admissionregistration/validatingadmissionpolicy.defaults.ts';
import {validatingWebhookConfigurationDefaults} from './admissionregistration/validatingwebhookconfiguration.defaults.ts';
import {customResourceDefinitionDefaults} from './apiextensions/customresourcedefinition.defaults.ts';
import {apiServiceDefaults} from './apiregistration/apiservice.defaults.ts';
import {daemonSetDefaults} from './apps/daemonset.defaults.ts';
import {deploymentDefaults} from './apps/deployment.defaults.ts';
import {replicaSetDefaults} from './apps/replicaset.defaults.ts';
import {statefulSetDefaults} from './apps/statefulset.defaults.ts';
import {horizontalPodAutoscalerDefaults} from './autoscaling/horizontalpodautoscaler.defaults.ts';
import {cronJobDefaults} from './batch/cronjob.defaults.ts';
import {jobDefaults} from './batch/job.defaults.ts';
import type {Defaulter, Defaults} from './common/defaulter.ts';
import type {Part} from './common/loose.ts';
import {endpointsDefaults} from './core/endpoints.defaults.ts';
import {limitRangeDefaults} from './core/limitrange.defaults.ts';
import {namespaceDefaults} from './core/namespace.defaults.ts';
import {nodeDefaults} from './core/node.defaults.ts';
import {persistentVolumeDefaults} from './core/persistentvolume.defaults.ts';
import {persistentVolumeClaimDefaults} from './core/persistentvolumeclaim.defaults.ts';
import {podDefaults} from './core/pod.defaults.ts';
import {podSpecDefaults} from './core/pod-spec.defaults.ts';
import {replicationControllerDefaults} from './core/replicationcontroller.defaults.ts';
import {resourceListDefaults} from './core/resource-list.defaults.ts';
import {secretDefaults} from './core/secret.defaults.ts';
import {serviceDefaults} from './core/service.defaults.ts';
import {volumeDefaults} from './core/volume.defaults.ts';
import {endpointSliceDefaults} from './discovery/endpointslice.defaults.ts';
import {flowSchemaDefaults} from './flowcontrol/flowschema.defaults.ts';
import {priorityLevelConfigurationDefaults} from './flowcontrol/prioritylevelconfiguration.defaults.ts';
import {ingressClassDefaults} from './networking/ingressclass.defaults.ts';
import {networkPolicyDefaults} from './networking/networkpolicy.defaults.ts';
import {clusterRoleBindingDefaults} from './rbac/clusterrolebinding.defaults.ts';
import {roleBindingDefaults} from './rbac/rolebinding.defaults.ts';
import {resourceClaimDefaults} from './resource/resourceclaim.defaults.ts';
import {resourceSliceDefaults} from './resource/resourceslice.defaults.ts';
import {priorityClassDefaults} from './scheduling/priorityclass.defaults.ts';
import {csiDriverDefaults} from './storage/csidriver.defaults.ts';
import {storageClassDefaults} from './storage/storageclass.defaults.ts';

const rules: Defaults = {
  ...apiServiceDefaults,
  ...clusterRoleBindingDefaults,
  ...cronJobDefaults,
  ...csiDriverDefaults,
  ...customResourceDefinitionDefaults,
  ...daemonSetDefaults,
  ...deploymentDefaults,
  ...endpointSliceDefaults,
  ...endpointsDefaults,
  ...flowSchemaDefaults,
  ...horizontalPodAutoscalerDefaults,
  ...ingressClassDefaults,
  ...jobDefaults,
  ...limitRangeDefaults,
  ...matchResourcesDefaults,
  ...mutatingAdmissionPolicyDefaults,
  ...mutatingWebhookConfigurationDefaults,
  ...namespaceDefaults,
  ...networkPolicyDefaults,
  ...nodeDefaults,
  ...persistentVolumeClaimDefaults,
  ...persistentVolumeDefaults,
  ...podDefaults,
  ...podSpecDefaults,
  ...priorityClassDefaults,
  ...priorityLevelConfigurationDefaults,
  ...replicaSetDefaults,
  ...replicationControllerDefaults,
  ...resourceClaimDefaults,
  ...resourceListDefaults,
  ...resourceSliceDefaults,
  ...roleBindingDefaults,
  ...secretDefaults,
  ...serviceDefaults,
  ...statefulSetDefaults,
  ...storageClassDefaults,
  ...validatingAdmissionPolicyDefaults,
  ...validatingWebhookConfigurationDefaults,
  ...volumeDefaults,
};

/** These groups keep what they are given, also in types that they share with groups that do not. */
const withoutDefaults: ReadonlySet<string> = new Set(['node.k8s.io']);

/**
 * In place; a second time changes nothing. The object must have been normalized (see schema/decode.ts). `now` is the wall time in ms, for
 * the few rules that write one down. Kinds without a built-in type are left alone.
 */
export function applyDefaults(object: KubeObject, now: number = Date.now()): void {
  const plan = planOfKind(object.apiVersion, object.kind);
  if (plan) walk(object, plan, now);
}

interface Plan {
  own: Defaulter | undefined;
  constants: readonly (readonly [name: string, value: Part])[];
  children: readonly Child[];
}

interface Child {
  name: string;
  plan: Plan;
  shape: 'one' | 'list' | 'map';
}

function walk(value: Part, plan: Plan, now: number): void {
  plan.own?.(value, now);
  for (const [name, constant] of plan.constants) if (isUnset(value[name])) value[name] = constant;
  for (const {name, plan: below, shape} of plan.children) {
    const child = value[name];
    if (child === undefined || child === null) continue;
    if (shape === 'one') walk(child, below, now);
    else if (shape === 'list') for (const item of child) walk(item, below, now);
    else for (const key of Object.keys(child)) walk(child[key], below, now);
  }
}

const isUnset = (value: Part): boolean => value === undefined || value === null || value === '';

const plansOfKinds = new Map<string, Plan | undefined>();

function planOfKind(apiVersion: string, kind: string): Plan | undefined {
  const id = `${apiVersion}/${kind}`;
  if (plansOfKinds.has(id)) return plansOfKinds.get(id);
  const gv = parseGroupVersion(apiVersion);
  const type = gv && !withoutDefaults.has(gv.group) ? typeByKind({...gv, kind}) : undefined;
  const plan = type && needsWalk(type) ? planOf(type) : undefined;
  plansOfKinds.set(id, plan);
  return plan;
}

const plans = new Map<string, Plan>();

/** Only for types that need one. */
function planOf(type: StructType | MapType): Plan {
  const ref = type.ref!;
  const known = plans.get(ref);
  if (known) return known;
  const children: Child[] = [];
  const fields = type.kind === 'struct' ? type.fields : [];
  const plan: Plan = {own: rules[ref], constants: fields.flatMap(constantOf), children};
  plans.set(ref, plan);
  for (const field of fields) {
    const [of, shape] = unwrapped(field.type);
    if (of && needsWalk(of)) children.push({name: field.name, plan: planOf(of), shape});
  }
  return plan;
}

/** Zero values of fields that are absent when zero show nowhere. */
function constantOf(field: Field): (readonly [string, Part])[] {
  if (field.default === undefined) return [];
  return field.pointer || !field.omitempty || field.default ? [[field.name, field.default]] : [];
}

/** What a field holds, as far as rules are concerned, and how many of it. */
function unwrapped(type: Type): [of: StructType | MapType | undefined, shape: Child['shape']] {
  if (type.kind === 'struct') return [type, 'one'];
  if (type.kind === 'map' && type.ref !== undefined && rules[type.ref]) return [type, 'one'];
  if (type.kind === 'list') return [unwrapped(type.of)[0], 'list'];
  if (type.kind === 'map') return [unwrapped(type.of)[0], 'map'];
  return [undefined, 'one'];
}

const needs = new Map<string, boolean>();

/** Whether a rule waits in a type or below it. */
function needsWalk(type: StructType | MapType): boolean {
  const ref = type.ref!;
  let answer = needs.get(ref);
  if (answer === undefined) {
    answer = leadsToRule(type, new Set());
    needs.set(ref, answer);
  }
  return answer;
}

/** Types refer to each other in circles: one that was looked at before brings nothing new. */
function leadsToRule(type: StructType | MapType, seen: Set<string>): boolean {
  const ref = type.ref!;
  if (rules[ref]) return true;
  if (seen.has(ref) || type.kind === 'map') return false;
  seen.add(ref);
  return type.fields.some((field) => {
    if (constantOf(field).length > 0) return true;
    const [of] = unwrapped(field.type);
    return of !== undefined && leadsToRule(of, seen);
  });
}
