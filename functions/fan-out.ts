/** Rung by the log's stream: sends what changed to the connections that subscribed to it. */
import {doors} from './kit/doors.ts';
import {readEnvironment} from './kit/environment.ts';
import {sendChanges} from './kit/fan-out.ts';
import {log} from './kit/log.ts';
import {type BatchResult, ringsOf} from './kit/records.ts';
import type {Invocation} from './kit/rest.ts';
import {socketParts} from './kit/socket.ts';

const parts = socketParts('fan-out');

export const handler = async (event: unknown, context: Invocation = {}): Promise<BatchResult> => {
  const rings = ringsOf(event, readEnvironment(doors.variables).cluster);
  const batchItemFailures: BatchResult['batchItemFailures'] = [];
  const opened = await parts();
  const holder = context.awsRequestId ?? crypto.randomUUID();
  await Promise.all(
    rings.map(async ({type, sequenceNumber}) => {
      try {
        await sendChanges(opened, type, holder);
      } catch (error) {
        log.error({type, error: error instanceof Error ? (error.stack ?? error.message) : String(error)}, 'changes were not sent');
        batchItemFailures.push({itemIdentifier: sequenceNumber});
      }
    }),
  );
  return {batchItemFailures};
};
