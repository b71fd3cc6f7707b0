/** What a rehearsal needs that is no dependency of the project: `npm run test:setup` makes it in .cache/. */
import {existsSync} from 'node:fs';
import {dirname, join, resolve} from 'node:path';

export interface Toolchain {
  root: string;
  python: string;
  launcher: string;
  node24: string;
  runtimeClient: string;
  cdk: string;
}

/** The checkout that a folder lies in. @throws when it lies in none: the CDK app is not part of the package */
export function checkoutOf(folder: string): string {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, 'cdk.json')) && existsSync(join(at, 'localstack', 'rehearse'))) return at;
    if (dirname(at) === at) throw new Error(`${folder} is in no checkout of Clusterless: a rehearsal deploys its CDK app`);
  }
}

/** @throws naming what is missing */
export function findToolchain(root: string): Toolchain {
  const cache = join(root, '.cache');
  const tools: Toolchain = {
    root,
    python: join(cache, 'ministack', 'bin', 'python'),
    launcher: join(root, 'localstack', 'rehearse', 'emulator', 'launch.py'),
    node24: node24In(cache),
    runtimeClient: join(cache, 'ric', 'node_modules', 'aws-lambda-ric', 'index.mjs'),
    cdk: join(root, 'node_modules', 'aws-cdk', 'bin', 'cdk'),
  };
  const missing = Object.values(tools).filter((path) => !existsSync(path));
  if (missing.length > 0) throw new Error(`${missing.join(' and ')} missing: \`npm run test:setup\` makes what a rehearsal needs`);
  return tools;
}

/** The runtime's own major version: this process, where it is one. */
function node24In(cache: string): string {
  if (process.version.startsWith('v24.')) return process.execPath;
  return join(cache, 'node24', 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
}
