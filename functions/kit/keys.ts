/** The secrets of a cluster: made when it is first deployed, and by nobody else. They are parameters from then on, never in a template. */
import {makeCa, newKey} from '../../shared/auth/certificate-authority.ts';
import type {Parameter} from '../functions.ts';
import type {Doors} from './doors.ts';

export interface Keys {
  /** PEM of what client certificates are signed with. */
  clientCa: string;
  /** PEM of what the API is verified with, where it is none that everybody knows. */
  ca: string | undefined;
}

type Access = Pick<Doors, 'readParameters' | 'writeParameter' | 'clock'>;

export async function ensureKeys(access: Access, path: string, staticTokens: string): Promise<Keys> {
  const names: Parameter[] = ['service-account-key', 'client-ca', 'client-ca-key', 'static-tokens', 'ca'];
  const known = await access.readParameters(path, names);
  if (known['service-account-key'] === undefined) await access.writeParameter(path, 'service-account-key', newKey(), {replace: false});
  if (staticTokens !== '' && staticTokens !== known['static-tokens'])
    await access.writeParameter(path, 'static-tokens', staticTokens, {replace: true});
  const {'client-ca': clientCa, ca} = known;
  return {clientCa: clientCa ?? (await makeClientCa(access, path)), ca};
}

/** The certificate last: until it is there, a key beside it is half of a pair that nobody has used. */
async function makeClientCa(access: Access, path: string): Promise<string> {
  const {certificate, key} = await makeCa(access.clock.now());
  await access.writeParameter(path, 'client-ca-key', key, {replace: true});
  await access.writeParameter(path, 'client-ca', certificate, {replace: true});
  return certificate;
}
