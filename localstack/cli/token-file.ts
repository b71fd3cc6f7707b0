/** `--token-auth-file`: CSV of token, user name, user uid and, quoted, a comma-separated list of groups. */
import {readFile} from 'node:fs/promises';
import type {UserInfo} from '../../shared/auth/user.ts';
import {Refusal} from './fail.ts';

/** @throws Refusal that names the file and the line */
export async function readTokenFile(path: string): Promise<Map<string, UserInfo>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Refusal(`--token-auth-file: cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
  return parseTokens(text, path);
}

export function parseTokens(text: string, path: string): Map<string, UserInfo> {
  const tokens = new Map<string, UserInfo>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const fields = csvFields(line);
    if (!fields) throw new Refusal(`--token-auth-file: ${path}:${index + 1}: unbalanced quotes`);
    const [token = '', name = '', uid = '', groups = ''] = fields;
    if (fields.length < 3) {
      throw new Refusal(
        `--token-auth-file: ${path}:${index + 1}: must have at least 3 columns (token, user name, user uid), found ${fields.length}`,
      );
    }
    if (token === '') throw new Refusal(`--token-auth-file: ${path}:${index + 1}: empty token`);
    tokens.set(token, {
      name,
      ...(uid && {uid}),
      groups: [
        ...groups
          .split(',')
          .map((group) => group.trim())
          .filter(Boolean),
        'system:authenticated',
      ],
    });
  }
  return tokens;
}

function csvFields(line: string): string[] | undefined {
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    while (line[at] === ' ') at++;
    if (line[at] === '"') {
      let field = '';
      for (at++; ; at++) {
        if (at >= line.length) return undefined;
        if (line[at] !== '"') field += line[at];
        else if (line[at + 1] === '"') field += line[at++];
        else break;
      }
      fields.push(field);
      at = line.indexOf(',', at);
    } else {
      const end = line.indexOf(',', at);
      fields.push(line.slice(at, end < 0 ? undefined : end).trim());
      at = end;
    }
    if (at < 0) return fields;
    at++;
  }
}
