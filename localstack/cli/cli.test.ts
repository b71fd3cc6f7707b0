import {Readable} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import manifest from '../../package.json' with {type: 'json'};
import type {KubeObject} from '../../shared/object.ts';
import {StoreError} from '../../shared/storage/contract.ts';
import {kubeconfigText} from '../kubeconfig.ts';
import {version} from '../version.ts';
import {completion} from './completion.ts';
import type {Collection} from './discovery.ts';
import {kubectlSkew, nodeVersion} from './doctor.ts';
import {chosen, qualifiedName, stripped} from './export.ts';
import {explain, Refusal} from './fail.ts';
import {merge, targetFile} from './kubeconfig.ts';
import {textLog} from './logging.ts';
import {program} from './main.ts';
import {readObjects} from './object-stream.ts';
import {storedObjects} from './status.ts';
import {
  cidrs,
  duration,
  emulatedVersion,
  featureGates,
  issuer,
  portRange,
  positiveDuration,
  previousMinor,
  runtimeConfig,
  serverNames,
} from './values.ts';

test('the release says the same everywhere', () => expect(version).toBe(manifest.version));

describe('values in the formats of kube-apiserver', () => {
  test.each([
    ['1h', 3_600_000],
    ['1h30m', 5_400_000],
    ['300ms', 300],
    ['1.5s', 1_500],
    ['0', 0],
    ['5m0s', 300_000],
  ])('%s is a duration', (text, ms) => expect(duration(text)).toBe(ms));
  test.each(['5', '', 'h', '1h x', '-5s', '1d'])('%j is none', (text) => expect(() => duration(text)).toThrow(/duration/i));

  test.each([
    ['30000-32767', '30000-32767'],
    ['30000+100', '30000-30100'],
    ['30000', '30000-30000'],
  ])('%s is the port range %s', (text, range) => expect(portRange(text)).toBe(range));
  test.each(['abc', '2-1', '1-70000', '0-5'])('%j is no port range', (text) => expect(() => portRange(text)).toThrow());

  test.each(['10.0.0.0/24', '10.0.0.0/16,fd00::/108'])('%s is a service range', (text) => expect(cidrs(text)).toBe(text));
  test.each(['10.0.0.0', '10.0.0/24', '300.0.0.0/8', '10.0.0.0/33', '10.0.0.0/8,10.1.0.0/16', 'x/8'])('%s is none', (text) =>
    expect(() => cidrs(text)).toThrow());

  test('host bits of a service range are dropped', () => expect(cidrs('10.1.2.3/16,fd00::5/112')).toBe('10.1.0.0/16,fd00::/112'));

  test('what a certificate can name, and nothing else, may be added to it', () => {
    expect(serverNames('a.example,*.b.example', ['10.0.0.9'])).toEqual(['10.0.0.9', 'a.example', '*.b.example']);
    for (const text of ['a_b!', 'http://a', '-a']) expect(() => serverNames(text, [])).toThrow('neither a DNS name nor an address');
  });

  test('an issuer is a word or a URL', () => {
    for (const text of ['me', 'https://issuer.example/']) expect(issuer(text)).toBe(text);
    for (const text of ['', 'http://[']) expect(() => issuer(text)).toThrow();
  });

  test('history and continue tokens of no time at all are refused', () => expect(() => positiveDuration('0s')).toThrow('longer than 0'));

  test('what needs the life cycle of versions is refused until it is there', () => {
    expect(emulatedVersion('kube=1.36')).toBe('1.36');
    for (const text of ['1.35', 'wardle=1.2', '1', 'v1.36']) expect(() => emulatedVersion(text)).toThrow();
    expect(() => featureGates('Foo=true')).toThrow('"Foo" cannot be changed');
    expect(() => featureGates('Foo')).toThrow('key=true|false');
    expect(runtimeConfig('api/ga=true,api/alpha=false')).toBeDefined();
    expect(() => runtimeConfig('api/all=true')).toThrow('not supported');
    expect(previousMinor('1.35')).toBe('1.35');
    expect(() => previousMinor('1.30')).toThrow('1.35');
  });
});

