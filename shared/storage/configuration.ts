/**
 * Types whose objects decide what happens to requests for others. On shared storage they have one revision counter and one log, the
 * epoch: a process that has read the epoch's head knows whether anything that it decides by has changed.
 */
const configuration: ReadonlySet<string> = new Set([
  'apiservices.apiregistration.k8s.io',
  'clusterrolebindings.rbac.authorization.k8s.io',
  'clusterroles.rbac.authorization.k8s.io',
  'customresourcedefinitions.apiextensions.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'ingressclasses.networking.k8s.io',
  'limitranges',
  'mutatingadmissionpolicies.admissionregistration.k8s.io',
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io',
  'mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'namespaces',
  'priorityclasses.scheduling.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'quotamarkers.internal',
  'rolebindings.rbac.authorization.k8s.io',
  'roles.rbac.authorization.k8s.io',
  'runtimeclasses.node.k8s.io',
  'serviceaccounts',
  'storageclasses.storage.k8s.io',
  'validatingadmissionpolicies.admissionregistration.k8s.io',
  'validatingadmissionpolicybindings.admissionregistration.k8s.io',
  'validatingwebhookconfigurations.admissionregistration.k8s.io',
  'verificationkeys.internal',
]);

export const isConfiguration = (type: string): boolean => configuration.has(type);
