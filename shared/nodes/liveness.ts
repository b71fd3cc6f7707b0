/**
 * Nodes whose life is told by the connection of their agent. Where there is such a connection the agent does not renew its Lease every ten
 * seconds; whoever reads the Lease is told what the connection says (registry/node-leases.ts). Elsewhere Leases are renewed, and this is absent.
 */
export interface NodeLiveness {
  /** When each node was last known to live, in ms: now for one that is connected. Nodes without a connection are left out. `name`: only of it. */
  lastSeen(name?: string): Promise<ReadonlyMap<string, number>>;
}

/** The agent says something at least this often; a ping is a message, an invocation and a write. */
export const livePingSeconds = 100;
/** One that has not been heard for this long is dead, whatever became of its connection: two pings were missed. */
export const hearingMs = 240_000;
/** Between, its Lease is written this often. */
export const leaseSeconds = 3_600;
