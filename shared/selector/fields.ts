/** Field selectors: their query language, and the question to a stored item's key and index that they become. */
import {badRequest} from '../errors.ts';
import type {Index} from '../storage/contract.ts';
import {indexedName, type SelectableResource} from './selectable-fields.ts';

export interface FieldRequirement {
  /** As the index calls it. */
  field: string;
  operator: '=' | '!=';
  value: string;
}

/** All must hold. Sorted by their text. */
export type FieldRequirements = readonly FieldRequirement[];
export type FieldMatcher = (item: {key: string; index: Index}) => boolean;

/** `metadata.name=a,spec.nodeName!=b`. @throws StatusError 400 when it does not parse, or names a field that the type does not offer */
export function parseFieldSelector(text: string, resource: SelectableResource): FieldRequirements {
  const terms = splitTerms(text).sort();
  const requirements: FieldRequirement[] = [];
  for (const term of terms) {
    if (term === '') continue;
    const parts = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (!parts) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator, raw = ''] = parts;
    const value = unescapeValue(raw);
    // The reference takes a lone operator for no requirement at all.
    if (field !== '' || value !== '') requirements.push({field, operator: operator === '!=' ? '!=' : '=', value});
  }
  // A second pass: nothing is said about fields before the whole text has parsed.
  return requirements.map((requirement) => {
    const indexed = indexedName(requirement.field, resource);
    if ('refusal' in indexed) throw badRequest(indexed.refusal);
    return {...requirement, field: indexed.name};
  });
}

/** `namespaced` says how the key reads: `namespace/name` or `name`. A field that the index does not hold is empty. */
export function fieldMatcher(requirements: FieldRequirements, namespaced: boolean): FieldMatcher {
  const matchers = requirements.map(({field, operator, value}): FieldMatcher => {
    const read = reader(field, namespaced);
    return operator === '=' ? (item) => read(item) === value : (item) => read(item) !== value;
  });
  const [first, ...rest] = matchers;
  if (!first) return () => true;
  return rest.length === 0 ? first : (item) => first(item) && rest.every((matches) => matches(item));
}

/** The one value that a field must have, where the selector says so: a list by name is a read of one object. */
export const requiredValue = (requirements: FieldRequirements, field: string): string | undefined =>
  requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;

/** The canonical form, as authorizers see it. */
export const printFieldSelector = (requirements: FieldRequirements): string =>
  requirements.map(({field, operator, value}) => `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`).join(',');

function reader(field: string, namespaced: boolean): (item: {key: string; index: Index}) => string {
  if (field === 'metadata.name') return namespaced ? ({key}) => key.slice(key.indexOf('/') + 1) : ({key}) => key;
  if (field === 'metadata.namespace') return namespaced ? ({key}) => key.slice(0, key.indexOf('/')) : () => '';
  return ({index}) => index.fields?.[field] ?? '';
}

/** At commas; an escaped one belongs to its value. */
function splitTerms(text: string): string[] {
  if (!text.includes('\\')) return text.split(',');
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeValue(text: string): string {
  return text.replace(/\\(.)?|=/gsu, (found, escaped: string | undefined) => {
    if (found === '=') throw badRequest('invalid field selector: unescaped character in value: 61');
    if (escaped !== '\\' && escaped !== ',' && escaped !== '=')
      throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped ?? ''}`);
    return escaped;
  });
}
