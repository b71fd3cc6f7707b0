/** Whether a block of service addresses is well formed: one, or one of each family. A second may be added later, nothing else. */
import {type FieldError, invalid, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {problems} from '../common/checks.ts';
import {cidrProblems, parseCidr} from '../common/ip.ts';
import {list} from '../common/loose.ts';
import {immutable} from '../common/metadata.ts';

const path = 'spec.cidrs';

export function validateServiceCIDR({spec}: KubeObject): FieldError[] {
  const cidrs: string[] = list(spec?.cidrs);
  if (cidrs.length === 0) return [required(path, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalid(path, {CIDRs: cidrs}, 'may only hold up to 2 values')];
  const errors = cidrs.flatMap((cidr, index) => problems(`${path}[${index}]`, cidr, cidrProblems(cidr)));
  const [one, other] = cidrs.map((cidr) => parseCidr(cidr)?.[0].kind());
  if (one !== undefined && one === other)
    errors.push(invalid(path, cidrs, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'));
  return errors;
}

export function validateServiceCIDRUpdate(object: KubeObject, old: KubeObject, subresource = ''): FieldError[] {
  if (subresource === 'status') return [];
  const [cidrs, before]: string[][] = [list(object.spec?.cidrs), list(old.spec?.cidrs)];
  const kept = (index: number): FieldError[] =>
    cidrs![index] === before![index] ? [] : [invalid(`${path}[${index}]`, cidrs![index], immutable)];
  if (cidrs!.length === before!.length) return before!.flatMap((_cidr, index) => kept(index));
  if (before!.length === 1 && cidrs!.length === 2) return [...kept(0), ...validateServiceCIDR(object)];
  return [invalid(path, object.spec?.cidrs, immutable)];
}
