/** `--listen`: where to listen, and the address by which clients on this machine reach it. */

export interface Endpoint {
  host: string;
  port: number;
}

/** `127.0.0.1:6443`, `[::1]:0`, `:6443` (all addresses). @throws Error that says what is wrong with it */
export function parseListen(text: string): Endpoint {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw new Error('must be ADDRESS:PORT, for example 127.0.0.1:6443 or [::1]:6443');
  return {host: match[1] ?? (match[2] || '0.0.0.0'), port};
}

const everywhere: Record<string, string> = {'0.0.0.0': '127.0.0.1', '::': '::1'};

export function urlOf({host, port}: Endpoint): string {
  const reachable = everywhere[host] ?? host;
  return `https://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
