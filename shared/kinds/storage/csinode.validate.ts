/** Whether what a node tells of its storage drivers is well formed. A driver that stays keeps all but its bound on volumes. */
import {duplicate, type FieldError, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {nonNegative, qualified} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {list, type Part} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';
import {byteLength} from '../common/names.ts';
import {csiDriverName} from '../common/volume-sources.ts';

const path = 'spec.drivers';
const maxNodeIdBytes = 256;

export function validateCSINode({spec}: KubeObject): FieldError[] {
  const names = new Set<string>();
  return list(spec?.drivers).flatMap((driver, index) => {
    const errors = validateDriver(driver, `${path}[${index}]`, names.has(driver.name ?? ''));
    names.add(driver.name ?? '');
    return errors;
  });
}

export function validateCSINodeUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const errors = validateCSINode(object);
  for (const before of list(old.spec?.drivers))
    for (const driver of list(object.spec?.drivers))
      if (before.name === driver.name && !sameJson(fixedPart(driver), fixedPart(before)))
        errors.push(invalid(path, fixedPart(driver), immutable));
  return errors;
}

const fixedPart = ({name = '', nodeID = '', topologyKeys}: Part) => ({
  Name: name,
  NodeID: nodeID,
  TopologyKeys: topologyKeys ?? null,
  Allocatable: null,
});

function validateDriver({name = '', nodeID = '', allocatable, topologyKeys}: Part, at: string, isKnown: boolean): FieldError[] {
  const errors = csiDriverName(name, `${at}.name`);
  if (!nodeID) errors.push(required(`${at}.nodeID`));
  if (byteLength(nodeID) > maxNodeIdBytes) errors.push(invalid(`${at}.nodeID`, nodeID, `must be ${maxNodeIdBytes} characters or less`));
  errors.push(...nonNegative(allocatable?.count, `${at}.allocatable.count`));
  if (isKnown) errors.push(duplicate(`${at}.name`, name));
  const keys = new Set<string>();
  for (const key of list(topologyKeys)) {
    if (!key) errors.push(required(at));
    if (keys.has(key)) errors.push(duplicate(at, key));
    keys.add(key);
    errors.push(...qualified(key, at));
  }
  return errors;
}
