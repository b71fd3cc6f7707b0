/** What is in the bundle of a function, and that it loads as Lambda would load it. */
import {spawnSync} from 'node:child_process';
import {join} from 'node:path';
import {beforeAll, describe, expect, test} from 'vitest';
// @ts-expect-error a script, without types
import {bundleFunctions} from '../../scripts/bundle-functions.mjs';

interface Bundle {
  name: string;
  entryBytes: number;
  packages: string[];
}

const root = join(import.meta.dirname, '../..');
let bundles: Map<string, Bundle>;

beforeAll(async () => {
  const made: Bundle[] = await bundleFunctions({only: ['get', 'create', 'socket-disconnect', 'fan-out']});
  bundles = new Map(made.map((bundle) => [bundle.name, bundle]));
}, 60_000);

describe('a bundle', () => {
  test('has no package that its function does not use', () => {
    const packagesOf = (name: string): string[] => bundles.get(name)!.packages;
    expect(packagesOf('get')).toContain('@aws-sdk/client-dynamodb');
    expect(packagesOf('get')).not.toContain('@aws-sdk/client-apigatewaymanagementapi');
    expect(packagesOf('get')).not.toContain('@peculiar/x509');
    expect(packagesOf('fan-out')).toContain('@aws-sdk/client-apigatewaymanagementapi');
    expect(packagesOf('socket-disconnect')).not.toContain('protobufjs');
    for (const [, {packages}] of bundles) for (const name of ['lmdb', 'pino', 'commander', 'ws']) expect(packages).not.toContain(name);
  });

  test('is small enough to load in a moment', () => {
    expect(bundles.get('get')!.entryBytes).toBeLessThan(700 * 1024);
    expect(bundles.get('create')!.entryBytes).toBeLessThan(1100 * 1024);
  });

  test.each(['get', 'create', 'socket-disconnect', 'fan-out'])('of %s is a module with a handler', (name) => {
    const url = `file://${join(root, 'dist/functions', name, 'index.mjs')}`;
    const script = `const {handler} = await import(${JSON.stringify(url)}); process.stdout.write(typeof handler);`;
    const {stdout, stderr} = spawnSync(process.execPath, ['--input-type=module', '-e', script], {encoding: 'utf8', cwd: '/'});
    expect([stdout, stderr]).toEqual(['function', '']);
  });

  test('answers an event that is none of its own without asking anybody', () => {
    const url = `file://${join(root, 'dist/functions/get/index.mjs')}`;
    const script = `const {handler} = await import(${JSON.stringify(url)}); process.stdout.write(JSON.stringify(await handler({version: '2.0'})));`;
    const env = {...process.env, CLUSTERLESS_OBJECTS_TABLE: 'o', CLUSTERLESS_LOG_TABLE: 'l'};
    const {stdout} = spawnSync(process.execPath, ['--input-type=module', '-e', script], {encoding: 'utf8', env});
    expect(JSON.parse(stdout)).toMatchObject({statusCode: 400});
  });
});
