/**
 * Formats of names: each check answers the texts of what is wrong, none when all is well. The words are the reference's, doubled spaces
 * included. Which rule a kind follows is in its strategy; what else stands in metadata is in metadata.ts.
 */
import type {NameRule} from '../strategy.ts';
import {ipProblems} from './ip.ts';

const utf8 = new TextEncoder();
/** Lengths count bytes, as Go does; a short ASCII text needs no encoding. */
export const byteLength = (text: string): number => (/^[\0-\x7f]*$/.test(text) ? text.length : utf8.encode(text).length);

export const maxLength = (length: number): string => `must be no more than ${length} characters`;
export const maxBytes = (length: number): string => `must be no more than ${length} bytes`;
export const inRange = (low: number | string, high: number | string): string => `must be between ${low} and ${high}, inclusive`;
export const notNegative = 'must be greater than or equal to 0';

/** Every rule names its pattern and gives examples, each followed by a comma and a blank: so the reference prints them. */
export function patternText(words: string, pattern: string, ...examples: string[]): string {
  const samples = examples.length ? `e.g. ${examples.map((example) => `'${example}', `).join(' or ')}` : '';
  return `${words} (${samples}regex used for validation is '${pattern}')`;
}

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const labelKey = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${labelKey})?`;
const underscored = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const subdomainUnderscored = `${underscored}(\\.${underscored})*`;

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);
const labelExpression = whole(label);
const subdomainExpression = whole(subdomain);
const label1035Expression = whole(label1035);
const labelKeyExpression = whole(labelKey);
const labelValueExpression = whole(labelValue);
const subdomainUnderscoredExpression = whole(subdomainUnderscored);

export function dns1123Label(value: string): string[] {
  const problems = byteLength(value) > 63 ? [maxLength(63)] : [];
  if (labelExpression.test(value)) return problems;
  problems.push(
    subdomainExpression.test(value)
      ? 'must not contain dots'
      : patternText(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
          label,
          'my-name',
          '123-abc',
        ),
  );
  return problems;
}

export function dns1123Subdomain(value: string): string[] {
  const problems = byteLength(value) > 253 ? [maxLength(253)] : [];
  if (!subdomainExpression.test(value))
    problems.push(
      patternText(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        subdomain,
        'example.com',
      ),
    );
  return problems;
}

/** The same where a rule is declared with the field instead of written by hand: other words for too long. */
export const longName = (value: string): string[] =>
  dns1123Subdomain(value).map((problem) => (problem === maxLength(253) ? maxBytes(253) : problem));

export function dns1123SubdomainWithUnderscore(value: string): string[] {
  const problems = byteLength(value) > 253 ? [maxLength(253)] : [];
  if (!subdomainUnderscoredExpression.test(value))
    problems.push(
      patternText(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character",
        subdomainUnderscored,
        'example.com',
      ),
    );
  return problems;
}

export function dns1035Label(value: string): string[] {
  const problems = byteLength(value) > 63 ? [maxLength(63)] : [];
  if (!label1035Expression.test(value))
    problems.push(
      patternText(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        label1035,
        'my-name',
        'abc-123',
      ),
    );
  return problems;
}

export function wildcardSubdomain(value: string): string[] {
  const pattern = `\\*\\.${subdomain}`;
  const problems = byteLength(value) > 253 ? [maxLength(253)] : [];
  if (!whole(pattern).test(value))
    problems.push(
      patternText(
        "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
        pattern,
        '*.example.com',
      ),
    );
  return problems;
}

/** The key of a label: an optional DNS prefix, a slash, a name. Annotations, finalizers and conditions follow it too. */
export function qualifiedName(value: string): string[] {
  const words = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const parts = value.split('/');
  if (parts.length > 2)
    return [
      `a valid label key ${patternText(words, labelKey, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const problems: string[] = [];
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    if (parts[0] === '') problems.push('prefix part must be non-empty');
    else for (const text of subdomainBytes(parts[0]!)) problems.push(`prefix part ${text}`);
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (byteLength(name) > 63) problems.push(`name part ${maxBytes(63)}`);
  if (!labelKeyExpression.test(name)) problems.push(`name part ${patternText(words, labelKey, 'MyName', 'my.name', '123-abc')}`);
  return problems;
}

/** The prefix of a label key is measured in bytes, and says so. */
const subdomainBytes = (value: string): string[] => dns1123Subdomain(value).map((text) => (text === maxLength(253) ? maxBytes(253) : text));

export function validLabelValue(value: string): string[] {
  const problems = byteLength(value) > 63 ? [maxBytes(63)] : [];
  if (!labelValueExpression.test(value))
    problems.push(
      patternText(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        labelValue,
        'MyValue',
        'my_value',
        '12345',
      ),
    );
  return problems;
}

/** What can stand in a path. On purpose without a check of length or emptiness. */
export function pathSegment(value: string, prefix = false): string[] {
  if (!prefix && (value === '.' || value === '..')) return [`may not be '${value}'`];
  return ['/', '%'].filter((text) => value.includes(text)).map((text) => `may not contain '${text}'`);
}

export const validPort = (port: number): string[] => (port >= 1 && port <= 65535 ? [] : [inRange(1, 65535)]);
/** User and group ids. */
export const validId = (id: number): string[] => (id >= 0 && id <= 2147483647 ? [] : [inRange(0, 2147483647)]);

export function portName(name: string): string[] {
  const problems: string[] = [];
  if (byteLength(name) > 15) problems.push(maxLength(15));
  if (!/^[-a-z0-9]+$/.test(name)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

export const percent = (text: string): string[] =>
  /^[0-9]+%$/.test(text)
    ? []
    : [patternText("a valid percent string must be a numeric string followed by an ending '%'", '[0-9]+%', '1%', '93%')];

export const httpHeaderName = (name: string): string[] =>
  /^[-A-Za-z0-9]+$/.test(name)
    ? []
    : [patternText("a valid HTTP header must consist of alphanumeric characters or '-'", '[-A-Za-z0-9]+', 'X-Header-Name')];

/** Environment variables may be any printable ASCII except `=`. */
export function environmentName(name: string): string[] {
  if (name === '') return ['environment variable name must be non-empty'];
  return /^[\x20-\x3c\x3e-\x7e]*$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

export const cIdentifier = (name: string): string[] =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
    ? []
    : [
        patternText(
          "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
          '[A-Za-z_][A-Za-z0-9_]*',
          'my_name',
          'MY_NAME',
          'MyName',
        ),
      ];

/** Keys of config maps and secrets become file names. */
export function configMapKey(key: string): string[] {
  const problems = byteLength(key) > 253 ? [maxLength(253)] : [];
  if (!/^[-._a-zA-Z0-9]+$/.test(key))
    problems.push(
      patternText(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        '[-._a-zA-Z0-9]+',
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    );
  if (key === '.') problems.push("must not be '.'");
  else if (key === '..') problems.push("must not be '..'");
  else if (key.startsWith('..')) problems.push("must not start with '..'");
  return problems;
}

/** A generateName ends in a dash that the suffix will follow: check as if it did. */
const maskTrailingDash = (name: string): string => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name);

/** The problems of a name (or, with `prefix`, of a generateName) under a kind's rule. */
export function nameProblems(rule: NameRule | undefined, name: string, prefix = false): string[] {
  if (typeof rule === 'function') return rule(name, prefix);
  const text = prefix ? maskTrailingDash(name) : name;
  switch (rule) {
    case 'dns1123Label':
      return dns1123Label(text);
    case 'dns1035Label':
      return dns1035Label(text);
    case 'longName':
      return longName(text);
    case 'pathSegment':
      return pathSegment(name);
    case 'ip':
      return ipProblems(name);
    default:
      return dns1123Subdomain(text);
  }
}
