/** What the types' data does not say and the reference's documents do. */

const versions = (group: string, ...names: string[]) => names.map((version) => ({group, version}));

/** Every group version that the reference knows, served or not: DeleteOptions and WatchEvent are registered in each. */
export const optionVersions: readonly {group: string; version: string}[] = [
  ...versions('', 'v1'),
  ...versions('admission.k8s.io', 'v1', 'v1beta1'),
  ...versions('admissionregistration.k8s.io', 'v1', 'v1alpha1', 'v1beta1'),
  ...versions('apiextensions.k8s.io', 'v1', 'v1beta1'),
  ...versions('apiregistration.k8s.io', 'v1', 'v1beta1'),
  ...versions('apps', 'v1', 'v1beta1', 'v1beta2'),
  ...versions('authentication.k8s.io', 'v1', 'v1alpha1', 'v1beta1'),
  ...versions('authorization.k8s.io', 'v1', 'v1beta1'),
  ...versions('autoscaling', 'v1', 'v2'),
  ...versions('batch', 'v1', 'v1beta1'),
  ...versions('certificates.k8s.io', 'v1', 'v1alpha1', 'v1beta1'),
  ...versions('coordination.k8s.io', 'v1', 'v1alpha2', 'v1beta1'),
  ...versions('discovery.k8s.io', 'v1', 'v1beta1'),
  ...versions('events.k8s.io', 'v1', 'v1beta1'),
  ...versions('extensions', 'v1beta1'),
  ...versions('flowcontrol.apiserver.k8s.io', 'v1', 'v1beta1', 'v1beta2', 'v1beta3'),
  ...versions('imagepolicy.k8s.io', 'v1alpha1'),
  ...versions('internal.apiserver.k8s.io', 'v1alpha1'),
  ...versions('networking.k8s.io', 'v1', 'v1beta1'),
  ...versions('node.k8s.io', 'v1', 'v1alpha1', 'v1beta1'),
  ...versions('policy', 'v1', 'v1beta1'),
  ...versions('rbac.authorization.k8s.io', 'v1', 'v1alpha1', 'v1beta1'),
  ...versions('resource.k8s.io', 'v1', 'v1alpha3', 'v1beta1', 'v1beta2'),
  ...versions('scheduling.k8s.io', 'v1', 'v1alpha2', 'v1beta1'),
  ...versions('storage.k8s.io', 'v1', 'v1alpha1', 'v1beta1'),
  ...versions('storagemigration.k8s.io', 'v1beta1'),
];

interface Union {
  discriminator?: string;
  'fields-to-discriminateBy': Record<string, string>;
}

/** Types of which at most one member is set. */
export const unions: Readonly<Record<string, Union>> = {
  'core/v1.AppArmorProfile': {discriminator: 'type', 'fields-to-discriminateBy': {localhostProfile: 'LocalhostProfile'}},
  'core/v1.PodSchedulingGroup': {'fields-to-discriminateBy': {podGroupName: 'PodGroupName'}},
  'core/v1.SeccompProfile': {discriminator: 'type', 'fields-to-discriminateBy': {localhostProfile: 'LocalhostProfile'}},
  'flowcontrol/v1.LimitResponse': {discriminator: 'type', 'fields-to-discriminateBy': {queuing: 'Queuing'}},
  'flowcontrol/v1.PriorityLevelConfigurationSpec': {
    discriminator: 'type',
    'fields-to-discriminateBy': {exempt: 'Exempt', limited: 'Limited'},
  },
  'flowcontrol/v1.Subject': {
    discriminator: 'kind',
    'fields-to-discriminateBy': {group: 'Group', serviceAccount: 'ServiceAccount', user: 'User'},
  },
};

/** Values that are made of another type's, which the data does not follow; by the name Go gives the type. */
export const moreValues: Readonly<Record<string, readonly string[]>> = {'v1.AddressType': ['FQDN', 'IPv4', 'IPv6']};

/** A DELETE of these answers with the object, of others with a Status. */
export const answersWithObject: ReadonlySet<string> = new Set([
  'persistentvolumeclaims',
  'persistentvolumes',
  'pods',
  'podtemplates',
  'resourcequotas',
  'serviceaccounts',
  'services',
  'deviceclasses.resource.k8s.io',
  'resourceclaims.resource.k8s.io',
  'resourceclaimtemplates.resource.k8s.io',
  'resourceslices.resource.k8s.io',
  'csidrivers.storage.k8s.io',
  'csinodes.storage.k8s.io',
  'storageclasses.storage.k8s.io',
  'volumeattachments.storage.k8s.io',
  'volumeattributesclasses.storage.k8s.io',
]);
