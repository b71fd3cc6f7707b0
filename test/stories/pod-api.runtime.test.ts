/** A program in a pod, on a real runtime: it reaches the API with what every pod has, wherever the API is; and what it uses can be read. */
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {type Cluster, startCluster} from '../../localstack/library.ts';
import {startTestAgent, type TestAgent} from '../runtime/agent.ts';
import {type ClusterApi, clusterApi} from '../runtime/api.ts';
import {lackingRuntime, startRuntime, type TestRuntime} from '../runtime/containerd.ts';
import {images} from '../runtime/images.ts';

const storyLimitMs = 120_000;
const pods = '/api/v1/namespaces/default/pods';

// biome-ignore lint/suspicious/noExplicitAny: the API's objects
type Json = any;

/** In-cluster configuration as any client reads it. */
const program = `
const {KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, TOKEN: token, CA: ca} = process.env;
const ask = (path, headers) => new Promise((done, failed) => {
  require('https').get({host, port, path, ca, headers}, (response) => {
    let text = '';
    response.on('data', (chunk) => { text += chunk; });
    response.on('end', () => done(response.statusCode + ' ' + JSON.parse(text).kind));
  }).on('error', failed);
});
(async () => {
  const headers = {authorization: 'Bearer ' + token};
  console.log('own:', await ask('/api/v1/namespaces/default/pods/' + process.env.HOSTNAME, headers));
  console.log('nobody:', await ask('/api/v1/pods', {}));
  console.log('nodes:', await ask('/api/v1/nodes', headers));
})().catch((error) => console.log('failed:', error.message));
`;

describe.skipIf(lackingRuntime)(`a program in a pod${lackingRuntime ? ` (${lackingRuntime} is missing)` : ''}`, () => {
  let runtime: TestRuntime;
  let cluster: Cluster;
  let agent: TestAgent;
  let api: ClusterApi;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clusterless-story-'));
    const kubeconfig = join(folder, 'kubeconfig');
    // On loopback, which is another machine to a pod.
    [runtime, cluster] = await Promise.all([startRuntime(), startCluster({inMemory: true, kubeconfig})]);
    api = clusterApi(cluster.url, cluster.adminToken!);
    agent = await startTestAgent(runtime, {name: 'story', kubeconfig, flags: ['--cluster-api-qps=100']});
    await api.until('/api/v1/nodes/story', 'the node', Boolean);
    await api.until('/api/v1/namespaces/default/serviceaccounts/default', 'the service account', Boolean);
    await api.ask('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      metadata: {name: 'view'},
      roleRef: {apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view'},
      subjects: [{kind: 'ServiceAccount', name: 'default', namespace: 'default'}],
    });
  }, storyLimitMs);

  afterAll(async () => {
    await agent?.stop();
    await runtime?.stop();
    api?.close();
    await cluster?.close({graceMs: 0});
    await rm(folder, {recursive: true, force: true});
  }, storyLimitMs);

  test(
    'reaches the API on the node’s loopback, as its service account and as nobody else',
    async () => {
      const files = '/var/run/secrets/kubernetes.io/serviceaccount';
      const shell = `export TOKEN="$(cat ${files}/token)" CA="$(cat ${files}/ca.crt)"; exec chroot /host "$NODE" -e "$PROGRAM"`;
      const env = Object.entries({NODE: process.execPath, PROGRAM: program}).map(([name, value]) => ({name, value}));
      await api.ask('POST', pods, {
        metadata: {name: 'program'},
        spec: {
          nodeName: 'story',
          restartPolicy: 'Never',
          containers: [
            {
              ...{name: 'main', image: images.busybox, imagePullPolicy: 'Never', command: ['sh', '-c', shell], env},
              volumeMounts: [{name: 'host', mountPath: '/host', readOnly: true}],
            },
          ],
          volumes: [{name: 'host', hostPath: {path: '/'}}],
        },
      });
      await api.until(`${pods}/program`, 'the program has ended', (pod) => ['Succeeded', 'Failed'].includes(pod?.status?.phase));
      expect(await api.text(`${pods}/program/log`)).toBe('own: 200 Pod\nnobody: 403 Status\nnodes: 403 Status\n');
    },
    storyLimitMs,
  );

  test(
    'shows what it uses: in metrics.k8s.io, which the node has brought, and to Prometheus',
    async () => {
      const command = ['sh', '-c', 'while true; do true; done'];
      const resources = {limits: {cpu: '100m', memory: '32Mi'}};
      await api.ask('POST', pods, {
        metadata: {name: 'busy', labels: {app: 'busy'}},
        spec: {
          nodeName: 'story',
          terminationGracePeriodSeconds: 0,
          containers: [{name: 'main', image: images.busybox, imagePullPolicy: 'Never', command, resources}],
        },
      });
      const metrics = '/apis/metrics.k8s.io/v1beta1';
      const {containers, metadata, window} = await api.until(`${metrics}/namespaces/default/pods/busy`, 'figures of the pod', Boolean);
      expect(metadata.labels).toEqual({app: 'busy'});
      expect(Number.parseFloat(window)).toBeGreaterThanOrEqual(1);
      expect(containers).toEqual([
        {name: 'main', usage: {cpu: expect.stringMatching(/^\d+[num]?$/), memory: expect.stringMatching(/^\d+Ki$|^\d+$/)}},
      ]);
      expect((await api.ask('GET', `${metrics}/nodes`)).items.map(({metadata: {name}}: Json) => name)).toEqual(['story']);
      const cadvisor = await api.text('/api/v1/nodes/story/proxy/metrics/cadvisor');
      expect(cadvisor).toMatch(/^container_cpu_cfs_throttled_periods_total\{container="main",.*pod="busy"\} \d+ \d+$/m);
      expect(cadvisor).toMatch(/^container_spec_memory_limit_bytes\{container="main",.*pod="busy"\} 33554432 /m);
      expect(cadvisor).toMatch(/^container_network_receive_bytes_total\{container="",.*pod="busy",interface="eth0"\} \d+ /m);
      await api.ask('DELETE', `${pods}/busy`);
    },
    storyLimitMs,
  );
});
