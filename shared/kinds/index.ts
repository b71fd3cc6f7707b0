/** Which strategy a kind has, and the passes that every write of an object goes through before it is stored. */
import type {FieldError} from '../field-errors.ts';
import type {KubeObject} from '../object.ts';
import {mutatingAdmissionPolicy} from './admissionregistration/mutatingadmissionpolicy.ts';
import {mutatingAdmissionPolicyBinding} from './admissionregistration/mutatingadmissionpolicybinding.ts';
import {mutatingWebhookConfiguration} from './admissionregistration/mutatingwebhookconfiguration.ts';
import {validatingAdmissionPolicy} from './admissionregistration/validatingadmissionpolicy.ts';
import {validatingAdmissionPolicyBinding} from './admissionregistration/validatingadmissionpolicybinding.ts';
import {validatingWebhookConfiguration} from './admissionregistration/validatingwebhookconfiguration.ts';
import {customResourceDefinition} from './apiextensions/customresourcedefinition.ts';
import {apiService} from './apiregistration/apiservice.ts';
import {controllerRevision} from './apps/controllerrevision.ts';
import {daemonSet} from './apps/daemonset.ts';
import {deployment} from './apps/deployment.ts';
import {replicaSet} from './apps/replicaset.ts';
import {statefulSet} from './apps/statefulset.ts';
import {horizontalPodAutoscaler} from './autoscaling/horizontalpodautoscaler.ts';
import {cronJob} from './batch/cronjob.ts';
import {job} from './batch/job.ts';
import {certificateSigningRequest} from './certificates/certificatesigningrequest.ts';
import {type MetadataRules, validateObjectMeta, validateObjectMetaUpdate} from './common/metadata.ts';
import {pathSegment} from './common/names.ts';
import {lease} from './coordination/lease.ts';
import {configMap} from './core/configmap.ts';
import {endpoints} from './core/endpoints.ts';
import {event, groupedEvent} from './core/event.ts';
import {limitRange} from './core/limitrange.ts';
import {namespace} from './core/namespace.ts';
import {node} from './core/node.ts';
import {persistentVolume} from './core/persistentvolume.ts';
import {persistentVolumeClaim} from './core/persistentvolumeclaim.ts';
import {pod} from './core/pod.ts';
import {podTemplate} from './core/podtemplate.ts';
import {replicationController} from './core/replicationcontroller.ts';
import {resourceQuota} from './core/resourcequota.ts';
import {secret} from './core/secret.ts';
import {service} from './core/service.ts';
import {serviceAccount} from './core/serviceaccount.ts';
import {plain} from './define.ts';
import {endpointSlice} from './discovery/endpointslice.ts';
import {flowSchema} from './flowcontrol/flowschema.ts';
import {priorityLevelConfiguration} from './flowcontrol/prioritylevelconfiguration.ts';
import {ingress} from './networking/ingress.ts';
import {ingressClass} from './networking/ingressclass.ts';
import {ipAddress} from './networking/ipaddress.ts';
import {networkPolicy} from './networking/networkpolicy.ts';
import {serviceCIDR} from './networking/servicecidr.ts';
import {runtimeClass} from './node/runtimeclass.ts';
import {podDisruptionBudget} from './policy/poddisruptionbudget.ts';
import {clusterRole} from './rbac/clusterrole.ts';
import {clusterRoleBinding} from './rbac/clusterrolebinding.ts';
import {role} from './rbac/role.ts';
import {roleBinding} from './rbac/rolebinding.ts';
import {deviceClass} from './resource/deviceclass.ts';
import {resourceClaim} from './resource/resourceclaim.ts';
import {resourceClaimTemplate} from './resource/resourceclaimtemplate.ts';
import {resourceSlice} from './resource/resourceslice.ts';
import {priorityClass} from './scheduling/priorityclass.ts';
import {csiDriver} from './storage/csidriver.ts';
import {csiNode} from './storage/csinode.ts';
import {csiStorageCapacity} from './storage/csistoragecapacity.ts';
import {storageClass} from './storage/storageclass.ts';
import {volumeAttachment} from './storage/volumeattachment.ts';
import {volumeAttributesClass} from './storage/volumeattributesclass.ts';
import type {Strategy, StrategyContext} from './strategy.ts';

