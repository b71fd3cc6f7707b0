/** Names of drivers' things: pools, attributes, capacities, and identifiers of shares. */
import {type FieldError, invalid, required, tooLong} from '../../field-errors.ts';
import {problems, subdomain} from '../common/checks.ts';
import {byteLength, cIdentifier} from '../common/names.ts';
import {csiDriverName} from '../common/volume-sources.ts';

const maxPoolBytes = 253;
const maxIdentifierBytes = 32;
/** A domain, a slash, an identifier. */
export const maxQualifiedBytes = 63 + 1 + maxIdentifierBytes;

export function poolName(name: string, path: string): FieldError[] {
  if (!name) return [required(path)];
  return [
    ...(byteLength(name) > maxPoolBytes ? [tooLong(path, maxPoolBytes)] : []),
    ...name.split('/').flatMap((part) => subdomain(part, path)),
  ];
}

const identifier = (name: string, path: string): FieldError[] => [
  ...(byteLength(name) > maxIdentifierBytes ? [tooLong(path, maxIdentifierBytes)] : []),
  ...problems(path, name, cIdentifier(name)),
];

/** `memory`, or `driver.example.com/memory`. */
export function qualifiedName(name: string, path: string): FieldError[] {
  const parts = name.split('/');
  if (parts.length === 1) return identifier(name, path);
  // More than one slash passes, as it does in the reference.
  if (parts.length > 2) return [];
  const [domain, rest] = parts as [string, string];
  return [
    ...(domain ? csiDriverName(domain, path) : [invalid(path, '', 'the domain must not be empty')]),
    ...(rest ? identifier(rest, path) : [invalid(path, '', 'the name must not be empty')]),
  ];
}

export const fullyQualifiedName = (name: string, path: string): FieldError[] => [
  ...qualifiedName(name, path),
  ...(name.includes('/') ? [] : [invalid(path, name, 'a fully qualified name must be a domain and a name separated by a slash')]),
];

export function shareId(uid: string, path: string): FieldError[] {
  const bare = uid.replace(/^urn:uuid:/i, '').replace(/^\{(.*)\}$/, '$1');
  const isUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(bare) || /^[0-9a-f]{32}$/i.test(uid);
  if (!isUuid) {
    const detail = [32, 36, 38, 45].includes(uid.length) ? 'invalid UUID format' : `invalid UUID length: ${uid.length}`;
    return [invalid(path, uid, `error validating uid: ${detail}`)];
  }
  const words = 'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';
  return uid.length === 36 && uid === uid.toLowerCase() ? [] : [invalid(path, uid, words)];
}
