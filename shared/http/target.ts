/** The request target: path and query as the API wants them. Pure; what the path means is the API's affair. */

export type Query = readonly (readonly [name: string, value: string])[];

export interface Target {
  path: string;
  query: Query;
  search: string;
}

const noQuery: Query = [];
const brokenEscape = /%(?![0-9A-Fa-f]{2})/;

/** Undefined for what is no path at all, or carries a broken escape: the HTTP server's own 400, as the reference has it. */
export function parseTarget(target: string): Target | undefined {
  let text = target;
  if (text.charCodeAt(0) !== 0x2f /* / */) {
    const absolute = /^https?:\/\/[^/?]*(.*)$/i.exec(text);
    if (!absolute) return undefined;
    text = absolute[1]!.startsWith('/') ? absolute[1]! : `/${absolute[1]!}`;
  }
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  if (path.includes('%') && brokenEscape.test(path)) return undefined;
  const search = mark < 0 ? '' : text.slice(mark + 1);
  return {path, query: mark < 0 ? noQuery : parseQuery(search), search};
}

/** Pairs with a broken escape or a semicolon are dropped, the others count: `?limit=%zz` is no limit. */
export function parseQuery(text: string): Query {
  const pairs: [string, string][] = [];
  for (const part of text.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals));
    const value = equals < 0 ? '' : decode(part.slice(equals + 1));
    if (name !== undefined && value !== undefined) pairs.push([name, value]);
  }
  return pairs;
}

function decode(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  if (brokenEscape.test(spaced)) return undefined;
  try {
    return decodeURIComponent(spaced);
  } catch {
    // Escapes that are no UTF-8: the bytes count, as far as a string can hold them.
    return Buffer.from(
      spaced.replace(/[^%]+|%([0-9A-Fa-f]{2})/g, (run, hex?: string) => hex ?? Buffer.from(run).toString('hex')),
      'hex',
    ).toString();
  }
}
