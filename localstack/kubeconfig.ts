/** Kubeconfig files of our own: written as text, so that a start does not load a YAML library. Merging with others is the CLI's. */
import {chmod, mkdir, rename, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import type {KeyPair} from './certificates.ts';

export const contextName = 'clusterless';

const base64 = (pem: string): string => Buffer.from(pem).toString('base64');

export function kubeconfigText(server: string, caCertificate: string, client: KeyPair, user = `${contextName}-admin`): string {
  const quoted = /^[\w-]+$/.test(user) ? user : JSON.stringify(user);
  return `apiVersion: v1
kind: Config
clusters:
- name: ${contextName}
  cluster:
    server: ${server}
    certificate-authority-data: ${base64(caCertificate)}
users:
- name: ${quoted}
  user:
    client-certificate-data: ${base64(client.certificate)}
    client-key-data: ${base64(client.key)}
contexts:
- name: ${contextName}
  context:
    cluster: ${contextName}
    user: ${quoted}
current-context: ${contextName}
`;
}

/** Whole or not at all, and readable by its owner only: it holds a key. */
export async function writePrivately(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), {recursive: true, mode: 0o700});
  const fresh = `${path}.${process.pid}.new`;
  await writeFile(fresh, text, {mode: 0o600});
  await chmod(fresh, 0o600);
  await rename(fresh, path);
}
