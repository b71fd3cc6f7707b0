/**
 * Leases of nodes as they are read: `spec.renewTime` is not what was written last but what the node's connection says, where that is later.
 * So a controller that knows nothing of connections sees a living node renew its Lease, and a dead one stop.
 */
import type {RefreshOptions} from '../changes/watcher.ts';
import type {KubeObject} from '../object.ts';
import type {Stored} from '../storage/contract.ts';
import {type Machine, prefixOf, type RequestContext} from './context.ts';
import {decodeImage} from './encode.ts';

export const leaseNamespace = 'kube-node-lease';
const leaseType = 'leases.coordination.k8s.io';
/** As often as agents renew where nothing else tells of them. Controllers give a node up after 40 s. */
const refreshMs = 10_000;

type Asked = Pick<RequestContext, 'machine' | 'resource' | 'info'>;

/** Whether what is asked for may hold Leases of nodes whose life is told otherwise. */
export function toldByConnections({machine, resource, info}: Asked): boolean {
  if (!machine.nodeLiveness || resource.storageType !== leaseType) return false;
  return info.namespace === leaseNamespace || info.namespace === '';
}

export async function asAlive(context: Asked, stored: Stored): Promise<Stored> {
  const name = context.info.name;
  return revived(stored, (await context.machine.nodeLiveness!.lastSeen(name)).get(name)) ?? stored;
}

export async function allAsAlive({machine}: Asked, items: readonly Stored[]): Promise<Stored[]> {
  const seen = await machine.nodeLiveness!.lastSeen();
  return items.map((item) => revivedBy(seen, item) ?? item);
}

/** While a watch is open nothing is written either: it is told of each living node again and again. */
export function refreshOf(context: Asked, matches: ((item: Stored) => boolean) | undefined): RefreshOptions {
  const {machine} = context;
  const prefix = prefixOf(context);
  return {
    everyMs: refreshMs,
    async items() {
      const [seen, items] = await Promise.all([machine.nodeLiveness!.lastSeen(), leasesOf(machine, prefix)]);
      return items.flatMap((item) => {
        const now = (!matches || matches(item)) && revivedBy(seen, item);
        return now ? [now] : [];
      });
    },
  };
}

async function leasesOf({store, collections}: Machine, prefix: string): Promise<readonly Stored[]> {
  return ((await collections.view(leaseType, prefix)) ?? (await store.scan(leaseType, {prefix}))).items;
}

function revivedBy(seen: ReadonlyMap<string, number>, item: Stored): Stored | undefined {
  const [namespace, name] = item.key.split('/');
  return namespace === leaseNamespace ? revived(item, seen.get(name!)) : undefined;
}

/** Undefined when it was written later than the node was seen. */
function revived(stored: Stored, seenMs: number | undefined): Stored | undefined {
  if (seenMs === undefined) return undefined;
  const lease: KubeObject = decodeImage(stored.image);
  if (Date.parse(lease.spec?.renewTime ?? '') >= seenMs) return undefined;
  const spec = {...lease.spec, renewTime: new Date(seenMs).toISOString().replace('Z', '000Z')};
  return {...stored, image: Buffer.from(`${JSON.stringify({...lease, spec})}\n`)};
}
