import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {configMap, configMaps, TestApi, until} from '../../test/api.ts';

let api: TestApi;
beforeEach(async () => {
  api = await TestApi.start();
});
afterEach(() => api.close());

interface Owner {
  apiVersion: string;
  kind: string;
  metadata: {name: string; uid: string};
}

const owned = (name: string, owners: readonly Owner[], more: object = {}) =>
  configMap(name, {
    metadata: {
      name,
      ownerReferences: owners.map(({apiVersion, kind, metadata}) => ({apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more})),
    },
  });
const make = async (body: object, url = configMaps): Promise<Owner> => {
  const answer = await api.post(url, body);
  expect([answer.code, answer.body.message]).toEqual([201, undefined]);
  return answer.body;
};
const isThere = async (name: string, url = configMaps) => (await api.get(`${url}/${name}`)).code === 200;
const gone = (name: string, url = configMaps) => until(async () => !(await isThere(name, url)));
/** Long enough for everything that is due to have happened. */
const settled = async () => {
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const ownersOf = async (name: string) =>
  ((await api.get(`${configMaps}/${name}`)).body.metadata.ownerReferences ?? []).map((owner: {name: string}) => owner.name);

describe('an object whose owner goes', () => {
  test('goes after it, and its own dependents after that', async () => {
    const top = await make(configMap('top'));
    const middle = await make(owned('middle', [top]));
    await make(owned('bottom', [middle]));
    await api.delete(`${configMaps}/top`);
    await gone('bottom');
    expect(await isThere('middle')).toBe(false);
  });

  test('stays while another owner is left, and forgets the one that is gone', async () => {
    const [a, b] = [await make(configMap('a')), await make(configMap('b'))];
    await make(owned('shared', [a, b]));
    await api.delete(`${configMaps}/a`);
    await until(async () => (await ownersOf('shared')).length === 1);
    expect(await ownersOf('shared')).toEqual(['b']);
    await api.delete(`${configMaps}/b`);
    await gone('shared');
  });

  test('stays when it is orphaned', async () => {
    const owner = await make(configMap('owner'));
    await make(owned('child', [owner]));
    const marked = await api.delete(`${configMaps}/owner`, {propagationPolicy: 'Orphan'});
    expect(marked.body.metadata.finalizers).toEqual(['orphan']);
    await gone('owner');
    await settled();
    expect(await ownersOf('child')).toEqual([]);
  });

  test('goes before it in the foreground, where it blocks', async () => {
    const owner = await make(configMap('owner'));
    await make(owned('blocks', [owner], {blockOwnerDeletion: true}));
    await api.mergePatch(`${configMaps}/blocks`, {metadata: {finalizers: ['example.com/slow']}});
    await make(owned('free', [owner]));
    await api.delete(`${configMaps}/owner`, {propagationPolicy: 'Foreground'});
    await gone('free');
    await until(async () => (await api.get(`${configMaps}/blocks`)).body.metadata.deletionTimestamp !== undefined);
    await settled();
    expect(await isThere('owner')).toBe(true);
    await api.mergePatch(`${configMaps}/blocks`, {metadata: {finalizers: null}});
    await gone('owner');
  });

  test('does not hold it back in the foreground where it does not block', async () => {
    const owner = await make(configMap('owner'));
    await make(owned('slow', [owner], {blockOwnerDeletion: false}));
    await api.mergePatch(`${configMaps}/slow`, {metadata: {finalizers: ['example.com/slow']}});
    await api.delete(`${configMaps}/owner`, {propagationPolicy: 'Foreground'});
    await gone('owner');
  });
});

describe('an owner that was never there', () => {
  test('counts as gone', async () => {
    await make(owned('child', [{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'nobody', uid: 'u'}}]));
    await gone('child');
  });

  test('under the name of another object, too', async () => {
    await make(configMap('somebody'));
    await make(owned('child', [{apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'somebody', uid: 'another'}}]));
    await gone('child');
  });

  test('or with its uid but not its name or kind', async () => {
    const owner = await make(configMap('owner'));
    await make(owned('misnamed', [{...owner, metadata: {...owner.metadata, name: 'other'}}]));
    await gone('misnamed');
    await make(owned('mistyped', [{...owner, kind: 'Secret'}]));
    await gone('mistyped');
    expect(await isThere('owner')).toBe(true);
  });

  test('or in another namespace', async () => {
    const owner = await make(configMap('owner'), '/api/v1/namespaces/kube-public/configmaps');
    await make(owned('child', [owner]));
    await gone('child');
    expect(await isThere('owner', '/api/v1/namespaces/kube-public/configmaps')).toBe(true);
  });

  test('also when it is put in place of one that is', async () => {
    const owner = await make(configMap('owner'));
    await make(owned('child', [owner]));
    await api.mergePatch(`${configMaps}/child`, {
      metadata: {ownerReferences: [{apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'u'}]},
    });
    await gone('child');
  });
});

