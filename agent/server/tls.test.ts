import {X509Certificate} from 'node:crypto';
import {stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {scratch} from '../testing.ts';
import {servingCertificate} from './tls.ts';

const none = {certFile: '', keyFile: ''};
const names = ['n1', '127.0.0.1', 'fd00::1'];
const now = Date.UTC(2026, 0, 1);

describe('what the agent serves with', () => {
  test('is made once, for its names and addresses, and its key is nobody else’s to read', async () => {
    const certDir = join(await scratch('nodeagent-tls-'), 'pki');
    const made = await servingCertificate({...none, certDir}, names, now);
    const certificate = new X509Certificate(made.cert);
    expect(certificate.subjectAltName).toBe('DNS:n1, IP Address:127.0.0.1, IP Address:FD00:0:0:0:0:0:0:1');
    expect(certificate.subject).toBe(`CN=n1@${now / 1000}`);
    expect(Date.parse(certificate.validFrom)).toBeLessThan(now);
    expect(Date.parse(certificate.validTo)).toBe(now + 365 * 86_400_000);
    expect((await stat(join(certDir, 'nodeagent.key'))).mode & 0o777).toBe(0o600);
    expect(await servingCertificate({...none, certDir}, ['other'], now)).toEqual(made);
  });

  test('is what was given, if both halves were', async () => {
    const folder = await scratch('nodeagent-tls-');
    const [certFile, keyFile] = [join(folder, 'a.crt'), join(folder, 'a.key')];
    await writeFile(certFile, 'the certificate');
    await writeFile(keyFile, 'the key');
    expect(await servingCertificate({certFile, keyFile, certDir: folder}, names, now)).toEqual({cert: 'the certificate', key: 'the key'});
  });

  test('is an error where the given files are not there', async () => {
    const certDir = await scratch('nodeagent-tls-');
    const files = {certFile: join(certDir, 'no.crt'), keyFile: join(certDir, 'no.key'), certDir};
    await expect(servingCertificate(files, names, now)).rejects.toThrow(/ENOENT.*no\.crt/);
  });

  test('is made anew when only half of it was written', async () => {
    const certDir = await scratch('nodeagent-tls-');
    await writeFile(join(certDir, 'nodeagent.key'), 'half');
    const {cert, key} = await servingCertificate({...none, certDir}, names, now);
    expect(cert).toContain('BEGIN CERTIFICATE');
    expect(key).toContain('BEGIN PRIVATE KEY');
  });
});