describe('errors are one line', () => {
  const listen = Object.assign(new Error('listen'), {code: 'EADDRINUSE', syscall: 'listen', address: '127.0.0.1', port: 6443});
  test.each([
    [listen, /^cannot listen on 127\.0\.0\.1:6443: the port is in use/],
    [new StoreError('InUse', 'held by process 7'), /another process holds it.*held by process 7/],
    [new StoreError('NewerFormat', 'format 9'), /a newer release wrote it/],
    [new Refusal('plainly no'), /^plainly no$/],
    [Object.assign(new Error('x'), {code: 'EACCES', syscall: 'mkdir', path: '/root/x'}), /^\/root\/x: EACCES/],
  ])('%s', (error, words) => {
    expect(explain(error, '/data')).toMatch(words);
    expect(explain(error, '/data')).not.toContain('\n');
  });
  test('a bug is not explained away', () => expect(explain(new TypeError('undefined is not a function'))).toBeUndefined());
});

describe('kubeconfig --merge', () => {
  const ours = kubeconfigText('https://127.0.0.1:6443', 'CA', {certificate: 'CERT', key: 'KEY'});
  const theirs =
    '# mine\napiVersion: v1\nkind: Config\nclusters:\n- name: prod # dear\n  cluster: {server: https://prod}\nusers: null\ncurrent-context: prod\n';

  test('adds ours and keeps theirs, comments too', async () => {
    const merged = await merge(theirs, ours, 'clusterless', false, 'f');
    expect(merged).toContain('# mine');
    expect(merged).toContain('prod # dear');
    const config = parse(merged);
    expect(config.clusters.map(({name}: {name: string}) => name)).toEqual(['prod', 'clusterless']);
    expect(config.contexts).toEqual([{name: 'clusterless', context: {cluster: 'clusterless', user: 'clusterless-admin'}}]);
    expect(config['current-context']).toBe('prod');
  });

  test('replaces what an earlier merge has left, and makes it current when asked to', async () => {
    const once = await merge(theirs, ours, 'c', true, 'f');
    const twice = await merge(once, ours.replace('6443', '7443'), 'c', true, 'f');
    expect(parse(twice).clusters).toHaveLength(2);
    expect(parse(twice).clusters[1].cluster.server).toBe('https://127.0.0.1:7443');
    expect(parse(twice)['current-context']).toBe('c');
  });

  test('makes a whole kubeconfig out of nothing, and leaves alone what is none', async () => {
    expect(parse(await merge('', ours, 'c', false, 'f'))).toMatchObject({kind: 'Config', 'current-context': 'c'});
    for (const text of ['- a\n- b\n', 'clusters: {a: b', 'clusters: text\n'])
      await expect(merge(text, ours, 'c', true, 'f')).rejects.toThrow('left as it is');
  });

  test('goes where kubectl would write', () => {
    expect(targetFile(undefined, '/home/u')).toBe('/home/u/.kube/config');
    expect(targetFile('/a:/b', '/home/u')).toBe('/a');
    expect(targetFile(':/b', '/home/u')).toBe('/b');
  });
});

