/** Which message a kind is, and what its fields are as protobuf numbers them. Reading and writing them is in write.ts and read.ts. */
import {type GroupVersionKind, groupVersion} from '../../object.ts';
import {type Field, type StructType, typeByKind, typeByRef} from '../types.ts';

/** The magic bytes before every message that stands alone, after Kubernetes' first name for it. */
export const magic: Uint8Array = new Uint8Array([0x6b, 0x38, 0x73, 0x00]);

/** Kinds that are served without belonging to a group version: what discovery answers with. */
const unversioned = new Set(['Status', 'APIVersions', 'APIGroupList', 'APIGroup', 'APIResourceList']);

export function messageOf(gvk: GroupVersionKind): StructType | undefined {
  if (gvk.group === 'meta.k8s.io') return typeByRef(`meta/v1.${gvk.kind}`) as StructType;
  if (gvk.group === 'apidiscovery.k8s.io') return typeByRef(`apidiscovery/v2.${gvk.kind}`) as StructType;
  if (unversioned.has(gvk.kind) && groupVersion(gvk) === 'v1') return typeByRef(`meta/v1.${gvk.kind}`) as StructType;
  return typeByKind(gvk);
}

/** Ascending field numbers: the order in which the reference writes them. */
export const fieldsByNumber = (type: StructType): Field[] => type.protoFields.slice().sort((a, b) => a.proto! - b.proto!);

export const wireVarint = 0;
export const wireFixed64 = 1;
export const wireBytes = 2;
