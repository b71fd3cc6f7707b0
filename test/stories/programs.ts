/** The clients that stories are told with: those of `npm run test:setup` in .cache/bin, and the machine's own. */
import {accessSync, constants, realpathSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const cache = join(root, '.cache');
const ours = join(cache, 'bin');

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** `variable`: names one that goes before all others. */
function every(name: string, variable: string): string[] {
  const folders = [ours, ...(process.env['PATH'] ?? '').split(delimiter)];
  const paths = [process.env[variable] ?? '', ...folders.map((folder) => join(folder, name))].map(executable);
  return [...new Set(paths.filter((path) => path !== undefined))];
}

export const kubectls = every('kubectl', 'TEST_KUBECTL');
export const kubectl = kubectls[0];
export const helm = every('helm', 'TEST_HELM')[0];
export const informer = executable(process.env['TEST_INFORMER'] ?? join(ours, 'informer'));
export const operator = executable(process.env['TEST_OPERATOR'] ?? join(ours, 'operator'));
