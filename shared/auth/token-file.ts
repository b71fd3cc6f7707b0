/** `--token-auth-file`: CSV of token, user name, user uid and, quoted, a comma-separated list of groups. Reading the file is the caller's. */
import type {UserInfo} from './user.ts';

/**
 * @param csv the text of the file
 * @param path what the text was read from, for messages
 * @param warn hears of records that are skipped or shadow another
 * @throws Error for a record with too few columns, and for text that is not CSV
 */
export function parseTokenFile(csv: string, path = '', warn: (message: string) => void = () => {}): Map<string, UserInfo> {
  const tokens = new Map<string, UserInfo>();
  let number = 0;
  for (const record of records(csv)) {
    if (record.length < 3)
      throw new Error(`token file '${path}' must have at least 3 columns (token, user name, user uid), found ${record.length}`);
    number++;
    const [token, name, uid, groups] = record as [string, string, string, string?];
    if (token === '') {
      warn(`empty token has been found in token file '${path}', record number '${number}'`);
      continue;
    }
    if (tokens.has(token)) warn(`duplicate token has been found in token file '${path}', record number '${number}'`);
    // An empty fourth column is one group with an empty name, as in the reference.
    tokens.set(token, {name, ...(uid && {uid}), groups: groups === undefined ? [] : groups.split(',')});
  }
  return tokens;
}

/** RFC 4180 as Go reads it: empty lines are skipped, quotes inside a bare field are an error, a quoted field may span lines. */
function* records(csv: string): Generator<string[]> {
  const text = csv.replaceAll('\r\n', '\n');
  let at = 0;
  let line = 1;
  while (at < text.length) {
    if (text[at] === '\n') {
      at++;
      line++;
      continue;
    }
    const start = line;
    const fields: string[] = [];
    for (;;) {
      const lineStart = text.lastIndexOf('\n', at - 1) + 1;
      if (text[at] === '"') {
        let field = '';
        for (at++; ; at++) {
          if (at >= text.length) throw parseError(start, line, at - lineStart + 1, 'extraneous or missing " in quoted-field');
          if (text[at] === '\n') line++;
          if (text[at] !== '"') field += text[at];
          else if (text[at + 1] === '"') field += text[at++];
          else break;
        }
        at++;
        if (at < text.length && text[at] !== ',' && text[at] !== '\n')
          throw parseError(start, line, at - (text.lastIndexOf('\n', at - 1) + 1), 'extraneous or missing " in quoted-field');
        fields.push(field);
      } else {
        const begin = at;
        while (at < text.length && text[at] !== ',' && text[at] !== '\n') {
          if (text[at] === '"') throw parseError(start, line, at - lineStart + 1, 'bare " in non-quoted field');
          at++;
        }
        fields.push(text.slice(begin, at));
      }
      if (text[at] !== ',') break;
      at++;
    }
    at++;
    line++;
    yield fields;
  }
}

const parseError = (start: number, line: number, column: number, why: string): Error =>
  new Error(
    start === line
      ? `parse error on line ${line}, column ${column}: ${why}`
      : `record on line ${start}; parse error on line ${line}, column ${column}: ${why}`,
  );
