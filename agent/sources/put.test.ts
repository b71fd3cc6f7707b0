import {readdir, writeFile} from 'node:fs/promises';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {Refusal} from '../server/refusal.ts';
import {scratch} from '../testing.ts';
import {PutSource} from './put.ts';
import {serveManifests} from './put-route.ts';
import {Delivered, manifestOf, type ReadableLog, readableLog} from './testing.ts';

describe('manifests that are put', () => {
  let folder: string;
  let log: ReadableLog;
  let found: Delivered;
  let source: PutSource;
  let server: Server;
  let user: {name: string} | undefined;
  let url: string;

  const opened = async (): Promise<PutSource> => {
    found = new Delivered();
    log = readableLog();
    const taken = (key: string) => (key === 'default/filed-n' ? 'source file' : undefined);
    const made = new PutSource({folder, node: 'n', clock: new ManualClock(), deliver: found.deliver, taken, log});
    await made.start();
    return made;
  };

  beforeEach(async () => {
    folder = join(await scratch('nodeagent-put-'), 'manifests');
    source = await opened();
    user = {name: 'admin'};
    server = createServer((request, response) => {
      const parts = request.url!.split('/').filter(Boolean).map(decodeURIComponent);
      serveManifests(source, {parts, request, response, user}).catch((error: Refusal) => {
        response.writeHead(error instanceof Refusal ? error.status : 500, {connection: 'close'}).end(error.message);
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/manifests`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = async (method: string, path = '', body?: string): Promise<[number, string]> => {
    const response = await fetch(`${url}${path}`, {method, ...(body !== undefined && {body})});
    return [response.status, await response.text()];
  };

  test('that come while those from before are read come behind these', async () => {
    await source.put('web', Buffer.from(manifestOf('web')));
    const log = readableLog();
    const again = new PutSource({folder, node: 'n', clock: new ManualClock(), deliver: () => {}, taken: () => undefined, log});
    const started = again.start();
    const newer = Buffer.from(manifestOf('newer'));
    await again.put('web', newer);
    await started;
    expect(again.get('web')!.text).toEqual(newer);
    expect(await readdir(folder)).toEqual(['web.manifest']);
  });

  test('run, are replaced, listed, read as they were put, and end', async () => {
    expect(await ask('PUT', '/web', manifestOf('web'))).toEqual([201, expect.stringContaining('"name":"web-n"')]);
    expect(await ask('PUT', '/web', manifestOf('web'))).toEqual([200, expect.stringContaining('"name":"web-n"')]);
    const yaml = '# mine\napiVersion: v1\nkind: Pod\nmetadata: {name: site}\nspec: {containers: [{name: c, image: i}]}\n';
    expect((await ask('PUT', '/web', yaml))[0]).toBe(200);
    expect(await ask('GET', '/web')).toEqual([200, yaml]);
    const [status, text] = await ask('GET');
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {items: [{name: 'web', bytes: yaml.length, pods: [{namespace: 'default', name: 'site-n', uid: expect.any(String)}]}]},
    ]);
    expect((await ask('DELETE', '/web'))[0]).toBe(200);
    expect(await ask('DELETE', '/web')).toEqual([404, 'manifest "web" does not exist']);
    expect(found.all).toEqual([[], ['web-n'], ['site-n'], []]);
  });

  test('are there again after a restart; half of a write is not, and what cannot be read is said', async () => {
    await ask('PUT', '/a', manifestOf('a'));
    await ask('PUT', '/b', manifestOf('b'));
    await writeFile(join(folder, 'c.manifest.new'), 'half');
    await writeFile(join(folder, 'old.manifest'), 'kind: Nothing');
    source = await opened();
    expect(found.all).toEqual([['a-n', 'b-n']]);
    expect(log.lines).toEqual([expect.stringMatching(/^E cannot read pod manifest .*old\.manifest: manifest holds "Nothing"/)]);
    expect((await readdir(folder)).sort()).toEqual(['a.manifest', 'b.manifest', 'old.manifest']);
  });

  test.each([
    ['PUT', '/web', 'kind: [', 400, /^yaml: /],
    ['PUT', '/web', '{"apiVersion":"v1","kind":"Secret"}', 400, /not a Pod or PodList of v1$/],
    ['PUT', '/web', '', 400, /holds no object/],
    ['PUT', '/..%2f..%2fetc', manifestOf('x'), 400, /^"\.\.\/\.\.\/etc" is no name of a manifest/],
    ['PUT', '/.x', manifestOf('x'), 400, /is no name/],
    ['PUT', '/web', 'x'.repeat(3 * 1024 * 1024 + 1), 413, /longer than 3145728 bytes/],
    ['PUT', '/web/more', manifestOf('x'), 404, /not found/],
    ['PUT', '', manifestOf('x'), 405, /Method Not Allowed/],
    ['POST', '/web', manifestOf('x'), 405, /Method Not Allowed/],
    ['GET', '/web', undefined, 404, /manifest "web" does not exist/],
    ['PUT', '/mine', manifestOf('filed'), 409, /^pod "default\/filed-n" is already that of source file$/],
  ])('%s %s is refused with words', async (method, path, body, status, words) => {
    const [code, text] = await ask(method, path, body);
    expect([code, text]).toEqual([status, expect.stringMatching(words)]);
    expect(found.all).toEqual([[]]);
  });

  test('of one name of a pod are two too many, and so are too many bytes', async () => {
    await ask('PUT', '/a', manifestOf('a'));
    expect(await ask('PUT', '/b', manifestOf('a', 'img2'))).toEqual([409, 'pod "default/a-n" is already that of manifest "a"']);
    const big = (name: string) => `${manifestOf(name)}${' '.repeat(2_900_000)}`;
    for (const name of ['c', 'd', 'e', 'f', 'g']) expect((await ask('PUT', `/${name}`, big(name)))[0]).toBe(201);
    expect(await ask('PUT', '/h', big('h'))).toEqual([507, expect.stringContaining('all manifests together')]);
  });

  test('are nobody’s who has no name', async () => {
    user = undefined;
    expect((await ask('GET'))[0]).toBe(401);
    user = {name: 'system:anonymous'};
    expect((await ask('PUT', '/web', manifestOf('web')))[0]).toBe(401);
    expect(found.all).toEqual([[]]);
  });
});
