/** Whether a node is well formed. Its address ranges and provider, once known, stay. */
import {duplicate, type FieldError, fieldForbidden, invalid} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {positive, problems} from '../common/checks.ts';
import {ipFamily, legacyCidrProblems} from '../common/ip.ts';
import {entries, list} from '../common/loose.ts';
import {quantityValue} from '../common/resources.ts';
import {taints} from '../common/scheduling.ts';

const resources = ({status}: KubeObject): FieldError[] =>
  ['capacity', 'allocatable'].flatMap((field) =>
    entries(status?.[field]).flatMap(([name, value]) => quantityValue(name, value, `status.${field}.${name}`)),
  );

export function validateNode(object: KubeObject): FieldError[] {
  const errors = [...taints(object.spec?.taints, 'metadata.taints'), ...resources(object)];
  const swap = object.status?.nodeInfo?.swap?.capacity;
  if (swap !== undefined) errors.push(...positive(swap, 'metadata.nodeSwapStatus.capacity'));
  const blocks: string[] = list(object.spec?.podCIDRs);
  for (const [index, block] of blocks.entries()) errors.push(...problems(`spec.podCIDRs[${index}]`, block, legacyCidrProblems(block)));
  const families = new Set(blocks.map((block) => ipFamily(block.split('/')[0]!)));
  if (blocks.length > 1 && (families.size === 1 || blocks.length > 2))
    errors.push(invalid('spec.podCIDRs', blocks, 'may specify no more than one CIDR for each IP family'));
  return errors;
}

export function validateNodeUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const errors = [...validateNode(object), ...resources(object)];
  const seen = new Set<string>();
  for (const [index, {type = '', address = ''}] of list(object.status?.addresses).entries()) {
    const key = `${type} ${address}`;
    if (seen.has(key)) errors.push(duplicate(`status.addresses[${index}]`, {Type: type, Address: address}));
    seen.add(key);
  }
  const [after, before] = [object.spec ?? {}, old.spec ?? {}];
  const blocks = list(before.podCIDRs);
  const words = 'node updates may not change podCIDR except from "" to valid';
  if (blocks.length && blocks.length !== list(after.podCIDRs).length) errors.push(fieldForbidden('spec.podCIDRs', words));
  else
    for (const [index, block] of blocks.entries()) if (block !== after.podCIDRs[index]) errors.push(fieldForbidden('spec.podCIDRs', words));
  if (before.providerID && before.providerID !== after.providerID)
    errors.push(fieldForbidden('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  errors.push(...taints(after.taints, 'metadata.taints'));
  if ((after.externalID ?? '') !== (before.externalID ?? '')) errors.push(fieldForbidden('spec.externalID', 'may not be updated'));
  return errors;
}
