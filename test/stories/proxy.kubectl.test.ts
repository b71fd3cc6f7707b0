/** kubectl through `clusterless proxy`, the built command: what it shows is what it shows without. */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {kubectl} from './programs.ts';
import {type Server, startServer} from './server.ts';
import {openShell, type Shell} from './session.ts';

const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

describe.skipIf(!kubectl)('kubectl through the proxy', {timeout: 60_000}, () => {
  let server: Server;
  let proxy: ChildProcess;
  let shell: Shell;
  let ready = '';
  const running = new Set<ChildProcess>();

  beforeAll(async () => {
    server = await startServer();
    proxy = spawn(process.execPath, [command, 'proxy', '--kubeconfig', server.kubeconfig, '--listen', '127.0.0.1:0']);
    ready = await new Promise<string>((done, fail) => {
      let out = '';
      proxy.stdout!.on('data', (chunk) => {
        out += chunk;
        if (out.includes('\n')) done(out);
      });
      proxy.once('exit', (code) => fail(new Error(`the proxy ended with ${code}`)));
    });
    const url = /ready (\S+)/.exec(ready)![1];
    shell = await openShell(
      `{apiVersion: v1, kind: Config, current-context: p, clusters: [{name: p, cluster: {server: '${url}'}}], contexts: [{name: p, context: {cluster: p}}]}`,
      [kubectl!],
    );
  }, 60_000);
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
    await shell?.close();
    if (proxy) {
      proxy.kill('SIGTERM');
      expect((await once(proxy, 'exit'))[0]).toBe(0);
    }
    await server?.close();
  });

  const run = async (line: string): Promise<string> => {
    const {output, code} = await shell.run(line);
    expect({line, code, output: code === 0 ? '' : output}).toEqual({line, code: 0, output: ''});
    return output.trim();
  };
  const watch = async (line: string) => {
    const file = await run('echo $KUBECONFIG');
    const child = spawn(kubectl!, [...line.split(' '), '--kubeconfig', file]);
    running.add(child);
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    return async (pattern: RegExp): Promise<string> => {
      while (!pattern.test(output)) await new Promise((done) => setTimeout(done, 10));
      return output;
    };
  };

  test('is told where to find it, and how watches go', () => {
    expect(ready).toMatch(/^ready http:\/\/127\.0\.0\.1:\d+ for https:\/\/127\.0\.0\.1:\d+, watches over WebSocket\n$/);
  });

  test('watches in rows', async () => {
    await run('kubectl create configmap first --from-literal=a=b');
    const shows = await watch('get configmaps -w');
    await shows(/first +1/);
    await run('kubectl create configmap second');
    await run('kubectl patch configmap first -p \'{"data":{"c":"d"}}\'');
    await run('kubectl delete configmap second');
    const output = await shows(/first +2[\s\S]*second/);
    expect(output.match(/NAME/g)).toHaveLength(1);
    expect(output).toMatch(/^NAME +DATA +AGE\n/);
  });

  test('watches objects, and events by type', async () => {
    const shows = await watch('get configmaps -w -o jsonpath={.type}:{.object.metadata.name}; --output-watch-events');
    await shows(/ADDED:first;/);
    await run('kubectl create configmap typed');
    await run('kubectl delete configmap typed');
    expect(await shows(/DELETED:typed;/)).toMatch(/ADDED:typed;/);
  });

  test('waits', async () => {
    await run('kubectl create configmap awaited');
    const waited = run("kubectl wait configmap/awaited --for=jsonpath='{.data.ready}'=yes --timeout=30s");
    await run('kubectl patch configmap awaited -p \'{"data":{"ready":"yes"}}\'');
    expect(await waited).toBe('configmap/awaited condition met');
    const gone = run('kubectl wait configmap/awaited --for=delete --timeout=30s');
    await run('kubectl delete configmap awaited');
    await gone;
  });

  test('does everything else as well, with words from the server', async () => {
    expect(await run('kubectl get --raw /readyz')).toBe('ok');
    expect(await run('kubectl api-resources --api-group=apps -o name')).toContain('deployments.apps');
    expect((await shell.run('kubectl exec nobody -- ls')).output).toContain('pods "nobody" not found');
    expect((await shell.run('kubectl get configmap nothing')).output.trim()).toBe(
      'Error from server (NotFound): configmaps "nothing" not found',
    );
    expect((await shell.run('kubectl get secrets -w --as=nobody')).output).toContain(
      'User "nobody" cannot list resource "secrets" in API group "" in the namespace "default"',
    );
  });
});
