/** The frame of a function that API Gateway calls for a connection. */
import {log} from './log.ts';
import type {Invocation} from './rest.ts';
import {type SocketEvent, socketEventOf} from './socket-event.ts';

export interface SocketResult {
  statusCode: number;
  headers?: Record<string, string>;
}

export type SocketHandler = (event: unknown, context?: Invocation) => Promise<SocketResult>;

/** Whatever fails is logged; the gateway hears of it as a status. @throws Error for an event that is no WebSocket API's */
export function socketHandler(act: (event: SocketEvent, raw: unknown) => Promise<SocketResult>): SocketHandler {
  return async (raw) => {
    const event = socketEventOf(raw);
    try {
      return await act(event, raw);
    } catch (error) {
      log.error(
        {connection: event.connection, error: error instanceof Error ? (error.stack ?? error.message) : String(error)},
        'message failed',
      );
      return {statusCode: 500};
    }
  };
}
