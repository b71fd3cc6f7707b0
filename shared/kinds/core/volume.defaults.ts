/** Volumes of pods. Constants of the plain kind (names of interfaces, file systems) stand in the wire facts. */
import {type Defaulter, type Defaults, fill} from '../common/defaulter.ts';
import type {Part} from '../common/loose.ts';
import {pullPolicy} from './pod-spec.defaults.ts';

/** Octal 0644. */
const readableFiles: Defaulter = (source) => fill(source, 'defaultMode', 0o644);

function hasSource(volume: Part): boolean {
  for (const name in volume) if (name !== 'name') return true;
  return false;
}

export const volumeDefaults: Defaults = {
  'core/v1.Volume': (volume) => {
    if (!hasSource(volume)) volume.emptyDir = {};
    if (volume.image) fill(volume.image, 'pullPolicy', pullPolicy(volume.image.reference));
  },
  'core/v1.HostPathVolumeSource': (source) => {
    source.type ??= '';
  },
  'core/v1.SecretVolumeSource': readableFiles,
  'core/v1.ConfigMapVolumeSource': readableFiles,
  'core/v1.DownwardAPIVolumeSource': readableFiles,
  'core/v1.ProjectedVolumeSource': readableFiles,
  'core/v1.ServiceAccountTokenProjection': (source) => fill(source, 'expirationSeconds', 3600),
};
