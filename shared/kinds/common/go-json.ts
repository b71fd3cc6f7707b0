/** What Go's JSON decoder says of a text that should be an object: its words for the mistakes that people make. */

/** Undefined for a JSON object (or null). */
export function jsonProblem(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
    const kind = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    return `json: cannot unmarshal ${kind} into Go value of type map[string]interface {}`;
  } catch {
    return syntaxProblem(text);
  }
}

function syntaxProblem(text: string): string {
  const trimmed = text.trimStart();
  if (trimmed === '') return 'unexpected end of JSON input';
  const first = String.fromCodePoint(trimmed.codePointAt(0)!);
  const quoted = first === "'" ? `'\\''` : first === '"' ? `'"'` : `'${first}'`;
  if (!/[[{"\-0-9tfn]/.test(first)) return `invalid character ${quoted} looking for beginning of value`;
  const balanced = [...trimmed].reduce((depth, char) => depth + ('{['.includes(char) ? 1 : '}]'.includes(char) ? -1 : 0), 0);
  if (balanced > 0) return 'unexpected end of JSON input';
  if (first === '{') {
    const next = trimmed.slice(1).trimStart();
    if (next && next[0] !== '"' && next[0] !== '}') return `invalid character '${next[0]}' looking for beginning of object key string`;
  }
  return 'invalid character in JSON';
}
