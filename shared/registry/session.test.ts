import {describe, expect, test} from 'vitest';
import {TestApi} from '../../test/api.ts';
import {type Session, type Store, StoreError} from '../storage/contract.ts';
import {openMemory} from '../storage/embedded/open.ts';

interface Shared {
  api: TestApi;
  begun: {ahead?: {type: string; key?: string}; optimistic?: boolean}[];
  /** How many of the coming checks find that configuration has moved. */
  moves: number;
}

/** The memory engine as if others wrote to it too: each session is counted, and its check can be made to fail. */
async function shared(): Promise<Shared> {
  const inner = await openMemory();
  const world = {begun: [], moves: 0} as unknown as Shared;
  let started = false;
  const begin: Store['begin'] = async (options) => {
    if (started) world.begun.push(options);
    let checked = !options.optimistic;
    const check = async (): Promise<void> => {
      if (checked) return;
      checked = true;
      if (world.moves-- > 0) throw new StoreError('ConfigurationMoved', 'configuration has moved');
    };
    const own: Partial<Session> = {
      confirm: check,
      async append(write) {
        await check();
        if (write.guard && !(await write.guard())) throw new StoreError('ConfigurationMoved', 'the guard says no');
        return inner.append(write);
      },
    };
    return proxied(inner, own) as Session;
  };
  world.api = await TestApi.start({store: proxied(inner, {begin}) as Store});
  started = true;
  world.moves = 0;
  return world;
}

const proxied = (inner: Store, own: Partial<Session>): Store =>
  new Proxy(inner, {
    get: (target, name: keyof Session) => own[name] ?? (target as Session)[name]?.bind(target),
    has: () => true,
  });

const map = (name: string) => ({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name}});
const maps = '/api/v1/namespaces/default/configmaps';

describe('a request over a store that others write as well', () => {
  test('reads its object in the round trip that it begins with', async () => {
    const {api, begun} = await shared();
    await api.ask('GET', `${maps}/a`);
    await api.ask('GET', maps);
    await api.ask('GET', '/api/v1/namespaces/default');
    expect(begun.map(({ahead}) => ahead)).toEqual([
      {type: 'configmaps', key: 'default/a'},
      {type: 'configmaps'},
      {type: 'namespaces', key: 'default'},
    ]);
  });

  test('creates without a call before its reservation', async () => {
    const {api, begun} = await shared();
    expect((await api.ask('POST', maps, map('a'))).code).toBe(201);
    expect(begun).toEqual([{optimistic: true}]);
  });

  test('creates anew, exactly informed, when configuration moved under way', async () => {
    const world = await shared();
    world.moves = 1;
    expect((await world.api.ask('POST', maps, map('a'))).code).toBe(201);
    expect(world.begun).toEqual([{optimistic: true}, {ahead: {type: 'configmaps'}, optimistic: false}]);
  });

  test('asks again before it refuses', async () => {
    const world = await shared();
    world.moves = 1;
    expect((await world.api.ask('POST', '/api/v1/namespaces/none/configmaps', map('a'))).code).toBe(404);
    expect(world.begun).toHaveLength(2);
  });

  test('confirms what a dry run has found', async () => {
    const world = await shared();
    world.moves = 1;
    expect((await world.api.ask('POST', `${maps}?dryRun=All`, map('a'))).code).toBe(201);
    expect(world.begun).toHaveLength(2);
  });
});
