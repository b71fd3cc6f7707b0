/** Messages to connections that API Gateway holds. What throttles is tried again, what is gone is told, what takes nothing is hung up. */
import type {ApiGatewayManagementApiClient} from '@aws-sdk/client-apigatewaymanagementapi';
import type {Clock} from '../../shared/clock.ts';
import {doors} from './doors.ts';

export interface Sockets {
  /** In order. `gone`: there is nobody. */
  post(connection: string, messages: readonly Uint8Array[]): Promise<'sent' | 'gone'>;
  close(connection: string): Promise<void>;
}

/** Posts share the account's rate with all requests (AWS: 10,000 a second): who is throttled waits, for some seconds in all. */
const maxAttempts = 6;
const firstPauseMs = 50;

/** As a test has it, or over the network. */
export const socketsAt = (endpoint: string): Promise<Sockets> =>
  doors.openSockets ? doors.openSockets(endpoint) : openSockets(endpoint, doors.clock);

/** `endpoint`: `https://host/stage`. */
async function openSockets(endpoint: string, clock: Clock): Promise<Sockets> {
  const {ApiGatewayManagementApiClient, DeleteConnectionCommand, PostToConnectionCommand} = await import(
    '@aws-sdk/client-apigatewaymanagementapi'
  );
  const client: ApiGatewayManagementApiClient = new ApiGatewayManagementApiClient({endpoint, maxAttempts: 1});
  const sockets: Sockets = {
    async post(connection, messages) {
      for (const message of messages) {
        for (let attempt = 1; ; attempt++) {
          try {
            await client.send(new PostToConnectionCommand({ConnectionId: connection, Data: message}));
            break;
          } catch (error) {
            if (isGone(error)) return 'gone';
            if (attempt >= maxAttempts || !isPassing(error)) throw error;
            const pauseMs = firstPauseMs * 2 ** attempt * (0.5 + Math.random());
            await new Promise<void>((resolve) => void clock.after(pauseMs, resolve));
          }
        }
      }
      return 'sent';
    },
    async close(connection) {
      try {
        await client.send(new DeleteConnectionCommand({ConnectionId: connection}));
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    },
  };
  return sockets;
}

const statusOf = (error: unknown): number | undefined => (error as {$metadata?: {httpStatusCode?: number}}).$metadata?.httpStatusCode;
const isGone = (error: unknown): boolean => (error as Error).name === 'GoneException' || statusOf(error) === 410;
/** Without an answer nobody knows whether it was sent: a message that comes twice is passed over by its receiver. */
const isPassing = (error: unknown): boolean => {
  const status = statusOf(error);
  return status === undefined || status === 429 || status >= 500;
};
