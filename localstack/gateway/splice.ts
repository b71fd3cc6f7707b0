/** A connection of a client, and what the API answered its upgrade with, made one: bytes both ways, each side as fast as the other takes them. */
import type {Duplex} from 'node:stream';

/** When either side has said its last word, and that has been handed on, both are over: nobody can tell what a half of a session is for. */
export function splice(client: Duplex, backend: Duplex): void {
  client.pipe(backend);
  backend.pipe(client);
  const over = (): void => {
    client.destroy();
    backend.destroy();
  };
  for (const side of [client, backend]) {
    side.once('finish', over);
    side.once('close', over);
    side.on('error', over);
  }
}
