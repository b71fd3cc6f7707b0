/** The code of the functions: bundled when it is older than its sources. */
import {spawnSync} from 'node:child_process';
import {join} from 'node:path';
import {FileSystem} from 'aws-cdk-lib';
import {Code} from 'aws-cdk-lib/aws-lambda';
import type {FunctionName} from '../functions/functions.ts';

export interface Bundles {
  code(name: FunctionName): Code;
  release: string;
}

/** @throws Error when a bundle cannot be made */
export function bundles(root: string): Bundles {
  const made = spawnSync(process.execPath, [join(root, 'scripts/bundle-functions.mjs'), '--if-stale'], {
    cwd: root,
    // What a synthesis prints is its template.
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (made.status !== 0) throw new Error('the functions could not be bundled');
  const folder = (name: string): string => join(root, 'dist/functions', name);
  return {code: (name) => Code.fromAsset(folder(name)), release: FileSystem.fingerprint(folder('bootstrap'))};
}
