/** Whether a volume attachment is well formed: a driver, a volume, a node, all of which stay; and what the driver says of it. */
import {type FieldError, fieldForbidden, invalid, required, tooLong} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {subdomain} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {entries, type Part} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';
import {byteLength, inRange} from '../common/names.ts';
import {csiDriverName} from '../common/volume-sources.ts';
import {shownInlineVolume, validateInlineVolume} from './inline-volume.validate.ts';

const maxMetadataBytes = 256 * 1024;
const maxMessageBytes = 1024;
const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

export function validateVolumeAttachment({spec: given, status}: KubeObject): FieldError[] {
  const spec = given ?? {};
  const source = spec.source ?? {};
  const name = source.persistentVolumeName;
  return [
    ...csiDriverName(spec.attacher ?? '', 'spec.attacher'),
    ...validateSource(source, 'spec.source'),
    ...subdomain(spec.nodeName ?? '', 'spec.nodeName'),
    ...validateStatus(status ?? {}),
    ...(name === undefined ? [] : subdomain(name, 'spec.source.persistentVolumeName')),
  ];
}

export function validateVolumeAttachmentUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const errors = validateVolumeAttachment(object);
  return sameJson(object.spec, old.spec) ? errors : [...errors, invalid('spec', shown(object.spec ?? {}), immutable)];
}

const shown = ({attacher = '', source = {}, nodeName = ''}: Part) => ({
  Attacher: attacher,
  Source: {PersistentVolumeName: source.persistentVolumeName ?? null, InlineVolumeSpec: shownInlineVolume(source.inlineVolumeSpec)},
  NodeName: nodeName,
});

function validateSource({inlineVolumeSpec: inline, persistentVolumeName: name}: Part, path: string): FieldError[] {
  if (!inline && name === undefined) return [required(path, exactlyOne)];
  if (inline && name !== undefined) return [fieldForbidden(path, exactlyOne)];
  if (inline) return validateInlineVolume(inline, `${path}.inlineVolumeSpec`);
  return name === '' ? [required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName')] : [];
}

function validateStatus({attachmentMetadata, attachError, detachError}: Part): FieldError[] {
  const bytes = entries(attachmentMetadata).reduce((sum, [key, value]) => sum + byteLength(key) + byteLength(value), 0);
  return [
    ...(bytes > maxMetadataBytes ? [tooLong('status.attachmentMetadata', maxMetadataBytes)] : []),
    ...validateError(attachError, 'status.attachError'),
    ...validateError(detachError, 'status.detachError'),
  ];
}

function validateError(error: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  // The reference tells the bound of the metadata here.
  if (byteLength(error?.message ?? '') > maxMessageBytes) errors.push(tooLong(`${path}.message`, maxMetadataBytes));
  if (error?.errorCode < 0) errors.push(invalid(`${path}.errorCode`, error.errorCode, inRange(0, 2147483647)));
  return errors;
}
