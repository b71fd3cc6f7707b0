import {X509Certificate} from 'node:crypto';
import {mkdtemp, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {type KeyPair, loadOrCreatePki} from './certificates.ts';

const dayMs = 86_400_000;
const names = ['localhost', '127.0.0.1', '::1', 'kubernetes.default.svc'];
const parsed = (pair: KeyPair): X509Certificate => new X509Certificate(pair.certificate);

let folder: string;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'pki-')), 'pki');
});
afterEach(() => rm(join(folder, '..'), {recursive: true, force: true}));

describe('the first start', () => {
  test('makes a CA and what it signs, all on P-256', async () => {
    const pki = await loadOrCreatePki({folder, names});
    const ca = parsed(pki.ca);
    expect(ca.ca).toBe(true);
    for (const pair of [pki.serving, pki.admin]) {
      expect(parsed(pair).verify(ca.publicKey)).toBe(true);
      expect(parsed(pair).publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    }
    expect(parsed(pki.admin).subject).toBe('O=system:masters\nCN=clusterless-admin');
    for (const name of names) expect(parsed(pki.serving).subjectAltName).toContain(name === '::1' ? '0:0:0:0:0:0:0:1' : name);
  });

  test('keeps keys to their owner', async () => {
    await loadOrCreatePki({folder, names});
    const mode = async (name: string): Promise<string> => ((await stat(join(folder, name))).mode & 0o777).toString(8);
    expect(await Promise.all(['ca.key', 'apiserver.key', 'admin.key', 'sa.key'].map(mode))).toEqual(['600', '600', '600', '600']);
    expect(await Promise.all(['ca.crt', 'apiserver.crt', 'admin.crt'].map(mode))).toEqual(['644', '644', '644']);
  });
});

describe('a later start', () => {
  test('finds everything as it was', async () => {
    const first = await loadOrCreatePki({folder, names});
    expect(await loadOrCreatePki({folder, names})).toEqual(first);
    expect(await loadOrCreatePki({folder, names: names.slice(0, 2)})).toEqual(first);
  });

  test('makes a new serving certificate, and nothing else, for a name that the old one lacks', async () => {
    const first = await loadOrCreatePki({folder, names});
    const second = await loadOrCreatePki({folder, names: [...names, 'db.example.com']});
    expect(second.serving).not.toEqual(first.serving);
    expect({...second, serving: first.serving}).toEqual(first);
    expect(parsed(second.serving).checkHost('db.example.com')).toBeDefined();
  });

  test('renews what ends within a month, and everything once the CA has ended', async () => {
    const now = Date.now();
    const first = await loadOrCreatePki({folder, names, now});
    expect(await loadOrCreatePki({folder, names, now: now + 300 * dayMs})).toEqual(first);
    const renewed = await loadOrCreatePki({folder, names, now: now + 340 * dayMs});
    expect(renewed.ca).toEqual(first.ca);
    expect(renewed.serving).not.toEqual(first.serving);
    expect(renewed.admin).not.toEqual(first.admin);
    const anew = await loadOrCreatePki({folder, names, now: now + 3_651 * dayMs});
    expect(anew.ca).not.toEqual(first.ca);
    expect(parsed(anew.serving).verify(parsed(anew.ca).publicKey)).toBe(true);
    expect(anew.serviceAccountKey).toBe(first.serviceAccountKey);
  });
});

describe('what is wrong is said in one line that names the file', () => {
  const spoiled: [string, string, RegExp][] = [
    ['apiserver.crt', 'junk', /cannot read certificate .*apiserver\.crt: not a PEM certificate$/],
    ['ca.key', 'junk', /cannot read key .*ca\.key: not a PEM private key$/],
    ['sa.key', 'junk', /cannot read key .*sa\.key: not a PEM private key$/],
  ];
  test.each(spoiled)('%s that holds junk', async (name, text, words) => {
    await loadOrCreatePki({folder, names});
    await writeFile(join(folder, name), text);
    await expect(loadOrCreatePki({folder, names})).rejects.toThrow(words);
  });

  test('a certificate without its key, and one with the key of another', async () => {
    await loadOrCreatePki({folder, names});
    await writeFile(join(folder, 'admin.key'), await readFile(join(folder, 'ca.key')));
    await expect(loadOrCreatePki({folder, names})).rejects.toThrow(/admin\.crt does not belong to key .*admin\.key$/);
    await rm(join(folder, 'admin.key'));
    await expect(loadOrCreatePki({folder, names})).rejects.toThrow(/admin\.key is missing/);
  });

  test("the user's own serving certificate that is not there", async () => {
    const serving = {certificateFile: join(folder, 'none.crt'), keyFile: join(folder, 'none.key')};
    await expect(loadOrCreatePki({folder, names, serving})).rejects.toThrow(/none\.crt: no such file$/);
  });
});

test('in memory, nothing is written', async () => {
  const pki = await loadOrCreatePki({names});
  expect(parsed(pki.serving).checkHost('localhost')).toBeDefined();
  await expect(stat(folder)).rejects.toThrow('ENOENT');
});
