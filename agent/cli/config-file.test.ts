import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeAll, describe, expect, test} from 'vitest';
import {scratch} from '../testing.ts';
import {readConfigFile} from './config-file.ts';
import {Settings} from './settings.ts';

describe('the configuration file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await scratch('nodeagent-config-');
  });
  const read = async (text: string) => {
    const file = join(folder, 'config.yaml');
    await writeFile(file, text);
    return readConfigFile(file);
  };
  const head = 'apiVersion: nodeagent.config.k8s.io/v1beta1\nkind: NodeAgentConfiguration\n';

  test('sets flags by their other names; flags lead; paths are meant from where it is', async () => {
    const file = await read(
      `${head}maxPods: 7\nclusterDNS: [1.2.3.4]\nsyncFrequency: 10s\nevictionHard: {memory.available: 5%}\nstaticPodPath: manifests\nauthentication: {anonymous: {enabled: true}}\n`,
    );
    const settings = new Settings(new Map([['max-pods', 8]]), file);
    expect([settings.number('max-pods'), settings.list('cluster-dns'), settings.duration('sync-frequency')]).toEqual([
      8,
      ['1.2.3.4'],
      10_000,
    ]);
    expect(settings.map('eviction-hard').get('memory.available')).toBe('5%');
    expect(settings.text('pod-manifest-path')).toBe(join(folder, 'manifests'));
  });

  test('closes what is open without it', async () => {
    const settings = new Settings(new Map(), await read(head));
    expect([settings.text('authorization-mode'), settings.bool('anonymous-auth'), settings.bool('authentication-token-webhook')]).toEqual([
      'Webhook',
      false,
      true,
    ]);
  });

  test("a kubelet's own kind is taken too, another kind or an unknown field is not", async () => {
    expect(await read('apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 3\n')).toEqual(
      new Map([['max-pods', 3]]),
    );
    await expect(read('apiVersion: v1\nkind: Pod\n')).rejects.toThrow('no kind "Pod" is registered for version "v1"');
    await expect(read(`${head}nope: 1\nmaxPods: x\n`)).rejects.toThrow(/unknown field "nope", maxPods:/);
    await expect(readConfigFile(join(folder, 'absent'))).rejects.toThrow('no such file or directory');
  });
});
