/** @kubernetes/client-node: what it reads, writes and is told, through its own idea of a cluster. */
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  KubernetesObjectApi,
  Metrics,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1ConfigMap,
  VersionApi,
  Watch,
} from '@kubernetes/client-node';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import {type Cluster, startCluster} from '../../localstack/library.ts';

let base: Cluster;
let cluster: Cluster;
let config: KubeConfig;
let core: CoreV1Api;
const namespace = 'default';

const configOf = ({kubeconfig}: Cluster): KubeConfig => {
  const loaded = new KubeConfig();
  loaded.loadFromString(kubeconfig);
  return loaded;
};

beforeAll(async () => {
  base = await startCluster({inMemory: true});
});
afterAll(() => base?.close());
beforeEach(async () => {
  cluster = await base.fork();
  config = configOf(cluster);
  core = config.makeApiClient(CoreV1Api);
  return () => cluster.close();
});

/** A story's next happening; polls because the client offers nothing else. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((done) => setTimeout(done, 5));
}

const configMap = (name: string, data: Record<string, string> = {}): V1ConfigMap => ({metadata: {name}, data});

describe('objects', () => {
  test('are created, read, listed in chunks, replaced, patched and deleted', async () => {
    for (const name of ['a', 'b', 'c']) await core.createNamespacedConfigMap({namespace, body: configMap(name, {k: name})});
    const first = await core.listNamespacedConfigMap({namespace, limit: 2, fieldSelector: 'metadata.name!=kube-root-ca.crt'});
    expect(first.items.map(({metadata}) => metadata!.name)).toEqual(['a', 'b']);
    const rest = await core.listNamespacedConfigMap({
      namespace,
      limit: 2,
      _continue: first.metadata!._continue!,
      fieldSelector: 'metadata.name!=kube-root-ca.crt',
    });
    expect(rest.items.map(({metadata}) => metadata!.name)).toEqual(['c']);

    const read = await core.readNamespacedConfigMap({namespace, name: 'a'});
    expect(read.metadata!.creationTimestamp).toBeInstanceOf(Date);
    const replaced = await core.replaceNamespacedConfigMap({namespace, name: 'a', body: {...read, data: {k: 'new'}}});
    await expect(core.replaceNamespacedConfigMap({namespace, name: 'a', body: {...read, data: {k: 'late'}}})).rejects.toMatchObject({
      code: 409,
    });
    const patched = await core.patchNamespacedConfigMap(
      {namespace, name: 'a', body: {data: {more: '1'}}},
      setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
    );
    expect(patched.data).toEqual({k: 'new', more: '1'});
    expect(patched.metadata!.uid).toBe(replaced.metadata!.uid);
    expect(await core.deleteNamespacedConfigMap({namespace, name: 'a'})).toMatchObject({status: 'Success', details: {name: 'a'}});
    const gone = await core.readNamespacedConfigMap({namespace, name: 'a'}).catch((error) => error);
    expect(gone).toBeInstanceOf(ApiException);
    expect(JSON.parse(gone.body)).toMatchObject({reason: 'NotFound', message: 'configmaps "a" not found'});
  });

  test('are handled by kind, as manifests are', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {name: 'web', namespace},
      spec: {
        selector: {matchLabels: {app: 'web'}},
        template: {metadata: {labels: {app: 'web'}}, spec: {containers: [{name: 'web', image: 'registry.example/web'}]}},
      },
    };
    await objects.create(deployment);
    await objects.patch({...deployment, spec: {...deployment.spec, replicas: 4}} as typeof deployment);
    const scale = await config.makeApiClient(AppsV1Api).readNamespacedDeploymentScale({namespace, name: 'web'});
    expect(scale).toMatchObject({kind: 'Scale', spec: {replicas: 4}});
    const {items} = await objects.list('apps/v1', 'Deployment', namespace);
    expect(items.map(({metadata}) => metadata!.name)).toEqual(['web']);
    await objects.delete(deployment);
    expect((await objects.list('apps/v1', 'Deployment', namespace)).items).toEqual([]);
  });

  test('of kinds that there are not are said not to be', async () => {
    const custom = config.makeApiClient(CustomObjectsApi);
    await expect(custom.listClusterCustomObject({group: 'nothing.example', version: 'v1', plural: 'things'})).rejects.toMatchObject({
      code: 404,
    });
    expect(await config.makeApiClient(VersionApi).getCode()).toMatchObject({major: '1', minor: '36'});
  });

  test('figures of nodes are none where there is no node', async () => {
    expect(await new Metrics(config).getNodeMetrics()).toMatchObject({kind: 'NodeMetricsList', items: []});
  });
});

describe('an informer', () => {
  const started = async () => {
    const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({namespace}));
    const told: string[] = [];
    for (const verb of ['add', 'update', 'delete'] as const)
      informer.on(verb, ({metadata, data}) => {
        if (metadata!.name !== 'kube-root-ca.crt') told.push(`${verb} ${metadata!.name} ${data?.['n']}`);
      });
    const broken: unknown[] = [];
    informer.on('error', (error) => {
      broken.push(error);
    });
    await informer.start();
    return {informer, told, broken};
  };

  test('is told of every change once and in order', async () => {
    await core.createNamespacedConfigMap({namespace, body: configMap('x', {n: '0'})});
    const {informer, told} = await started();
    for (let n = 1; n <= 20; n++) await core.replaceNamespacedConfigMap({namespace, name: 'x', body: configMap('x', {n: String(n)})});
    await core.deleteNamespacedConfigMap({namespace, name: 'x'});
    await until(() => told.includes('delete x 20'));
    expect(told).toEqual(['add x 0', ...Array.from({length: 20}, (_, index) => `update x ${index + 1}`), 'delete x 20']);
    expect(informer.get('x', namespace)).toBeUndefined();
    await informer.stop();
  });

  test('holds what a list holds after many writers', async () => {
    const {informer} = await started();
    await Promise.all(
      Array.from({length: 8}, async (_, writer) => {
        for (let step = 0; step < 12; step++) {
          const name = `w${writer}-${step % 3}`;
          await core
            .createNamespacedConfigMap({namespace, body: configMap(name, {n: String(step)})})
            .catch(() =>
              step % 2
                ? core.deleteNamespacedConfigMap({namespace, name})
                : core.replaceNamespacedConfigMap({namespace, name, body: configMap(name, {n: String(step)})}),
            );
        }
      }),
    );
    const fresh = (await core.listNamespacedConfigMap({namespace})).items;
    const versions = (items: readonly V1ConfigMap[]) => items.map(({metadata}) => `${metadata!.name} ${metadata!.resourceVersion}`).sort();
    await until(() => JSON.stringify(versions(informer.list())) === JSON.stringify(versions(fresh)));
    await informer.stop();
  });

  test('hears that the cluster goes away', async () => {
    const {informer, broken} = await started();
    await cluster.close();
    await until(() => broken.length > 0);
    await informer.stop();
  });
});

test('a watch has bookmarks, and ends when its time is over', async () => {
  const types: string[] = [];
  await new Promise<void>((done, fail) => {
    void new Watch(config).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      {allowWatchBookmarks: true, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', timeoutSeconds: 1},
      (type) => {
        types.push(type);
      },
      (error) => (error && error.name !== 'AbortError' ? fail(error) : done()),
    );
  });
  expect(types.slice(0, 2)).toEqual(['ADDED', 'BOOKMARK']);
});
