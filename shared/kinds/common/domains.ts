/** Domain names of two or more segments. */
import {type FieldError, invalid, required} from '../../field-errors.ts';
import {dns1123Label, dns1123Subdomain} from './names.ts';

/** At least three segments: the name of a webhook. */
export function qualifiedDomain(name: string, path: string): FieldError[] {
  if (!name) return [required(path)];
  const texts = dns1123Subdomain(name);
  if (texts.length) return [invalid(path, name, texts.join(','))];
  return name.split('.').length < 3 ? [invalid(path, name, 'should be a domain with at least three segments separated by dots')] : [];
}

/** At least two segments, each of them a label; a final dot is well. */
export function hostDomain(given: string, path: string): FieldError[] {
  if (!given) return [required(path)];
  const name = given.endsWith('.') ? given.slice(0, -1) : given;
  const texts = dns1123Subdomain(name);
  if (texts.length) return [invalid(path, name, texts.join(','))];
  const labels = name.split('.');
  if (labels.length < 2) return [invalid(path, name, 'should be a domain with at least two segments separated by dots')];
  const wrong = labels.find((label) => dns1123Label(label).length > 0);
  return wrong === undefined ? [] : [invalid(path, wrong, dns1123Label(wrong).join(','))];
}
