/** A WebSocket as a carrier of messages: the same at both ends. Knows `ws` by its types only. */
import type {WebSocket} from 'ws';
import type {TunnelCarrier} from './host.ts';

/** More than this on its way to a side that is behind, and streams wait. */
const highWaterBytes = 1024 * 1024;
const maxReasonLength = 100;

export function messageCarrier(webSocket: WebSocket): TunnelCarrier {
  let waiting: (() => void)[] = [];
  const sent = (): void => {
    if (waiting.length === 0 || webSocket.bufferedAmount > highWaterBytes) return;
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve();
  };
  webSocket.once('close', () => {
    for (const resolve of waiting) resolve();
  });
  return {
    send: (message) => {
      if (webSocket.readyState === webSocket.OPEN) webSocket.send(message, sent);
    },
    room: () =>
      webSocket.bufferedAmount > highWaterBytes && webSocket.readyState === webSocket.OPEN
        ? new Promise((resolve) => waiting.push(resolve))
        : undefined,
    close: (code, reason) => webSocket.close(code, reason.slice(0, maxReasonLength)),
  };
}
