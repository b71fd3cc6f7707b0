/**
 * What an endpoint does not write, and so gives nobody ownership of: the status through the object itself, the spec through its status.
 * The exceptions are those of the reference's kinds.
 */
import {FieldSet} from './field-set.ts';

export type FieldFilter = (set: FieldSet) => FieldSet;

/** `group` and `kind` of the object, and the subresource it is written through, empty for itself. */
export function writableThrough(group: string, kind: string, subresource: string): FieldFilter {
  const name = group ? `${kind}.${group}` : kind;
  const key = `${name}/${subresource}`;
  let filter = filters.get(key);
  if (!filter) {
    const included = includes[key];
    const excluded = FieldSet.ofPaths((excludes[key] ?? byDefault[subresource] ?? []).map((path) => path.split('.')));
    filter = included ? (set) => keep(set, included) : (set) => set.withoutTrees(excluded);
    filters.set(key, filter);
  }
  return filter;
}

const filters = new Map<string, FieldFilter>();

const byDefault: Record<string, readonly string[]> = {'': ['status'], status: ['spec']};

const metadataToo = ['metadata', 'spec'];
const excludes: Record<string, readonly string[]> = {
  'Deployment.apps/status': ['spec', 'metadata.labels'],
  'Pod/status': ['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences'],
  'Namespace/finalize': ['status'],
  'CertificateSigningRequest.certificates.k8s.io/': ['spec', 'status'],
  'CertificateSigningRequest.certificates.k8s.io/status': ['spec', 'status.conditions'],
  'CertificateSigningRequest.certificates.k8s.io/approval': ['spec', 'status.certificate'],
  'ServiceCIDR.networking.k8s.io/status': metadataToo,
  'StorageVersionMigration.storagemigration.k8s.io/status': metadataToo,
  'ResourceClaim.resource.k8s.io/status': metadataToo,
  'DeviceTaintRule.resource.k8s.io/status': metadataToo,
  'ResourcePoolStatusRequest.resource.k8s.io/status': metadataToo,
  'StorageVersion.internal.apiserver.k8s.io/status': metadataToo,
  'VolumeAttachment.storage.k8s.io/status': metadataToo,
  'FlowSchema.flowcontrol.apiserver.k8s.io/status': metadataToo,
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io/status': metadataToo,
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io/status': metadataToo,
  'PodGroup.scheduling.k8s.io/status': metadataToo,
  'APIService.apiregistration.k8s.io/status': metadataToo,
};

/** Through these only what is named is written; `*` stands for any item. */
const includes: Record<string, readonly string[]> = {
  'Pod/ephemeralcontainers': ['spec.ephemeralContainers'],
  'Pod/resize': [
    'spec.containers.*.resources',
    'spec.containers.*.resizePolicy',
    'spec.initContainers.*.resources',
    'spec.initContainers.*.resizePolicy',
  ],
};

const keep = (set: FieldSet, patterns: readonly string[]): FieldSet =>
  kept(
    set,
    patterns.map((pattern) => pattern.split('.')),
  );

/** All below the end of a pattern, and on the way to it what is a member itself. */
function kept(set: FieldSet, patterns: readonly (readonly string[])[]): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of set.children) {
    const matching = patterns.filter(([first]) => first === '*' || `f:${first}` === element);
    if (matching.length === 0) continue;
    const below = matching.some((pattern) => pattern.length === 1)
      ? child
      : kept(
          child,
          matching.map((pattern) => pattern.slice(1)),
        );
    const found = below === child ? child : new FieldSet(child.member, below.children);
    if (!found.isEmpty) children.set(element, found);
  }
  return new FieldSet(false, children);
}
