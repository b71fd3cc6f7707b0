/** What a claim asks for: requests, or lists of them of which the first that can be had counts; constraints between them; settings. */
import {type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import {label, subdomain} from '../common/checks.ts';
import {list, type Part} from '../common/loose.ts';
import {validateList, validateSet} from './collections.validate.ts';
import {maxConfigurations, validateConfiguration, validateSelectors} from './configuration.validate.ts';
import {fullyQualifiedName} from './names.validate.ts';
import {validateToleration} from './taints.validate.ts';

export const maxRequests = 32;
const maxConstraints = 32;
const maxAlternatives = 8;
const allocationModes = ['All', 'ExactCount'];

export function validateClaimSpec(spec: Part, path: string): FieldError[] {
  const at = `${path}.devices`;
  const {requests, constraints, config} = spec?.devices ?? {};
  const names = requestNames(spec);
  return [
    ...validateSet(requests, maxRequests, `${at}.requests`, ({name}) => name ?? '', validateRequest),
    ...validateList(constraints, maxConstraints, `${at}.constraints`, (item, each) => validateConstraint(item, each, names)),
    ...validateList(config, maxConfigurations, `${at}.config`, (item, each) => [
      ...validateReferences(item.requests, `${each}.requests`, names),
      ...validateConfiguration(item, each),
    ]),
  ];
}

/** Requests by their names, alternatives as `request/alternative`. */
export function requestNames(spec: Part): ReadonlySet<string> {
  const names = list(spec?.devices?.requests).flatMap(({name = '', firstAvailable}) => [
    name,
    ...list(firstAvailable).map((alternative) => `${name}/${alternative.name ?? ''}`),
  ]);
  return new Set(names);
}

function validateRequest({name = '', exactly, firstAvailable}: Part, path: string): FieldError[] {
  const errors = label(name, `${path}.name`);
  const hasAlternatives = list(firstAvailable).length > 0;
  const words = 'exactly one of `exactly` or `firstAvailable` is required';
  if (!exactly && !hasAlternatives) return [...errors, required(path, words)];
  if (exactly && hasAlternatives) return [...errors, invalid(path, null, `${words}, but multiple fields are set`)];
  if (exactly) return [...errors, ...validateExact(exactly, `${path}.exactly`)];
  const check = (item: Part, at: string): FieldError[] => [...label(item.name ?? '', `${at}.name`), ...validateExact(item, at)];
  return [...errors, ...validateSet(firstAvailable, maxAlternatives, `${path}.firstAvailable`, (item) => item.name ?? '', check)];
}

const validateExact = (
  {deviceClassName: name, selectors, allocationMode = '', count = 0, tolerations}: Part,
  path: string,
): FieldError[] => [
  ...(name ? subdomain(name, `${path}.deviceClassName`) : [required(`${path}.deviceClassName`)]),
  ...validateSelectors(selectors, `${path}.selectors`),
  ...validateMode(allocationMode, count, path),
  ...list(tolerations).flatMap((toleration, index) => validateToleration(toleration, `${path}.tolerations[${index}]`)),
];

function validateMode(mode: string, count: number, path: string): FieldError[] {
  if (mode === 'All') return count === 0 ? [] : [invalid(`${path}.count`, count, "must not be specified when allocationMode is 'All'")];
  if (mode === 'ExactCount') return count > 0 ? [] : [invalid(`${path}.count`, count, 'must be greater than zero')];
  return [notSupported(`${path}.allocationMode`, mode, allocationModes)];
}

function validateConstraint({requests, matchAttribute, distinctAttribute}: Part, path: string, names: ReadonlySet<string>): FieldError[] {
  const errors = validateReferences(requests, `${path}.requests`, names);
  if (matchAttribute !== undefined) return [...errors, ...fullyQualifiedName(matchAttribute, `${path}.matchAttribute`)];
  if (distinctAttribute !== undefined) return [...errors, ...fullyQualifiedName(distinctAttribute, `${path}.distinctAttribute`)];
  const words = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [...errors, required(path, words)];
}

export const validateReferences = (references: Part, path: string, names: ReadonlySet<string>): FieldError[] =>
  validateSet(
    references,
    maxRequests,
    path,
    (name) => name,
    (name, at) => validateReference(name, at, names),
  );

export function validateReference(name: string, path: string, names: ReadonlySet<string>): FieldError[] {
  const words = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  const segments = name.split('/');
  if (segments.length > 2) return [invalid(path, name, words)];
  return [...segments.flatMap((segment) => label(segment, path)), ...(names.has(name) ? [] : [invalid(path, name, words)])];
}
