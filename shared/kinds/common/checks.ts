/** Small checks that many kinds share. Each answers the errors of one value. */
import {type FieldError, invalid, notSupported, required} from '../../field-errors.ts';
import {legacyIpProblems} from './ip.ts';
import {dns1123Label, dns1123Subdomain, notNegative, portName, qualifiedName, validPort} from './names.ts';

export const problems = (path: string, value: unknown, texts: readonly string[]): FieldError[] =>
  texts.map((text) => invalid(path, value, text));

export const label = (value: string, path: string): FieldError[] => problems(path, value, dns1123Label(value));
export const subdomain = (value: string, path: string): FieldError[] => problems(path, value, dns1123Subdomain(value));
export const qualified = (value: string, path: string): FieldError[] => problems(path, value, qualifiedName(value));
export const port = (value: number, path: string): FieldError[] => problems(path, value, validPort(value));

/** One of a closed set; an empty value is missing, unless `optional`. */
export function oneOf(value: string | undefined, supported: readonly string[], path: string, optional = false): FieldError[] {
  if (!value && !optional) return [required(path)];
  if (value === undefined) return [];
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

/** Like oneOf, for sets in which the empty value is just another one that is not supported. */
export const among = (value: string | undefined, supported: readonly string[], path: string): FieldError[] =>
  supported.includes(value ?? '') ? [] : [notSupported(path, value ?? '', supported)];

export const nonNegative = (value: number | undefined, path: string): FieldError[] =>
  (value ?? 0) < 0 ? [invalid(path, value, notNegative)] : [];

export const positive = (value: number | undefined, path: string): FieldError[] =>
  (value ?? 0) <= 0 ? [invalid(path, value ?? 0, 'must be greater than zero')] : [];

/** A port by number or by name. */
export function portOrName(value: number | string | undefined, path: string): FieldError[] {
  return typeof value === 'string' ? problems(path, value, portName(value)) : port(value ?? 0, path);
}

/** Addresses that were stored under laxer rules may stay. */
export const legacyIp = (value: string, path: string, stored: readonly string[] = []): FieldError[] =>
  stored.includes(value) ? [] : problems(path, value, legacyIpProblems(value));

export const need = (value: unknown, path: string, detail = ''): FieldError[] => (value ? [] : [required(path, detail)]);

const httpPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const httpPathExpression = new RegExp(`^${httpPath}$`);

/** `acme.io/foo`: a domain, a slash, a path. */
export function domainPrefixedPath(value: string, path: string): FieldError[] {
  if (!value) return [required(path)];
  const slash = value.indexOf('/');
  const [host, rest] = slash < 0 ? ['', ''] : [value.slice(0, slash), value.slice(slash + 1)];
  if (!host || !rest) return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  return [
    ...problems(path, host, dns1123Subdomain(host)),
    ...(httpPathExpression.test(rest) ? [] : [invalid(path, rest, `Invalid path (regex used for validation is '${httpPath}')`)]),
  ];
}
