/** The headers by which somebody asks to act as somebody else, read but not yet allowed (see impersonate.ts). */
import {badRequest} from '../errors.ts';
import {goQuote} from '../field-errors.ts';
import type {ApiRequest} from '../http/messages.ts';
import type {UserInfo} from './user.ts';

const userHeader = 'impersonate-user';
const uidHeader = 'impersonate-uid';
const groupHeader = 'impersonate-group';
const extraPrefix = 'impersonate-extra-';

type Headers = ApiRequest['headers'];

/** Cheap enough for every request. */
export function impersonates(headers: Headers): boolean {
  for (const name in headers) if (name.charCodeAt(0) === 105 && name.startsWith('impersonate-')) return true;
  return false;
}

/**
 * The user that the headers describe; undefined when they name none.
 * @throws StatusError 400 for a group, uid or extra without a user
 */
export function wantedUser(headers: Headers): UserInfo | undefined {
  const name = headers[userHeader] ?? '';
  const uid = headers[uidHeader] ?? '';
  const groups = headers[groupHeader] === undefined ? undefined : repeated(headers[groupHeader]);
  let extra: Record<string, string[]> | undefined;
  for (const [header, value] of Object.entries(headers)) {
    if (value === undefined || !header.startsWith(extraPrefix)) continue;
    extra ??= Object.create(null) as Record<string, string[]>;
    extra[unescapeKey(header.slice(extraPrefix.length))] = repeated(value);
  }
  if (name !== '') return {name, ...(uid && {uid}), groups: groups ?? [], ...(extra && {extra})};
  if (uid || groups || extra) throw badRequest(`requested ${goUser(uid, groups, extra)} without impersonating a user name`);
  return undefined;
}

/** Repeated headers arrive joined with a comma and a space; a comma alone is part of a value. */
const repeated = (value: string): string[] => value.split(', ');

/** Header names are case-insensitive and narrow: keys are lower case and percent-encoded. What does not decode stays as it is. */
function unescapeKey(encoded: string): string {
  const lower = encoded.toLowerCase();
  try {
    return decodeURIComponent(lower);
  } catch {
    return lower;
  }
}

/** The user as Go prints a struct: the reference's message shows it. */
function goUser(
  uid: string,
  groups: readonly string[] | undefined,
  extra: Readonly<Record<string, readonly string[]>> | undefined,
): string {
  const list = (values: readonly string[]) => `[]string{${values.map(goQuote).join(', ')}}`;
  const map = Object.entries(extra ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${goQuote(key)}:${list(values)}`);
  const printedGroups = groups ? list(groups) : '[]string(nil)';
  const printedExtra = extra ? `map[string][]string{${map.join(', ')}}` : 'map[string][]string(nil)';
  return `&user.DefaultInfo{Name:"", UID:${goQuote(uid)}, Groups:${printedGroups}, Extra:${printedExtra}}`;
}
