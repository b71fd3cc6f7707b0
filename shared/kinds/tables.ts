/**
 * Which kinds have a table of their own, by the group and kind in which they are stored. Kinds that are not here show name and creation
 * time. The tables of custom resources come from their definitions.
 */
import {mutatingAdmissionPolicyTable} from './admissionregistration/mutatingadmissionpolicy.table.ts';
import {mutatingAdmissionPolicyBindingTable} from './admissionregistration/mutatingadmissionpolicybinding.table.ts';
import {mutatingWebhookConfigurationTable} from './admissionregistration/mutatingwebhookconfiguration.table.ts';
import {validatingAdmissionPolicyTable} from './admissionregistration/validatingadmissionpolicy.table.ts';
import {validatingAdmissionPolicyBindingTable} from './admissionregistration/validatingadmissionpolicybinding.table.ts';
import {validatingWebhookConfigurationTable} from './admissionregistration/validatingwebhookconfiguration.table.ts';
import {apiServiceTable} from './apiregistration/apiservice.table.ts';
import {storageVersionTable} from './apiserverinternal/storageversion.table.ts';
import {controllerRevisionTable} from './apps/controllerrevision.table.ts';
import {daemonSetTable} from './apps/daemonset.table.ts';
import {deploymentTable} from './apps/deployment.table.ts';
import {replicaSetTable} from './apps/replicaset.table.ts';
import {statefulSetTable} from './apps/statefulset.table.ts';
import {horizontalPodAutoscalerTable} from './autoscaling/horizontalpodautoscaler.table.ts';
import {scaleTable} from './autoscaling/scale.table.ts';
import {cronJobTable} from './batch/cronjob.table.ts';
import {jobTable} from './batch/job.table.ts';
import {certificateSigningRequestTable} from './certificates/certificatesigningrequest.table.ts';
import {clusterTrustBundleTable} from './certificates/clustertrustbundle.table.ts';
import {podCertificateRequestTable} from './certificates/podcertificaterequest.table.ts';
import type {KindTable} from './common/columns.table.ts';
import {leaseTable} from './coordination/lease.table.ts';
import {leaseCandidateTable} from './coordination/leasecandidate.table.ts';
import {componentStatusTable} from './core/componentstatus.table.ts';
import {configMapTable} from './core/configmap.table.ts';
import {endpointsTable} from './core/endpoints.table.ts';
import {eventTable} from './core/event.table.ts';
import {namespaceTable} from './core/namespace.table.ts';
import {nodeTable} from './core/node.table.ts';
import {persistentVolumeTable} from './core/persistentvolume.table.ts';
import {persistentVolumeClaimTable} from './core/persistentvolumeclaim.table.ts';
import {podTable} from './core/pod.table.ts';
import {podTemplateTable} from './core/podtemplate.table.ts';
import {replicationControllerTable} from './core/replicationcontroller.table.ts';
import {resourceQuotaTable} from './core/resourcequota.table.ts';
import {secretTable} from './core/secret.table.ts';
import {serviceTable} from './core/service.table.ts';
import {serviceAccountTable} from './core/serviceaccount.table.ts';
import {endpointSliceTable} from './discovery/endpointslice.table.ts';
import {flowSchemaTable} from './flowcontrol/flowschema.table.ts';
import {priorityLevelConfigurationTable} from './flowcontrol/prioritylevelconfiguration.table.ts';
import {nodeMetricsTable, podMetricsTable} from './metrics/metrics.table.ts';
import {ingressTable} from './networking/ingress.table.ts';
import {ingressClassTable} from './networking/ingressclass.table.ts';
import {ipAddressTable} from './networking/ipaddress.table.ts';
import {networkPolicyTable} from './networking/networkpolicy.table.ts';
import {serviceCIDRTable} from './networking/servicecidr.table.ts';
import {runtimeClassTable} from './node/runtimeclass.table.ts';
import {podDisruptionBudgetTable} from './policy/poddisruptionbudget.table.ts';
import {clusterRoleBindingTable} from './rbac/clusterrolebinding.table.ts';
import {roleBindingTable} from './rbac/rolebinding.table.ts';
import {deviceClassTable} from './resource/deviceclass.table.ts';
import {deviceTaintRuleTable} from './resource/devicetaintrule.table.ts';
import {resourceClaimTable} from './resource/resourceclaim.table.ts';
import {resourceClaimTemplateTable} from './resource/resourceclaimtemplate.table.ts';
import {resourcePoolStatusRequestTable} from './resource/resourcepoolstatusrequest.table.ts';
import {resourceSliceTable} from './resource/resourceslice.table.ts';
import {podGroupTable} from './scheduling/podgroup.table.ts';
import {priorityClassTable} from './scheduling/priorityclass.table.ts';
import {workloadTable} from './scheduling/workload.table.ts';
import {csiDriverTable} from './storage/csidriver.table.ts';
import {csiNodeTable} from './storage/csinode.table.ts';
import {storageClassTable} from './storage/storageclass.table.ts';
import {volumeAttachmentTable} from './storage/volumeattachment.table.ts';
import {volumeAttributesClassTable} from './storage/volumeattributesclass.table.ts';
import {storageVersionMigrationTable} from './storagemigration/storageversionmigration.table.ts';

