/** `--token-auth-file`: reads the file; what is in it is the auth room's to say. */
import {readFile} from 'node:fs/promises';
import type {Log} from '../../shared/api.ts';
import {parseTokenFile} from '../../shared/auth/token-file.ts';
import type {UserInfo} from '../../shared/auth/user.ts';
import {Refusal} from './fail.ts';

/** @throws Refusal that names the file and what is wrong with it */
export async function readTokenFile(path: string, log?: Log): Promise<Map<string, UserInfo>> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Refusal(`--token-auth-file: cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
  try {
    return parseTokenFile(text, path, (message) => log?.warn({}, message));
  } catch (error) {
    throw new Refusal(`--token-auth-file: ${(error as Error).message}`);
  }
}
