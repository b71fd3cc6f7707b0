/** A way to a server that can be cut: connections through it end at once, and new ones are refused until it is mended. */
import {once} from 'node:events';
import net from 'node:net';

export interface CuttableWay {
  port: number;
  /** How many connections there were so far. */
  readonly connections: number;
  cut(): void;
  mend(): void;
  close(): void;
}

export async function cuttableWay(address: string): Promise<CuttableWay> {
  const [host, port] = address.split(':');
  const open = new Set<net.Socket>();
  let isCut = false;
  let connections = 0;
  const server = net.createServer((near) => {
    near.on('error', () => {});
    if (isCut) return near.destroy();
    connections += 1;
    const far = net.connect(Number(port), host);
    far.on('error', () => {});
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    isCut = true;
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as net.AddressInfo).port,
    get connections() {
      return connections;
    },
    cut,
    mend: () => {
      isCut = false;
    },
    close: () => {
      cut();
      server.close();
    },
  };
}