export const tables: Readonly<Record<string, Readonly<Record<string, KindTable>>>> = {
  '': {
    ComponentStatus: componentStatusTable,
    ConfigMap: configMapTable,
    Endpoints: endpointsTable,
    Event: eventTable,
    Namespace: namespaceTable,
    Node: nodeTable,
    PersistentVolume: persistentVolumeTable,
    PersistentVolumeClaim: persistentVolumeClaimTable,
    Pod: podTable,
    PodTemplate: podTemplateTable,
    ReplicationController: replicationControllerTable,
    ResourceQuota: resourceQuotaTable,
    Secret: secretTable,
    Service: serviceTable,
    ServiceAccount: serviceAccountTable,
  },
  'admissionregistration.k8s.io': {
    MutatingAdmissionPolicy: mutatingAdmissionPolicyTable,
    MutatingAdmissionPolicyBinding: mutatingAdmissionPolicyBindingTable,
    MutatingWebhookConfiguration: mutatingWebhookConfigurationTable,
    ValidatingAdmissionPolicy: validatingAdmissionPolicyTable,
    ValidatingAdmissionPolicyBinding: validatingAdmissionPolicyBindingTable,
    ValidatingWebhookConfiguration: validatingWebhookConfigurationTable,
  },
  'apiregistration.k8s.io': {
    APIService: apiServiceTable,
  },
  apps: {
    ControllerRevision: controllerRevisionTable,
    DaemonSet: daemonSetTable,
    Deployment: deploymentTable,
    ReplicaSet: replicaSetTable,
    StatefulSet: statefulSetTable,
  },
  autoscaling: {
    HorizontalPodAutoscaler: horizontalPodAutoscalerTable,
    Scale: scaleTable,
  },
  batch: {
    CronJob: cronJobTable,
    Job: jobTable,
  },
  'certificates.k8s.io': {
    CertificateSigningRequest: certificateSigningRequestTable,
    ClusterTrustBundle: clusterTrustBundleTable,
    PodCertificateRequest: podCertificateRequestTable,
  },
  'coordination.k8s.io': {
    Lease: leaseTable,
    LeaseCandidate: leaseCandidateTable,
  },
  'discovery.k8s.io': {
    EndpointSlice: endpointSliceTable,
  },
  'flowcontrol.apiserver.k8s.io': {
    FlowSchema: flowSchemaTable,
    PriorityLevelConfiguration: priorityLevelConfigurationTable,
  },
  'internal.apiserver.k8s.io': {
    StorageVersion: storageVersionTable,
  },
  'metrics.k8s.io': {
    NodeMetrics: nodeMetricsTable,
    PodMetrics: podMetricsTable,
  },
  'networking.k8s.io': {
    Ingress: ingressTable,
    IngressClass: ingressClassTable,
    IPAddress: ipAddressTable,
    NetworkPolicy: networkPolicyTable,
    ServiceCIDR: serviceCIDRTable,
  },
  'node.k8s.io': {
    RuntimeClass: runtimeClassTable,
  },
  policy: {
    PodDisruptionBudget: podDisruptionBudgetTable,
  },
  'rbac.authorization.k8s.io': {
    ClusterRoleBinding: clusterRoleBindingTable,
    RoleBinding: roleBindingTable,
  },
  'resource.k8s.io': {
    DeviceClass: deviceClassTable,
    DeviceTaintRule: deviceTaintRuleTable,
    ResourceClaim: resourceClaimTable,
    ResourceClaimTemplate: resourceClaimTemplateTable,
    ResourcePoolStatusRequest: resourcePoolStatusRequestTable,
    ResourceSlice: resourceSliceTable,
  },
  'scheduling.k8s.io': {
    PodGroup: podGroupTable,
    PriorityClass: priorityClassTable,
    Workload: workloadTable,
  },
  'storage.k8s.io': {
    CSIDriver: csiDriverTable,
    CSINode: csiNodeTable,
    StorageClass: storageClassTable,
    VolumeAttachment: volumeAttachmentTable,
    VolumeAttributesClass: volumeAttributesClassTable,
  },
  'storagemigration.k8s.io': {
    StorageVersionMigration: storageVersionMigrationTable,
  },
};

export const printersFor = (group: string, kind: string): KindTable | undefined => tables[group]?.[kind];
