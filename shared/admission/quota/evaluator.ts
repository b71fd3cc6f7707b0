/** What an object of some type uses up, and which quotas have a say about it. The types that are only counted are here as well. */
import type {KubeObject} from '../../object.ts';
import type {AdmissionAttributes} from '../attributes.ts';
import type {Quantities} from './quantities.ts';

/** A quota may be for some of a type's objects only. `scopes` of a spec are requirements with the operator Exists. */
export interface ScopeRequirement {
  scopeName: string;
  operator: string;
  values?: string[];
}

export interface Evaluator {
  /** Whether this write can use up more than before. */
  handles(attributes: AdmissionAttributes): boolean;
  /** Whether a quota's limit of this name is one for objects of this type. */
  measures(name: string): boolean;
  usage(object: KubeObject, now: number): Quantities;
  /** Types without it are in no scope: quotas with scopes are not for them. */
  isInScope?(object: KubeObject, scope: ScopeRequirement): boolean;
  /** What an object must say before these limits can be applied to it; undefined when it does. */
  missing?(object: KubeObject, limits: readonly string[]): string | undefined;
}

/** A scope is a label that an object has with the value `value`, or does not have. */
export function matchesScope({operator, values = []}: ScopeRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'DoesNotExist':
      return value === undefined;
    default:
      return value !== undefined;
  }
}

export const countOf = ({group, resource}: {group: string; resource: string}): string =>
  `count/${group ? `${resource}.${group}` : resource}`;

/** Names from before any type could be counted. */
const plainCounts = new Set(['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets']);

export function counter(resource: {group: string; resource: string}): Evaluator {
  const names = [countOf(resource)];
  if (resource.group === '' && plainCounts.has(resource.resource)) names.push(resource.resource);
  const usage = Object.fromEntries(names.map((name) => [name, '1']));
  return {
    handles: ({operation, subresource}) => operation === 'CREATE' && subresource === '',
    measures: (name) => names.includes(name),
    usage: () => usage,
  };
}

export const onWrite = ({operation, subresource}: AdmissionAttributes): boolean =>
  subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