const strategies: Record<string, Record<string, Strategy>> = {
  'admissionregistration.k8s.io': {
    MutatingAdmissionPolicy: mutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding: mutatingAdmissionPolicyBinding,
    MutatingWebhookConfiguration: mutatingWebhookConfiguration,
    ValidatingAdmissionPolicy: validatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding: validatingAdmissionPolicyBinding,
    ValidatingWebhookConfiguration: validatingWebhookConfiguration,
  },
  'apiextensions.k8s.io': {CustomResourceDefinition: customResourceDefinition},
  'apiregistration.k8s.io': {APIService: apiService},
  apps: {
    ControllerRevision: controllerRevision,
    DaemonSet: daemonSet,
    Deployment: deployment,
    ReplicaSet: replicaSet,
    StatefulSet: statefulSet,
  },
  autoscaling: {HorizontalPodAutoscaler: horizontalPodAutoscaler},
  batch: {CronJob: cronJob, Job: job},
  'certificates.k8s.io': {CertificateSigningRequest: certificateSigningRequest},
  'coordination.k8s.io': {Lease: lease},
  '': {
    ConfigMap: configMap,
    Endpoints: endpoints,
    Event: event,
    LimitRange: limitRange,
    Namespace: namespace,
    Node: node,
    PersistentVolume: persistentVolume,
    PersistentVolumeClaim: persistentVolumeClaim,
    Pod: pod,
    PodTemplate: podTemplate,
    ReplicationController: replicationController,
    ResourceQuota: resourceQuota,
    Secret: secret,
    Service: service,
    ServiceAccount: serviceAccount,
  },
  'discovery.k8s.io': {EndpointSlice: endpointSlice},
  'flowcontrol.apiserver.k8s.io': {FlowSchema: flowSchema, PriorityLevelConfiguration: priorityLevelConfiguration},
  'networking.k8s.io': {
    Ingress: ingress,
    IngressClass: ingressClass,
    IPAddress: ipAddress,
    NetworkPolicy: networkPolicy,
    ServiceCIDR: serviceCIDR,
  },
  'node.k8s.io': {RuntimeClass: runtimeClass},
  policy: {PodDisruptionBudget: podDisruptionBudget},
  'rbac.authorization.k8s.io': {ClusterRole: clusterRole, ClusterRoleBinding: clusterRoleBinding, Role: role, RoleBinding: roleBinding},
  'resource.k8s.io': {
    DeviceClass: deviceClass,
    ResourceClaim: resourceClaim,
    ResourceClaimTemplate: resourceClaimTemplate,
    ResourceSlice: resourceSlice,
  },
  'scheduling.k8s.io': {PriorityClass: priorityClass},
  'storage.k8s.io': {
    CSIDriver: csiDriver,
    CSINode: csiNode,
    CSIStorageCapacity: csiStorageCapacity,
    StorageClass: storageClass,
    VolumeAttachment: volumeAttachment,
    VolumeAttributesClass: volumeAttributesClass,
  },
  'events.k8s.io': {Event: groupedEvent},
};

/** The strategy of a kind; kinds that nobody knows (custom resources) get the plain one. */
export const strategyFor = (group: string, kind: string): Strategy => strategies[group]?.[kind] ?? plain;

/** All errors of a new object, after defaulting and prepareForCreate. Metadata comes first; its general rules only when the kind's hold. */
export function validateForCreate(strategy: Strategy, object: KubeObject, namespaced: boolean, context: StrategyContext): FieldError[] {
  const errors = [...validateObjectMeta(object.metadata, rulesOf(strategy, namespaced)), ...(strategy.validate?.(object, context) ?? [])];
  return errors.length ? errors : validateObjectMeta(object.metadata, generalRules(namespaced));
}

/** All errors of an object that replaces `old`. The passes over metadata repeat, as the reference's do. */
export function validateForUpdate(
  strategy: Strategy,
  object: KubeObject,
  old: KubeObject,
  namespaced: boolean,
  context: StrategyContext,
): FieldError[] {
  const passes = context.subresource === '' ? (strategy.metadataOnUpdate ?? ['update']) : (['update'] as const);
  return [
    ...validateObjectMeta(object.metadata, generalRules(namespaced)),
    ...validateObjectMetaUpdate(object.metadata, old.metadata, {plainFinalizers: true}),
    ...passes.flatMap((pass) =>
      pass === 'full'
        ? validateObjectMeta(object.metadata, rulesOf(strategy, namespaced))
        : validateObjectMetaUpdate(object.metadata, old.metadata, strategy),
    ),
    ...(strategy.validateUpdate?.(object, old, context) ?? []),
  ];
}

const rulesOf = (strategy: Strategy, namespaced: boolean): MetadataRules => ({
  namespaced,
  ...(strategy.name && {name: strategy.name}),
  ...(strategy.plainFinalizers && {plainFinalizers: true}),
});

const generalRules = (namespaced: boolean): MetadataRules => ({
  namespaced,
  name: (name, prefix) => pathSegment(name, prefix),
  plainFinalizers: true,
});
