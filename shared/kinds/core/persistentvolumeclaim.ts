/** A request for storage. */
import type {JsonObject, KubeObject} from '../../object.ts';
import {claimWarnings} from '../common/pod-warnings.ts';
import {define} from '../define.ts';
import {validatePersistentVolumeClaim, validatePersistentVolumeClaimUpdate} from './persistentvolumeclaim.validate.ts';

/** The two ways to name the source of a volume's content mirror each other, as long as the newer one says nothing that the older cannot. */
export function mirrorDataSources(spec: JsonObject): void {
  const {dataSource, dataSourceRef} = spec as {dataSource?: JsonObject; dataSourceRef?: JsonObject};
  if (dataSourceRef) {
    if (dataSourceRef.namespace || dataSource) return;
    const {namespace: _, ...local} = dataSourceRef;
    spec.dataSource = {...local};
  } else if (dataSource) spec.dataSourceRef = {...dataSource};
}

/** The older field knows two kinds of sources; another one in it alone is dropped. */
function dropForeignSource(spec: JsonObject, old?: JsonObject): void {
  if (spec.dataSourceRef) return;
  const source = spec.dataSource as JsonObject | undefined;
  if (!source || (old && JSON.stringify(old.dataSource) === JSON.stringify(source))) return;
  const group = source.apiGroup ?? '';
  const known =
    (source.kind === 'PersistentVolumeClaim' && group === '') || (source.kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io');
  if (!known) delete spec.dataSource;
}

export const persistentVolumeClaim = define({
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  validate: validatePersistentVolumeClaim,
  validateUpdate: (object, old, {subresource}) => validatePersistentVolumeClaimUpdate(object, old, subresource),
  deleteReturnsObject: true,
  metadataOnUpdate: ['update', 'full'],
  newStatus: () => ({phase: 'Pending'}),
  prepareForCreate(object) {
    object.spec ??= {};
    dropForeignSource(object.spec);
    mirrorDataSources(object.spec);
  },
  prepareForUpdate(object, old, {subresource}) {
    if (subresource !== '') return;
    object.spec ??= {};
    dropForeignSource(object.spec, old.spec);
    mirrorDataSources(object.spec);
  },
  selectableFields: (object) => ({name: object.metadata.name ?? ''}),
});

const betaClass = 'volume.beta.kubernetes.io/storage-class';

function warnings({metadata, spec}: KubeObject): string[] {
  const annotated = metadata.annotations?.[betaClass] !== undefined;
  return [
    ...(annotated ? [`metadata.annotations[${betaClass}]: deprecated since v1.8; use "storageClassName" attribute instead`] : []),
    ...claimWarnings(spec, 'spec'),
  ];
}
