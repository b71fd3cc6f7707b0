import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import type {KubeObject} from '../../shared/object.ts';
import {FakeRuntime} from '../runtime/fake.ts';
import {loginsFor} from './credentials.ts';
import {Puller} from './puller.ts';
import {parseImage} from './reference.ts';

describe("an image's name", () => {
  test.each([
    ['busybox', 'busybox:latest', 'docker.io', 'library/busybox'],
    ['a/b:1', 'a/b:1', 'docker.io', 'a/b'],
    ['127.0.0.1:5000/x/y', '127.0.0.1:5000/x/y:latest', '127.0.0.1:5000', 'x/y'],
    ['reg.example/x@sha256:' + 'a'.repeat(64), 'reg.example/x@sha256:' + 'a'.repeat(64), 'reg.example', 'x'],
  ])('%s', (image, reference, registry, repository) => {
    expect(parseImage(image)).toEqual({reference, registry, repository});
  });

  test.each(['BAD//image', 'a:b:c', '', ':x', 'a b'])('%j is none', (image) => {
    expect(() => parseImage(image)).toThrow('invalid reference format');
  });
});

const secret = (auths: object): KubeObject => ({
  kind: 'Secret',
  apiVersion: 'v1',
  metadata: {name: 's'},
  type: 'kubernetes.io/dockerconfigjson',
  data: {'.dockerconfigjson': Buffer.from(JSON.stringify({auths})).toString('base64')},
});
const auth = (user: string) => ({auth: Buffer.from(`${user}:pw:x`).toString('base64')});

describe('logins', () => {
  test('fit by host, wildcard and path, the closest first', () => {
    const name = parseImage('reg.example.com/team/app:1');
    const found = loginsFor(name, [
      secret({
        '*.example.com': auth('wide'),
        'reg.example.com/team': auth('near'),
        'other.example.com': auth('no'),
        'https://reg.example.com/v1/': auth('host'),
      }),
    ]);
    expect(found.map(({username}) => username)).toEqual(['host', 'near', 'wide']);
    expect(found[0]?.password).toBe('pw:x');
  });

  test('of a secret that cannot be read are none', () => {
    expect(loginsFor(parseImage('a'), [{...secret({}), data: {'.dockerconfigjson': '!!'}}])).toEqual([]);
  });
});

describe('pulling', () => {
  const begin = () => {
    const runtime = new FakeRuntime(['there:1']);
    const clock = new ManualClock();
    const puller = new Puller({runtime, clock, serialize: true});
    const said: string[] = [];
    const ensure = (image: string, policy = 'IfNotPresent') =>
      puller.ensure({
        image,
        policy,
        backoffKey: image,
        secrets: async () => [],
        sandbox: {metadata: {name: '', uid: '', namespace: '', attempt: 0}, logDirectory: '', labels: {}, annotations: {}},
        say: (_, reason) => void said.push(reason),
      });
    return {runtime, clock, ensure, said};
  };

  test('is done where the policy wants it', async () => {
    const {runtime, ensure, said} = begin();
    await ensure('there:1');
    runtime.registry.add('there:1');
    await ensure('there:1', 'Always');
    expect(said).toEqual(['Pulled', 'Pulling', 'Pulled']);
    await expect(ensure('absent:1', 'Never')).rejects.toMatchObject({reason: 'ErrImageNeverPull'});
    await expect(ensure('NO')).rejects.toMatchObject({reason: 'InvalidImageName'});
  });

  test('that failed is held back, twice as long each time, until it succeeds', async () => {
    const {runtime, clock, ensure} = begin();
    const reasons: string[] = [];
    for (const wait of [0, 2_000, 10_000, 10_000, 10_000]) {
      clock.advance(wait);
      await ensure('late:1').catch(({reason}) => reasons.push(reason));
    }
    expect(reasons).toEqual(['ErrImagePull', 'ImagePullBackOff', 'ErrImagePull', 'ImagePullBackOff', 'ErrImagePull']);
    runtime.registry.add('late:1');
    clock.advance(40_000);
    expect((await ensure('late:1')).repoTags).toEqual(['late:1']);
  });
});
