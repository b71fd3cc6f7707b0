/** Whether something listens. */
import net from 'node:net';
import type {Outcome} from './http.ts';

export function tcpCheck(host: string, port: number, timeoutMs: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = net.connect({host, port});
    const settle = (outcome: Outcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(timeoutMs, () => settle({result: 'failure', output: `dial tcp ${host}:${port}: i/o timeout`}));
    socket.on('connect', () => settle({result: 'success', output: ''}));
    socket.on('error', (error: NodeJS.ErrnoException) =>
      settle({
        result: 'failure',
        output: error.code === 'ECONNREFUSED' ? `dial tcp ${host}:${port}: connect: connection refused` : error.message,
      }),
    );
  });
}
