/** The algebra of policy rules: what one allows, and whether some rules cover others. Pure; whose rules they are is in rbac-index.ts. */
import {goQuote} from '../../field-errors.ts';
import type {Attributes} from '../user.ts';

export interface PolicyRule {
  verbs: readonly string[];
  apiGroups?: readonly string[];
  resources?: readonly string[];
  resourceNames?: readonly string[];
  nonResourceURLs?: readonly string[];
}

type Asked = Pick<Attributes, 'verb' | 'isResourceRequest' | 'apiGroup' | 'resource' | 'subresource' | 'path'>;

const none: readonly string[] = [];
const contains = (set: readonly string[] | undefined, wanted: string): boolean =>
  set !== undefined && (set.includes('*') || set.includes(wanted));

/** Everything but resourceNames: an allow may still be for some names only. */
export function ruleMatches(rule: PolicyRule, asked: Asked): boolean {
  if (!contains(rule.verbs, asked.verb)) return false;
  return asked.isResourceRequest
    ? contains(rule.apiGroups, asked.apiGroup) && resourceMatches(rule.resources ?? none, asked)
    : (rule.nonResourceURLs ?? none).some((url) => urlCovers(url, asked.path));
}

export const nameMatches = (rule: PolicyRule, name: string): boolean => !rule.resourceNames?.length || rule.resourceNames.includes(name);

function resourceMatches(resources: readonly string[], {resource, subresource}: Asked): boolean {
  const combined = subresource ? `${resource}/${subresource}` : resource;
  return contains(resources, combined) || (subresource !== '' && resources.includes(`*/${subresource}`));
}

function urlCovers(owner: string, path: string): boolean {
  return owner === path || (owner.endsWith('*') && path.startsWith(owner.replace(/\*+$/, '')));
}

/** The atoms of `wanted` that no rule of `held` covers; empty when all are. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(atoms).filter((atom) => !held.some((rule) => covers(rule, atom)));
}

/** Rules of one verb, one group and resource (or URL) and at most one name that together say the same. */
function atoms(rule: PolicyRule): PolicyRule[] {
  const all: PolicyRule[] = [];
  for (const group of rule.apiGroups ?? none)
    for (const resource of rule.resources ?? none)
      for (const verb of rule.verbs) {
        const atom = {apiGroups: [group], resources: [resource], verbs: [verb]};
        if (rule.resourceNames?.length) for (const name of rule.resourceNames) all.push({...atom, resourceNames: [name]});
        else all.push(atom);
      }
  for (const url of rule.nonResourceURLs ?? none) for (const verb of rule.verbs) all.push({nonResourceURLs: [url], verbs: [verb]});
  return all;
}

function covers(owner: PolicyRule, atom: PolicyRule): boolean {
  if (!contains(owner.verbs, atom.verbs[0]!)) return false;
  const url = atom.nonResourceURLs?.[0];
  if (url !== undefined) return (owner.nonResourceURLs ?? none).some((held) => urlCovers(held, url));
  return (
    contains(owner.apiGroups, atom.apiGroups![0]!) &&
    resourceCovers(owner.resources ?? none, atom.resources![0]!) &&
    nameCovers(owner, atom)
  );
}

function resourceCovers(resources: readonly string[], wanted: string): boolean {
  if (contains(resources, wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && resources.includes(`*${wanted.slice(slash)}`);
}

function nameCovers(owner: PolicyRule, atom: PolicyRule): boolean {
  if (!owner.resourceNames?.length) return true;
  return atom.resourceNames !== undefined && owner.resourceNames.includes(atom.resourceNames[0]!);
}

/** Atoms that differ by verb only become one rule each; those for URLs stay apart, as in the reference. */
export function compact(rules: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = rule.nonResourceURLs ? JSON.stringify(rule) : JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames]);
    const before = merged.get(key);
    merged.set(key, before && !rule.nonResourceURLs ? {...before, verbs: [...before.verbs, ...rule.verbs]} : rule);
  }
  return [...merged.values()];
}

/** A list of strings as Go prints it with %q. */
export const quoteList = (values: readonly string[]): string => `[${values.map(goQuote).join(' ')}]`;

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function describeRule(rule: PolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  return `{${parts
    .filter(([, values]) => values?.length)
    .map(([label, values]) => `${label}:${quoteList(values!)}`)
    .join(', ')}}`;
}
