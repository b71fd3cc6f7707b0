/** What pods trust outlives restarts; what the proxy serves with follows its names. */
import {X509Certificate} from 'node:crypto';
import {readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {scratch} from '../testing.ts';
import {proxyCertificates} from './certificates.ts';

const now = Date.UTC(2026, 0, 1);
const year = 365 * 86_400_000;

test('the CA stays, the serving certificate is made anew for other names and before it ends', async () => {
  const folder = await scratch('pod-api-');
  const first = await proxyCertificates(folder, ['10.0.0.1', 'kubernetes'], now);
  expect(await proxyCertificates(folder, ['10.0.0.1'], now)).toEqual(first);
  const moved = await proxyCertificates(folder, ['10.0.0.2'], now);
  expect(moved.ca).toBe(first.ca);
  expect(moved.cert).not.toBe(first.cert);
  const later = await proxyCertificates(folder, ['10.0.0.2'], now + year - 1000);
  expect(later.ca).toBe(first.ca);
  expect(later.cert).not.toBe(moved.cert);
  const leaf = new X509Certificate(later.cert);
  expect(leaf.verify(new X509Certificate(later.ca).publicKey)).toBe(true);
  expect(leaf.checkIP('10.0.0.2')).toBe('10.0.0.2');
  expect(leaf.ca).toBe(false);
});

test('keys are for the agent alone, and a half-written pair is made anew', async () => {
  const folder = await scratch('pod-api-');
  const first = await proxyCertificates(folder, ['10.0.0.1'], now);
  for (const name of ['ca.key', 'serving.key']) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  await writeFile(join(folder, 'serving.crt'), (await readFile(join(folder, 'serving.crt'), 'utf8')).slice(0, 80));
  const again = await proxyCertificates(folder, ['10.0.0.1'], now);
  expect(again.ca).toBe(first.ca);
  expect(new X509Certificate(again.cert).verify(new X509Certificate(again.ca).publicKey)).toBe(true);
});
