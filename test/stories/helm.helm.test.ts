/** A release's life with Helm 3. Needs helm (`npm run test:setup`). */
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {type Cluster, startCluster} from '../../localstack/library.ts';
import {helm} from './programs.ts';
import {openShell, type Shell} from './session.ts';

const storyLimitMs = 60_000;

describe.skipIf(!helm)('a release', () => {
  let cluster: Cluster;
  let shell: Shell;
  beforeAll(async () => {
    cluster = await startCluster({inMemory: true});
    shell = await openShell(cluster.kubeconfig, [helm!]);
  });
  afterAll(async () => {
    await shell?.close();
    await cluster?.close();
  });
  const run = async (command: string): Promise<string> => {
    const {output, code} = await shell.run(command);
    expect({command, code, output: code === 0 ? '' : output}).toEqual({command, code: 0, output: ''});
    return output;
  };
  const json = async (command: string) => JSON.parse(await run(`${command} -o json`));
  const read = async (path: string) => {
    const {status, body} = await cluster.api.handle({
      method: 'GET',
      path,
      query: [],
      headers: {authorization: `Bearer ${cluster.adminToken}`},
    });
    return {status, object: JSON.parse(Buffer.from(body as Uint8Array).toString())};
  };
  const greeting = async () => (await read('/api/v1/namespaces/greetings/configmaps/hi-greeting')).object.data.greeting;
  const deployment = () => read('/apis/apps/v1/namespaces/greetings/deployments/hi');

  test('is installed into a namespace that it makes', {timeout: storyLimitMs}, async () => {
    await run('helm install hi greeter -n greetings --create-namespace');
    expect(await json('helm list -n greetings')).toMatchObject([{name: 'hi', revision: '1', status: 'deployed', chart: 'greeter-0.1.0'}]);
    expect((await read('/api/v1/namespaces/greetings')).object.metadata.labels).toMatchObject({name: 'greetings'});
    expect((await read('/api/v1/namespaces/greetings/serviceaccounts/hi-hook')).status).toBe(200);
    expect((await read('/apis/policy/v1/namespaces/greetings/poddisruptionbudgets/hi')).status).toBe(200);
    expect(await greeting()).toBe('hello');
    expect((await shell.run('helm install hi greeter -n greetings')).output).toContain('cannot re-use a name that is still in use');
  });

  test('is upgraded, and what the chart no longer sets is gone', {timeout: storyLimitMs}, async () => {
    await run('helm upgrade hi greeter -n greetings --set greeting=hola,replicas=3');
    expect(await greeting()).toBe('hola');
    expect((await deployment()).object).toMatchObject({spec: {replicas: 3}, metadata: {generation: 2}});
    const {output, code} = await shell.run('helm upgrade hi greeter -n greetings --set replicas=many');
    expect({code, output}).toMatchObject({code: 1, output: expect.stringContaining('cannot patch "hi" with kind Deployment')});
  });

  test('goes back, and tells its history', {timeout: storyLimitMs}, async () => {
    await run('helm rollback hi 1 -n greetings');
    expect(await greeting()).toBe('hello');
    expect((await deployment()).object.spec.replicas).toBe(1);
    expect((await json('helm history hi -n greetings')).map(({status}: {status: string}) => status)).toEqual([
      'superseded',
      'superseded',
      'failed',
      'deployed',
    ]);
    expect(await run('helm get manifest hi -n greetings')).toContain('greeting: "hello"');
  });

  test('is tested by a pod that somebody runs', {timeout: storyLimitMs}, async () => {
    const tested = shell.run('helm test hi -n greetings --timeout 20s');
    const path = '/api/v1/namespaces/greetings/pods/hi-test';
    while ((await read(path)).status !== 200) await new Promise((done) => setTimeout(done, 20));
    const {status} = await cluster.api.handle({
      method: 'PATCH',
      path: `${path}/status`,
      query: [],
      headers: {authorization: `Bearer ${cluster.adminToken}`, 'content-type': 'application/merge-patch+json'},
      body: Buffer.from(JSON.stringify({status: {phase: 'Succeeded'}})),
    });
    expect(status).toBe(200);
    const {code, output} = await tested;
    expect({code, output}).toMatchObject({code: 0, output: expect.stringContaining('Phase:          Succeeded')});
  });

  test('is uninstalled, with everything that it made', {timeout: storyLimitMs}, async () => {
    await run('helm uninstall hi -n greetings --wait');
    expect((await deployment()).status).toBe(404);
    expect(await json('helm list -a -n greetings')).toEqual([]);
    expect((await read('/api/v1/namespaces/greetings/secrets')).object.items).toEqual([]);
  });
});
