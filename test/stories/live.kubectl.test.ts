/** What kubectl does over time, and what only a cluster with controllers does: watching, waiting, deleting with owners, proxies. */
import {type ChildProcess, spawn} from 'node:child_process';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import {type Cluster, startCluster} from '../../localstack/library.ts';
import {kubectl} from './programs.ts';
import {openShell, prepare, type Shell} from './session.ts';

const storyLimitMs = 60_000;

describe.skipIf(!kubectl)('kubectl', () => {
  let base: Cluster;
  let cluster: Cluster;
  let shell: Shell;
  const running = new Set<ChildProcess>();
  beforeAll(async () => {
    base = await startCluster({inMemory: true});
  });
  afterAll(() => base?.close());
  beforeEach(async () => {
    cluster = await base.fork();
    shell = await openShell(cluster.kubeconfig, [kubectl!]);
    await prepare(shell, 'live');
  });
  afterEach(async () => {
    for (const child of running) child.kill('SIGKILL');
    running.clear();
    await shell.close();
    await cluster.close();
  });

  const run = async (command: string): Promise<string> => {
    const {output, code} = await shell.run(command);
    expect({command, code, output: code === 0 ? '' : output}).toEqual({command, code: 0, output: ''});
    return output.trim();
  };
  const fails = async (command: string): Promise<string> => {
    const {output, code} = await shell.run(command);
    expect({command, code}).toEqual({command, code: 1});
    return output.trim();
  };
  /** One that goes on by itself; `says` resolves when its output has come to match. */
  const start = async (...args: string[]) => {
    const file = await run('echo $KUBECONFIG');
    const child = spawn(kubectl!, [...args, '--kubeconfig', file]);
    running.add(child);
    let output = '';
    const listeners = new Set<() => void>();
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk;
        for (const listener of listeners) listener();
      });
    return {
      says: (pattern: RegExp) =>
        new Promise<RegExpExecArray>((done) => {
          const listener = () => {
            const match = pattern.exec(output);
            if (match) done(match);
          };
          listeners.add(listener);
          listener();
        }),
      ended: new Promise<number | null>((done) => child.once('close', done)),
      output: () => output,
    };
  };

  test('get -w tells what happens', {timeout: storyLimitMs}, async () => {
    const watching = await start('get', 'configmaps', '-n', 'live', '-w', '--output-watch-events', '--no-headers', '-l', 'app');
    await run('kubectl create configmap one && kubectl label configmap one app=x');
    await watching.says(/ADDED +one/);
    await run('kubectl label configmap one more=y');
    await watching.says(/MODIFIED +one/);
    await run('kubectl label configmap one app-');
    await watching.says(/DELETED +one/);
    expect(watching.output().trim().split('\n')).toHaveLength(3);
  });

  test('wait sees a condition come and an object go', {timeout: storyLimitMs}, async () => {
    await run('kubectl apply -f pod.yaml');
    const ready = await start('wait', 'pod/toolbox', '-n', 'live', '--for=condition=Ready', '--timeout=20s');
    await run(`kubectl patch pod toolbox --subresource=status -p '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'`);
    expect(await ready.ended).toBe(0);
    const gone = await start('wait', 'pod/toolbox', '-n', 'live', '--for=delete', '--timeout=20s');
    await run('kubectl delete pod toolbox');
    expect(await gone.ended).toBe(0);
  });

  const owned = (name: string, owner: string, uid: string, blocks: boolean): string =>
    `kubectl create -f - <<< '${JSON.stringify({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {name, ownerReferences: [{apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid, blockOwnerDeletion: blocks}]},
    })}'`;
  const family = async (): Promise<void> => {
    await run('kubectl create configmap parent');
    const uid = await run(`kubectl get configmap parent -o jsonpath='{.metadata.uid}'`);
    await run(owned('child', 'parent', uid, true));
    const child = await run(`kubectl get configmap child -o jsonpath='{.metadata.uid}'`);
    await run(owned('grandchild', 'child', child, false));
  };
  const left = () => run('kubectl get configmaps -o name | grep -v root-ca || true');

  test('delete in the background takes what is owned along, after a while', {timeout: storyLimitMs}, async () => {
    await family();
    await run('kubectl delete configmap parent');
    await run('kubectl wait configmap/child configmap/grandchild --for=delete --timeout=20s');
    expect(await left()).toBe('');
  });

  test('delete --cascade=foreground ends when what blocks it is gone', {timeout: storyLimitMs}, async () => {
    await family();
    await run(`kubectl patch configmap child -p '{"metadata":{"finalizers":["story.example/hold"]}}'`);
    await run('kubectl delete configmap parent --cascade=foreground --wait=false');
    await run(`kubectl wait configmap/child --for=jsonpath='{.metadata.deletionTimestamp}' --timeout=20s`);
    expect(await run(`kubectl get configmap parent -o jsonpath='{.metadata.finalizers}'`)).toBe('["foregroundDeletion"]');
    await run(`kubectl patch configmap child --type=merge -p '{"metadata":{"finalizers":null}}'`);
    await run('kubectl wait configmap/parent configmap/grandchild --for=delete --timeout=20s');
    expect(await left()).toBe('');
  });

  test('delete --cascade=orphan leaves what was owned, without an owner', {timeout: storyLimitMs}, async () => {
    await family();
    await run('kubectl delete configmap parent --cascade=orphan');
    expect(await left()).toBe('configmap/child\nconfigmap/grandchild');
    expect(await run(`kubectl get configmap child -o jsonpath='{.metadata.ownerReferences}'`)).toBe('');
  });

  test('a namespace is emptied before it is gone, and nothing slips in', {timeout: storyLimitMs}, async () => {
    await run('kubectl apply -f guestbook.yaml');
    await run(`kubectl patch configmap settings -p '{"metadata":{"finalizers":["story.example/hold"]}}'`);
    await run('kubectl delete namespace live --wait=false');
    expect(await fails('kubectl create configmap late')).toContain(
      'configmaps "late" is forbidden: unable to create new content in namespace live because it is being terminated',
    );
    await run(`kubectl wait namespace/live --for=condition=NamespaceFinalizersRemaining=True --timeout=20s`);
    expect(await run('kubectl get namespace live --no-headers')).toContain('Terminating');
    await run(`kubectl patch configmap settings --type=merge -p '{"metadata":{"finalizers":null}}'`);
    await run('kubectl wait namespace/live --for=delete --timeout=20s');
    expect(await fails('kubectl get namespace live')).toContain('namespaces "live" not found');
  });

  test('delete --all goes through deletecollection, and label selectors choose', {timeout: storyLimitMs}, async () => {
    await run('for n in 1 2 3 4; do kubectl create configmap c$n; kubectl label configmap c$n half=$((n%2)); done');
    await run('kubectl delete configmaps -l half=1');
    expect(await left()).toBe('configmap/c2\nconfigmap/c4');
    await run('kubectl delete configmaps --all');
    expect(await left()).toBe('');
  });

  test('what needs a node says clearly what is in the way', {timeout: storyLimitMs}, async () => {
    await run('kubectl apply -f node.yaml && kubectl apply -f pod.yaml');
    // As the reference has it: what has not begun anywhere has said nothing.
    expect(await shell.run('kubectl logs toolbox -c main')).toMatchObject({code: 0, output: ''});
    await run(
      `kubectl create --raw /api/v1/namespaces/live/pods/toolbox/binding -f - <<< '{"apiVersion":"v1","kind":"Binding","metadata":{"name":"toolbox"},"target":{"kind":"Node","name":"story-node"}}'`,
    );
    await run(`kubectl patch pod toolbox --subresource=status -p '{"status":{"phase":"Running"}}'`);
    // An address at which nobody listens.
    const nobody = {addresses: [{type: 'InternalIP', address: '127.0.0.1'}], daemonEndpoints: {kubeletEndpoint: {Port: 1}}};
    await run(`kubectl patch node story-node --subresource=status -p '${JSON.stringify({status: nobody})}'`);
    const unreachable = /dial tcp 127\.0\.0\.1:1: connect: connection refused/;
    for (const command of [
      'logs toolbox -c main',
      'exec toolbox -c main -- true',
      'attach toolbox -c main',
      'cp toolbox:/etc/hosts hosts -c main',
    ])
      expect(await fails(`kubectl ${command}`)).toMatch(unreachable);
    expect(await fails('kubectl port-forward pod/toolbox :80')).toMatch(unreachable);
    // What is proxied never goes to the server's own machine.
    expect(await fails('kubectl get --raw /api/v1/nodes/story-node/proxy/healthz')).toMatch(/address not allowed/);
    expect(await fails('kubectl top nodes')).toContain('metrics not available yet');
  });

  test('proxy carries requests and watches', {timeout: storyLimitMs}, async () => {
    const proxy = await start('proxy', '--port=0');
    const [, address] = await proxy.says(/Starting to serve on (\S+)/);
    const response = await fetch(`http://${address}/api/v1/namespaces/live/configmaps?watch=true&timeoutSeconds=1`);
    expect(response.status).toBe(200);
    expect(
      (await response.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).type),
    ).toEqual(['ADDED']);
    expect(await (await fetch(`http://${address}/healthz`)).text()).toBe('ok');
  });

  test('apply --server-side is refused until there is one', {timeout: storyLimitMs}, async () => {
    expect(await fails('kubectl apply --server-side -f pod.yaml')).toContain('Server-side apply not available on the server');
  });
});