describe('export and import', () => {
  const collection = (resource: string, group = '', verbs = ['create', 'list'], namespaced = true): Collection => ({
    group,
    version: 'v1',
    apiVersion: group ? `${group}/v1` : 'v1',
    kind: resource,
    resource,
    namespaced,
    verbs,
    subresources: [],
  });
  const all = [
    collection('pods'),
    collection('events'),
    collection('events', 'events.k8s.io'),
    collection('leases', 'coordination.k8s.io'),
    collection('namespaces', '', ['create', 'list'], false),
    collection('customresourcedefinitions', 'apiextensions.k8s.io', ['create', 'list'], false),
    collection('componentstatuses', '', ['get', 'list'], false),
    collection('configmaps'),
  ];
  const names = (flags: Parameters<typeof chosen>[1]): string[] => chosen(all, flags).map(qualifiedName);

  test('namespaces and definitions come first, events and leases only when asked for', () => {
    expect(names({include: [], exclude: []})).toEqual([
      'namespaces',
      'customresourcedefinitions.apiextensions.k8s.io',
      'configmaps',
      'pods',
    ]);
    expect(names({include: ['events', 'leases'], exclude: ['pods'], namespace: 'a'})).toEqual([
      'configmaps',
      'events',
      'leases.coordination.k8s.io',
    ]);
  });

  test('stripped, an object has nothing of the cluster it was in', () => {
    const object: KubeObject = {
      kind: 'A',
      apiVersion: 'v1',
      metadata: {name: 'a', uid: 'u', resourceVersion: '1', labels: {a: 'b'}},
      spec: 1,
    };
    expect(stripped(object)).toEqual({kind: 'A', apiVersion: 'v1', metadata: {name: 'a', labels: {a: 'b'}}, spec: 1});
  });

  const read = async (text: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const object of readObjects(Readable.from([text])))
      found.push(`${object.apiVersion} ${object.kind} ${object.metadata.name}`);
    return found;
  };
  test.each([
    ['JSON lines', '{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}\n{"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}\n'],
    ['YAML documents', '# x\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n---\napiVersion: v1\nkind: B\nmetadata:\n  name: b\n'],
    [
      'a List',
      'apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {apiVersion: v1, kind: B, metadata: {name: b}}\n',
    ],
    [
      'indented JSON',
      '{\n "apiVersion": "v1", "kind": "List", "items": [\n{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}},\n{"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}]}\n',
    ],
  ])('objects are read from %s', async (_, text) => expect(await read(text)).toEqual(['v1 A a', 'v1 B b']));

  test('items of a typed list get its kind', async () =>
    expect(await read('{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"metadata":{"name":"d"}}]}')).toEqual([
      'apps/v1 Deployment d',
    ]));

  test('what is no object is named by its line', async () => {
    await expect(read('---\na: 1\n')).rejects.toThrow('line 2: not an object');
    await expect(read('\n\nkind: [\n')).rejects.toThrow('line 3: ');
  });
});

describe('what people see', () => {
  test('every command explains itself', () => {
    for (const command of program().commands) {
      expect(command.description()).not.toBe('');
      for (const option of command.options) expect([command.name(), option.long, option.description]).not.toContain('');
    }
  });

  test.each(['bash', 'zsh', 'fish'])('completion for %s knows every command and flag', (shell) => {
    const script = completion(shell, program());
    for (const command of program().commands) {
      expect(script).toContain(command.name());
      for (const option of command.options) expect(script).toContain(shell === 'fish' ? (option.long ?? '').slice(2) : option.long);
    }
  });

  test('text logs are one line, whatever is in them', () => {
    const lines: string[] = [];
    const log = textLog(
      0,
      (line) => lines.push(line),
      () => new Date(0),
    );
    log.debug({}, 'unseen');
    log.warn({path: '/a', text: 'two\nlines', n: 1}, 'slow');
    expect(lines).toEqual(['1970-01-01T00:00:00.000Z warn slow path=/a text="two\\nlines" n=1\n']);
  });

  test('doctor knows which Node and kubectl fit', () => {
    expect(['v18.0.0', 'v20.10.0', 'v20.11.0', 'v24.1.0', 'v26.0.0'].map((v) => nodeVersion(v).level)).toEqual([
      'fail',
      'fail',
      'ok',
      'ok',
      'warn',
    ]);
    expect(
      ['"gitVersion": "v1.36.3"', '"gitVersion": "v1.35.0"', '"gitVersion": "v1.33.0"', undefined].map((v) => kubectlSkew(v).level),
    ).toEqual(['ok', 'ok', 'warn', 'warn']);
  });

  test('status counts objects from the metrics', () =>
    expect(
      storedObjects(
        '# TYPE\napiserver_storage_objects{resource="pods"} 3\napiserver_resource_objects{group="apps",resource="deployments"} 5\napiserver_storage_objects{resource="x"} 0\n',
      ),
    ).toEqual([
      ['deployments.apps', 5],
      ['pods', 3],
    ]));
});
