/** Whether the room that a driver tells of is well formed. Where and of which class stays. */
import {type FieldError, invalid} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {subdomain} from '../common/checks.ts';
import {validateLabelSelector} from '../common/labels.ts';
import {validateImmutable} from '../common/metadata.ts';
import {notNegative} from '../common/names.ts';
import {nanos} from '../common/quantity.ts';

export const validateCSIStorageCapacity = (object: KubeObject): FieldError[] => validate(object, false);

const validate = (object: KubeObject, lenientValues: boolean): FieldError[] => [
  ...validateLabelSelector(object.nodeTopology, 'nodeTopology', {lenientValues}),
  ...subdomain(object.storageClassName ?? '', 'storageClassName'),
  ...(nanos(object.capacity) < 0n ? [invalid('capacity', String(object.capacity), notNegative)] : []),
];

export const validateCSIStorageCapacityUpdate = (object: KubeObject, old: KubeObject): FieldError[] => [
  ...validate(object, validateLabelSelector(old.nodeTopology, '').length > 0),
  ...validateImmutable(object.nodeTopology, old.nodeTopology, 'nodeTopology'),
  ...validateImmutable(object.storageClassName ?? '', old.storageClassName ?? '', 'storageClassName'),
];
