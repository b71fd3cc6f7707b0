/** Files of a volume that would lie upon or inside one another. */
import {goQuote} from '../../field-errors.ts';
import {list, type Part} from './loose.ts';

interface Placed {
  path: string;
  source: string;
}

const shown = ({path, source}: Placed): string => (source ? `${goQuote(path)} (${source})` : goQuote(path));

const collide = (one: Placed, other: Placed): boolean =>
  one.path !== '' && other.path !== '' && (`${one.path}/`.startsWith(`${other.path}/`) || `${other.path}/`.startsWith(`${one.path}/`));

function collisions(files: readonly Placed[]): string[] {
  return files.flatMap((file, index) =>
    files
      .slice(0, index)
      .filter((other) => collide(other, file))
      .map((other) => `${shown(file)} with ${shown(other)}`),
  );
}

const placed = (items: Part, source = ''): Placed[] => list(items).map(({path = ''}) => ({path: path.replace(/\/+$/, ''), source}));

function projectedFiles({configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate}: Part): Placed[] {
  if (configMap) return placed(configMap.items, `ConfigMap ${goQuote(configMap.name ?? '')}`);
  if (secret) return placed(secret.items, `Secret ${goQuote(secret.name ?? '')}`);
  if (downwardAPI) return placed(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken) return placed([serviceAccountToken], 'ServiceAccountToken');
  if (clusterTrustBundle)
    return placed([clusterTrustBundle], `ClusterTrustBundle ${goQuote(clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? '')}`);
  return [
    ['certificateChainPath', 'chain'],
    ['keyPath', 'key'],
    ['credentialBundlePath', 'credential bundle'],
  ].flatMap(([field, words]) => (podCertificate?.[field!] ? placed([{path: podCertificate[field!]}], `PodCertificate ${words}`) : []));
}

export function overlapWarnings(volumes: readonly Part[]): string[] {
  return volumes.flatMap(({name = '', configMap, secret, downwardAPI, projected}) => {
    const warn = (what: string, files: Placed[]): string[] =>
      collisions(files).map((text) => `volume ${goQuote(name)} (${what}): overlapping paths: ${text}`);
    const sources = list(projected?.sources);
    return [
      ...(configMap ? warn(`ConfigMap ${goQuote(configMap.name ?? '')}`, placed(configMap.items)) : []),
      ...(secret ? warn(`Secret ${goQuote(secret.secretName ?? '')}`, placed(secret.items)) : []),
      ...(downwardAPI ? warn('DownwardAPI', placed(downwardAPI.items)) : []),
      ...sources
        .filter((source) => !Object.values(source).some(Boolean))
        .map(() => `volume ${goQuote(name)} (Projected) has no sources provided`),
      ...warn('Projected', sources.flatMap(projectedFiles)),
    ];
  });
}
