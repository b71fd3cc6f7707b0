/** Which logins of a pod's pull secrets fit an image. */
import type {KubeObject} from '../../shared/object.ts';
import type {RegistryAuth} from '../runtime/runtime.ts';
import type {ImageName} from './reference.ts';

interface Entry {
  username?: string;
  password?: string;
  auth?: string;
  identitytoken?: string;
  registrytoken?: string;
}

/** The closest fit first. Secrets that cannot be read fit nothing. */
export function loginsFor({registry, repository}: ImageName, secrets: readonly KubeObject[]): RegistryAuth[] {
  const found: {key: string; auth: RegistryAuth}[] = [];
  for (const secret of secrets) {
    for (const [key, entry] of Object.entries(entriesOf(secret)))
      if (fits(key, registry, repository)) found.push({key, auth: loginOf(entry)});
  }
  return found.sort((a, b) => b.key.length - a.key.length).map(({auth}) => auth);
}

function entriesOf({data = {}, type}: KubeObject): Record<string, Entry> {
  try {
    if (type === 'kubernetes.io/dockercfg') return JSON.parse(Buffer.from(data['.dockercfg'] ?? '', 'base64').toString());
    return JSON.parse(Buffer.from(data['.dockerconfigjson'] ?? '', 'base64').toString()).auths ?? {};
  } catch {
    return {};
  }
}

/** `https://host/v1/`, `*.example.com`, `host:5000/team`. A star stands for one part of the host. */
function fits(key: string, registry: string, repository: string): boolean {
  const [host = '', ...path] = key
    .replace(/^https?:\/\//, '')
    .replace(/\/(v1|v2)?\/?$/, '')
    .split('/');
  const aliases = registry === 'docker.io' ? ['docker.io', 'index.docker.io', 'registry-1.docker.io'] : [registry];
  if (!aliases.some((name) => fitsHost(host, name))) return false;
  return path.length === 0 || `${repository}/`.startsWith(`${path.join('/')}/`) || repository.startsWith(path.join('/'));
}

function fitsHost(pattern: string, host: string): boolean {
  const [wanted, have] = [pattern.split(/[.:]/), host.split(/[.:]/)];
  return (
    wanted.length === have.length &&
    wanted.every((part, index) => new RegExp(`^${part.replace(/[^*\w-]/g, '').replaceAll('*', '.*')}$`).test(have[index]!))
  );
}

function loginOf({username, password, auth, identitytoken, registrytoken}: Entry): RegistryAuth {
  const decoded = auth ? Buffer.from(auth, 'base64').toString() : undefined;
  const colon = decoded?.indexOf(':') ?? -1;
  return {
    username: username ?? (decoded && colon >= 0 ? decoded.slice(0, colon) : ''),
    password: password ?? (decoded && colon >= 0 ? decoded.slice(colon + 1).replace(/\0+$/, '') : ''),
    ...(identitytoken && {identityToken: identitytoken}),
    ...(registrytoken && {registryToken: registrytoken}),
  };
}
