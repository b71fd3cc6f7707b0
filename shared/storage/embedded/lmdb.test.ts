/** What LMDB adds to the contract: it is there after a restart, for one process, in a format that has a version. */

import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, readFile, rm, stat, truncate, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../../clock.ts';
import {create, failureOf, keysOf, Listener, pods, remove, textOf, told, until, update} from '../suite/helpers.ts';
import {type Row, rowsOf, writeFixture, writeRows} from './fixture.ts';
import {openEmbedded} from './open.ts';
import {bundled} from './testing/bundle.ts';

let path: string;
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'store-'));
});
afterEach(() => rm(path, {recursive: true, force: true}));

describe('after a restart', () => {
  test('everything is as it was', async () => {
    const clock = new ManualClock();
    const before = await openEmbedded({path, clock});
    const a = await create(before, 'n/a', 'one', {labels: {v: '1'}});
    await update(before, 'n/a', a.revision, 'two', {labels: {v: '2'}});
    const b = await create(before, 'n/b');
    await remove(before, 'n/b', b.revision);
    await create(before, 'm/é', '', {}, 'services');
    const look = async (store: typeof before) => ({
      head: await store.head(pods),
      pods: await store.scan(pods, {prefix: ''}),
      services: await store.scan('services', {prefix: ''}),
      past: await store.scan(pods, {prefix: '', at: b.revision}),
      log: await store.log(pods, 0, 1_000),
      counts: await store.counts(),
    });
    const was = await look(before);
    await before.close();
    const after = await openEmbedded({path, clock});
    expect(await look(after)).toEqual(was);
    expect(await after.log(pods, 0, 1_000)).toHaveLength(4);
    await after.close();
  });

  test('revisions go on, though everything that had them is compacted', async () => {
    let store = await openEmbedded({path});
    const a = await create(store, 'a');
    const gone = await remove(store, 'a', a.revision);
    await store.compact(gone.revision);
    await store.close();
    store = await openEmbedded({path});
    expect(await store.head(pods)).toBe(gone.revision);
    expect(await store.compactedThrough(pods)).toBe(gone.revision);
    expect((await create(store, 'a')).revision).toBe(gone.revision + 1);
    await store.close();
  });

  test('a subscriber resumes where it was', async () => {
    let store = await openEmbedded({path});
    const listener = new Listener();
    await store.subscribe(pods, 0, listener);
    await create(store, 'a');
    await until(() => listener.seen.length === 1);
    await store.close();
    expect(listener.error?.code).toBe('Unavailable');
    store = await openEmbedded({path});
    await create(store, 'b');
    await store.subscribe(pods, listener.through, listener);
    await until(() => listener.seen.length === 2);
    expect(told(listener.seen)).toEqual(['create a 1', 'create b 2']);
    await store.close();
  });

  test('a sweep that was cut off is finished', async () => {
    let store = await openEmbedded({path});
    let {revision} = await create(store, 'hot');
    for (let n = 0; n < 1_200; n++) revision = (await update(store, 'hot', revision)).revision;
    void store.compact(revision).catch(() => {});
    await store.close();
    const versions = async () => (await rowsOf(path)).filter((row) => row.table === 'versions').length;
    expect(await versions()).toBeGreaterThan(1);
    store = await openEmbedded({path});
    await store.compact(revision);
    await store.close();
    expect(await versions()).toBe(1);
  });
});

describe('opening', () => {
  test('a folder that is open here says InUse, and is free when it is closed', async () => {
    const first = await openEmbedded({path});
    await create(first, 'a');
    expect((await failureOf(openEmbedded({path}))).code).toBe('InUse');
    await create(first, 'b');
    await first.close();
    const second = await openEmbedded({path});
    expect(keysOf(await second.scan(pods, {prefix: ''}))).toEqual(['a', 'b']);
    await second.close();
  });

  test('a folder that another process holds says InUse, until it is killed', async () => {
    const {file, remove: removeBundle} = await bundled('openEmbedded');
    const child = spawn(
      process.execPath,
      [
        '-e',
        `import(${JSON.stringify(file)}).then(async ({openEmbedded}) => {await openEmbedded({path: ${JSON.stringify(path)}}); console.log('open'); setInterval(() => {}, 1000)})`,
      ],
      {stdio: ['pipe', 'pipe', 'inherit']},
    );
    try {
      await once(child.stdout, 'data');
      const failure = await failureOf(openEmbedded({path}));
      expect(failure.code).toBe('InUse');
      expect(failure.message).toContain(String(child.pid));
    } finally {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      await removeBundle();
    }
    await (await openEmbedded({path})).close();
  });

  test('a later format says NewerFormat and is left alone', async () => {
    await writeRows(path, [row('meta', 'state', JSON.stringify({format: 2, head: 7}))]);
    expect((await failureOf(openEmbedded({path}))).code).toBe('NewerFormat');
    expect(await rowsOf(path)).toEqual([row('meta', 'state', JSON.stringify({format: 2, head: 7}))]);
  });

  test('what is not a store, or no longer whole, says Corrupt', async () => {
    await writeFile(join(path, 'store.mdb'), 'x'.repeat(100_000));
    expect((await failureOf(openEmbedded({path}))).code).toBe('Corrupt');
    await rm(join(path, 'store.mdb'));

    const store = await openEmbedded({path});
    await Promise.all(Array.from({length: 500}, (_, n) => create(store, `${n}`, 'x'.repeat(5_000))));
    await store.close();
    const {size} = await stat(join(path, 'store.mdb'));
    for (const left of [size / 2, 10_000, 5_000, 100]) {
      await truncate(join(path, 'store.mdb'), left);
      expect((await failureOf(openEmbedded({path}))).code).toBe('Corrupt');
    }
  });

  test('an unreadable state says Corrupt', async () => {
    await writeRows(path, [row('meta', 'state', 'not json')]);
    expect((await failureOf(openEmbedded({path}))).code).toBe('Corrupt');
  });
});

describe('format 1', () => {
  const file = new URL('./data/format-1.json', import.meta.url);

  test('is read', async () => {
    await writeRows(path, JSON.parse(await readFile(file, 'utf8')) as Row[]);
    const store = await openEmbedded({path});
    expect(await store.head(pods)).toBe(7);
    expect(await store.compactedThrough(pods)).toBe(4);
    const scan = await store.scan(pods, {prefix: ''});
    expect(scan.items.map((item) => [item.key, item.revision, textOf(item)])).toEqual([
      ['default/a', 7, '{"text":"three","revision":7}'],
      ['other/b', 5, '{"text":"b","revision":5}'],
    ]);
    expect(scan.items[0]!.index).toEqual({labels: {app: 'three'}, fields: {'status.phase': 'Running'}});
    expect(keysOf(await store.scan(pods, {prefix: '', at: 4}))).toEqual(['default/a', 'default/gone']);
    expect(keysOf(await store.scan('clusterroles.rbac.authorization.k8s.io', {prefix: ''}))).toEqual(['système:é']);
    const log = await store.log(pods, 4, 7);
    expect(told(log)).toEqual(['create other/b 5', 'delete default/gone 6', 'update default/a 7']);
    expect(log.map((change) => change.previousIndex?.labels?.['app'])).toEqual([undefined, 'gone', 'two']);
    expect(log[0]!.time).toBe(1_767_225_600_000);
    await store.close();
  });

  test('is what is written', async () => {
    expect(await writeFixture(path)).toEqual(JSON.parse(await readFile(file, 'utf8')));
  });
});

const row = (table: string, key: string, value: string): Row => ({
  table,
  key: Buffer.from(key).toString('base64'),
  value: Buffer.from(value).toString('base64'),
});
