/** Warning headers (RFC 7234, 5.5): one for each text, bounded as the reference bounds them. */

const maxTextLength = 256;
const maxTotalLength = 4_096;

export function warningHeaders(texts: readonly string[]): string[] {
  const unique = [...new Set(texts)];
  const total = unique.reduce((sum, text) => sum + text.length, 0);
  const shorten = total > maxTotalLength;
  const headers: string[] = [];
  let length = 0;
  for (const text of unique) {
    const header = format(shorten ? text.slice(0, maxTextLength) : text);
    length += header.length;
    if (length > maxTotalLength * 2) break;
    headers.push(header);
  }
  return headers;
}

/** What every request for a resource that is on its way out is told. */
const deprecations: Record<string, string> = {
  '/v1/componentstatuses': 'v1 ComponentStatus is deprecated in v1.19+',
  '/v1/endpoints': 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
};

export const deprecationOf = (resource: {group: string; version: string; resource: string}): string | undefined =>
  deprecations[`${resource.group}/${resource.version}/${resource.resource}`];

/** Header values are a line of bytes: what is not printable ASCII is escaped or dropped. */
function format(text: string): string {
  let quoted = '';
  for (const char of text) {
    if (char === '"' || char === '\\') quoted += `\\${char}`;
    else if (char === '\n' || char === '\t' || char === '\r') quoted += ' ';
    else if (char >= ' ' && char <= '~') quoted += char;
    else quoted += encodeUtf8(char);
  }
  return `299 - "${quoted}"`;
}

/** Node writes header strings as latin1: spell the UTF-8 bytes out so that the wire carries UTF-8. */
const encodeUtf8 = (char: string): string => (char < '\u0020' || char === '\u007f' ? '' : Buffer.from(char).toString('latin1'));
