/** Which address families a service gets: from what it asks, from what it had, from what the cluster can do. Pure. */
import {type FieldError, invalid} from '../../field-errors.ts';
import {sameJson} from '../../kinds/common/equal.ts';
import {ipFamily} from '../../kinds/common/ip.ts';
import {list, type Part} from '../../kinds/common/loose.ts';
import {isHeadless, validateClusterIps} from '../../kinds/core/service.validate.ts';
import type {Family} from './ranges.ts';

const other = (family: Family): Family => (family === 'IPv4' ? 'IPv6' : 'IPv4');

/** An unchanged service that prefers two families keeps what it got, even when the cluster has learned another since. */
export function keepsPreferred(spec: Part, old: Part | undefined): boolean {
  if (!old || spec.ipFamilyPolicy !== 'PreferDualStack' || spec.type !== old.type || spec.type === 'ExternalName') return false;
  if (old.ipFamilyPolicy !== undefined && old.ipFamilyPolicy !== 'PreferDualStack') return false;
  return sameIps(spec, old) && sameJson(spec.ipFamilies, old.ipFamilies);
}

const sameIps = (spec: Part, old: Part): boolean => spec.clusterIP === old.clusterIP && sameJson(spec.clusterIPs, old.clusterIPs);

/** Fills ipFamilyPolicy and ipFamilies of a new or changed service. Answers what stands against it. */
export function settleFamilies(spec: Part, old: Part | undefined, configured: readonly Family[]): FieldError[] {
  if (spec.type === 'ExternalName' || keepsPreferred(spec, old)) return [];
  const anyEndpoints = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  // Without a selector the endpoints can be of any family: nobody here knows better.
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (anyEndpoints ? 'RequireDualStack' : 'SingleStack');
  const malformed = validateClusterIps(spec, old);
  if (malformed.length) return malformed;
  const policy: string = spec.ipFamilyPolicy;
  const errors = old ? reduced(spec, old, policy) : [];
  const at = 'spec.ipFamilyPolicy';
  if (policy === 'SingleStack') {
    const words = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
    if (list(spec.clusterIPs).length === 2) errors.push(invalid(at, policy, `${words} cluster IPs are specified`));
    if (list(spec.ipFamilies).length === 2) errors.push(invalid(at, policy, `${words} IP families are specified`));
  }
  for (const [index, ip] of list(spec.clusterIPs).entries()) {
    if (ip === 'None') break;
    const family = ipFamily(ip);
    if (index < list(spec.ipFamilies).length) continue;
    if (configured.includes(family)) spec.ipFamilies = [...list(spec.ipFamilies), family];
    else errors.push(invalid(`spec.clusterIPs[${index}]`, spec.clusterIPs, `${family} is not configured on this cluster`));
  }
  if (errors.length) return errors;
  if (anyEndpoints) {
    fill(spec, policy, configured, true);
    return [];
  }
  if (policy === 'RequireDualStack' && configured.length < 2)
    errors.push(invalid(at, policy, 'this cluster is not configured for dual-stack services'));
  for (const [index, family] of list(spec.ipFamilies).entries())
    if (!configured.includes(family)) errors.push(invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'));
  if (!errors.length) fill(spec, policy, configured, configured.length === 2);
  return errors;
}

function fill(spec: Part, policy: string, configured: readonly Family[], second: boolean): void {
  const families: Family[] = list(spec.ipFamilies).length ? [...spec.ipFamilies] : [configured[0]!];
  if (policy !== 'SingleStack' && families.length === 1 && second) families.push(other(families[0]!));
  spec.ipFamilies = families;
}

/** To give the second family up one says SingleStack; then what was left as it was follows by itself. */
function reduced(spec: Part, old: Part, policy: string): FieldError[] {
  if (policy === 'SingleStack') {
    if (sameIps(spec, old) && list(spec.clusterIPs).length > 1) spec.clusterIPs = spec.clusterIPs.slice(0, 1);
    if (sameJson(spec.ipFamilies, old.ipFamilies) && list(spec.ipFamilies).length > 1) spec.ipFamilies = spec.ipFamilies.slice(0, 1);
    return [];
  }
  const errors: FieldError[] = [];
  const shrunk = (field: string): boolean => {
    const [now, before]: [string[], string[]] = [list(spec[field]), list(old[field])];
    return now.length > 0 && now.length === before.length - 1 && now.every((item, index) => item === before[index]);
  };
  if (shrunk('clusterIPs') && !isHeadless(spec))
    errors.push(invalid('spec.ipFamilyPolicy', policy, "must be 'SingleStack' to release the secondary cluster IP"));
  if (shrunk('ipFamilies')) errors.push(invalid('spec.ipFamilyPolicy', policy, "must be 'SingleStack' to release the secondary IP family"));
  return errors;
}
