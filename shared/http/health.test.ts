import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi} from '../../test/api.ts';
import {Health, type HealthState} from './health.ts';

const well: HealthState = {started: true, draining: false, storeFailing: undefined, withinGrace: false};
const ask = (state: Partial<HealthState>, endpoint: 'healthz' | 'livez' | 'readyz', path = '', query: [string, string][] = []) => {
  const answer = new Health(() => ({...well, ...state})).answer(endpoint, path, query);
  return answer && {code: answer.status, text: Buffer.from(answer.body as Uint8Array).toString()};
};

describe('all checks', () => {
  test('are ok in one word, and line by line when asked', () => {
    expect(ask({}, 'livez')).toEqual({code: 200, text: 'ok'});
    const {text} = ask({}, 'livez', '', [['verbose', '']])!;
    const lines = text.trimEnd().split('\n');
    expect([lines[0], lines.at(-1)]).toEqual(['[+]ping ok', 'livez check passed']);
    for (const line of ['[+]etcd ok', '[+]store ok', '[+]autoregister-completion ok', '[+]poststarthook/rbac/bootstrap-roles ok'])
      expect(lines).toContain(line);
  });

  test('say which of them fails, though not why', () => {
    const {code, text} = ask({storeFailing: 'the disk is full'}, 'livez')!;
    expect(code).toBe(500);
    expect(text).toContain('[-]etcd failed: reason withheld\n[-]store failed: reason withheld\n');
    expect(text).toMatch(/livez check failed\n$/);
    expect(text).not.toContain('disk');
  });

  test('leave out what is excluded, and say what could not be', () => {
    const query: [string, string][] = [
      ['exclude', 'etcd'],
      ['exclude', 'store'],
      ['exclude', 'nope'],
      ['verbose', ''],
    ];
    const {code, text} = ask({storeFailing: 'x'}, 'livez', '', query)!;
    expect(code).toBe(200);
    expect(text).toContain('[+]etcd excluded: ok\n');
    expect(text).toContain('warn: some health checks cannot be excluded: no matches for "nope"\nlivez check passed\n');
  });
});

describe('one check', () => {
  test('answers for itself', () => {
    expect(ask({}, 'livez', 'etcd')).toEqual({code: 200, text: 'ok'});
    expect(ask({storeFailing: 'the disk is full'}, 'livez', 'etcd')!.code).toBe(500);
    expect(ask({storeFailing: 'x'}, 'livez', 'ping')!.code).toBe(200);
    expect(ask({}, 'readyz', 'poststarthook/rbac/bootstrap-roles')!.text).toBe('ok');
  });

  test.each(['nope', '__proto__', 'poststarthook'])('%s is none', (name) => expect(ask({}, 'readyz', name)).toBeUndefined());
});

describe('a server', () => {
  test('that has not started is not ready; alive only within its grace', () => {
    expect(ask({started: false}, 'readyz')!.code).toBe(500);
    expect(ask({started: false}, 'livez')!.code).toBe(500);
    expect(ask({started: false, withinGrace: true}, 'livez')!.code).toBe(200);
    expect(ask({started: false, withinGrace: true}, 'readyz')!.code).toBe(500);
  });

  test('that drains is alive but not ready', () => {
    expect(ask({draining: true}, 'livez')!.code).toBe(200);
    const {code, text} = ask({draining: true}, 'readyz')!;
    expect([code, text.includes('[-]shutdown failed: reason withheld')]).toEqual([500, true]);
  });
});

describe('over the API', () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await TestApi.start();
  });
  afterEach(() => api.close());
  const anonymous = {user: {name: 'system:anonymous', groups: ['system:unauthenticated']}};

  test('anybody may ask', async () => {
    for (const path of ['/livez', '/readyz', '/healthz', '/version'])
      expect((await api.ask('GET', path, undefined, {}, anonymous)).code).toBe(200);
    expect((await api.ask('GET', '/metrics', undefined, {}, anonymous)).code).toBe(403);
  });

  test('draining fails readyz, while requests are served, watches go on until the end, and end cleanly', async () => {
    const {body} = await api.get(configMaps);
    const watch = await api.watch(`${configMaps}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    api.api.drain();
    expect([(await api.get('/readyz')).code, (await api.get('/livez')).code]).toEqual([500, 200]);
    expect((await api.post(configMaps, configMap('late'))).code).toBe(201);
    expect((await watch.next(1))[0]!.object.metadata.name).toBe('late');
    await api.close();
    await watch.ended;
    expect(watch.events).toEqual([]);
  });

  test('a closed one says so', async () => {
    await api.close();
    expect((await api.get('/livez')).code).toBe(500);
  });
});