describe('an owner of which nothing can be said', () => {
  test('of a kind that is not served keeps its dependents', async () => {
    await make(owned('child', [{apiVersion: 'example.com/v1', kind: 'Thing', metadata: {name: 'x', uid: 'u'}}]));
    await settled();
    expect(await isThere('child')).toBe(true);
  });

  test('in some namespace, of an object in none, keeps it', async () => {
    const owner = await make(configMap('owner'));
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await make({...owned('class', [owner]), kind: 'PriorityClass', apiVersion: 'scheduling.k8s.io/v1', value: 5}, classes);
    await settled();
    expect(await isThere('class', classes)).toBe(true);
    await api.delete(`${configMaps}/owner`);
    await settled();
    expect(await isThere('class', classes)).toBe(true);
  });
});

test('a cluster-scoped owner owns in every namespace', async () => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
  const owner = await make({metadata: {name: 'class'}, value: 5}, classes);
  const named = {...owner, apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass'};
  await make(owned('here', [named]));
  await make(owned('there', [named]), '/api/v1/namespaces/kube-public/configmaps');
  await settled();
  expect(await isThere('here')).toBe(true);
  await api.delete(`${classes}/class`);
  await gone('here');
  await gone('there', '/api/v1/namespaces/kube-public/configmaps');
});

describe('a circle', () => {
  const circle = async (more: object) => {
    const a = await make(configMap('a'));
    const b = await make(owned('b', [a], more));
    const c = await make(owned('c', [b], more));
    await api.mergePatch(`${configMaps}/a`, owned('a', [c], more));
  };

  test('is left alone while nobody deletes', async () => {
    await circle({});
    await settled();
    for (const name of ['a', 'b', 'c']) expect(await isThere(name)).toBe(true);
  });

  test.each(['Background', 'Foreground'])('goes as a whole in the %s', async (propagationPolicy) => {
    await circle({blockOwnerDeletion: true});
    await api.delete(`${configMaps}/a`, {propagationPolicy});
    for (const name of ['a', 'b', 'c']) await gone(name);
  });
});

test('what an owner is orphaned from is known before it is let go, also after a restart', async () => {
  const owner = await make(configMap('owner'), '/api/v1/namespaces/default/configmaps');
  const secrets = '/api/v1/namespaces/default/secrets';
  await Promise.all(Array.from({length: 40}, (_, at) => api.post(secrets, {...owned(`s${at}`, [owner]), kind: 'Secret'})));
  await api.delete(`${configMaps}/owner`, {propagationPolicy: 'Orphan'});
  const store = await api.api.store.fork();
  const later = await TestApi.start({store});
  await until(async () => (await later.get(`${configMaps}/owner`)).code === 404);
  await settled();
  const {items} = (await later.get(secrets)).body;
  expect(items).toHaveLength(40);
  expect(items.filter((item: {metadata: {ownerReferences?: unknown}}) => item.metadata.ownerReferences)).toEqual([]);
  await later.close();
});

test('at most one owner is the controller', async () => {
  const owner = await make(configMap('owner'));
  const answer = await api.post(configMaps, owned('child', [owner], {blockOwnerDeletion: true, controller: true}));
  expect(answer.code).toBe(201);
  const two = await api.post(configMaps, owned('two', [owner, {...owner, metadata: {name: 'x', uid: 'y'}}], {controller: true}));
  expect(two.body.message).toContain('Only one reference can have Controller set to true');
});

test('the lease of a node goes with it', async () => {
  const node = await make({apiVersion: 'v1', kind: 'Node', metadata: {name: 'n1'}}, '/api/v1/nodes');
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  const ownerReferences = [{apiVersion: 'v1', kind: 'Node', name: 'n1', uid: node.metadata.uid}];
  await make({metadata: {name: 'n1', ownerReferences}, spec: {holderIdentity: 'n1'}}, leases);
  await api.delete('/api/v1/nodes/n1');
  await gone('n1', leases);
});

test('who is adopted while its last owner goes stays', async () => {
  const [first, second] = [await make(configMap('first')), await make(configMap('second'))];
  const {metadata} = owned('child', [second]) as unknown as {metadata: {ownerReferences: object[]}};
  for (let round = 0; round < 10; round++) {
    const owner = round === 0 ? first : await make(configMap(`first-${round}`));
    await make(owned(`child-${round}`, [owner]));
    const adopted = api.mergePatch(`${configMaps}/child-${round}`, {metadata: {ownerReferences: metadata.ownerReferences}});
    await api.delete(`${configMaps}/${owner.metadata.name}`);
    expect((await adopted).code).toBe(200);
  }
  await settled();
  for (let round = 0; round < 10; round++) expect(await ownersOf(`child-${round}`)).toEqual(['second']);
});
