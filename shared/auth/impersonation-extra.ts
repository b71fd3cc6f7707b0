/** Which extra fields the narrow modes of impersonation take: keys as they are kept, with values that say something. */
import {goQuote} from '../field-errors.ts';
import {dns1123Subdomain, patternText} from '../kinds/common/names.ts';

const httpPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const isHttpPath = new RegExp(`^${httpPath}$`);

/** What is wrong, in the reference's words. */
export function invalidExtra(extra: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const problems = domainPathProblems(key);
    if (problems.length > 0) {
      const all = problems.map(([value, text]) => `extra.key: Invalid value: ${goQuote(value)}: ${text}`);
      return `impersonating an invalid key in extra is not allowed: ${all.length === 1 ? all[0] : `[${all.join(', ')}]`}`;
    }
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${goQuote(key)}`;
    if (values.length === 0) return 'impersonating empty values in extra is not allowed';
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

function domainPathProblems(key: string): [value: string, text: string][] {
  const slash = key.indexOf('/');
  const host = key.slice(0, slash);
  const path = key.slice(slash + 1);
  if (slash <= 0 || path === '') return [[key, 'must be a domain-prefixed path (such as "acme.io/foo")']];
  const problems: [string, string][] = dns1123Subdomain(host).map((text) => [host, text]);
  if (!isHttpPath.test(path)) problems.push([path, patternText('Invalid path', httpPath)]);
  return problems;
}
