/**
 * A function as a custom resource of the template: CloudFormation says what happens to it and waits, for an hour if need be, for an
 * answer at an address that it names. So there is an answer whatever happens.
 *
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requesttypes.html
 */

import {log} from './log.ts';
import type {Invocation} from './rest.ts';

export interface CustomResourceEvent {
  RequestType: 'Create' | 'Update' | 'Delete';
  /** Where the answer goes; without one the caller gets it. */
  ResponseURL?: string;
  StackId?: string;
  RequestId?: string;
  LogicalResourceId?: string;
  PhysicalResourceId?: string;
  ResourceProperties?: Record<string, unknown>;
}

export interface CustomResourceAnswer {
  Status: 'SUCCESS' | 'FAILED';
  Reason?: string;
  PhysicalResourceId: string;
  StackId?: string;
  RequestId?: string;
  LogicalResourceId?: string;
  Data?: Record<string, string>;
}

type Work = (properties: Record<string, unknown>, event: CustomResourceEvent) => Promise<Record<string, string>>;

/** The whole answer must stay below 4 KB. */
const maxReasonLength = 1_000;
/** For the answer that time has run out. */
const answerMs = 5_000;

/** `work` runs for what is made and what changes; a resource that goes leaves what it has made. */
export function customResource(physicalId: string, work: Work): (event: unknown, context?: Invocation) => Promise<CustomResourceAnswer> {
  return async (raw, context = {}) => {
    const event = parse(raw);
    const {StackId, RequestId, LogicalResourceId, PhysicalResourceId = physicalId} = event;
    const about = {
      PhysicalResourceId,
      ...(StackId !== undefined && {StackId}),
      ...(RequestId !== undefined && {RequestId}),
      ...(LogicalResourceId !== undefined && {LogicalResourceId}),
    };
    let answer: CustomResourceAnswer;
    try {
      const done = event.RequestType === 'Delete' ? {} : await inTime(work(event.ResourceProperties ?? {}, event), context);
      answer = {Status: 'SUCCESS', ...about, Data: done};
    } catch (error) {
      log.error({error: error instanceof Error ? (error.stack ?? error.message) : String(error)}, 'deployment failed');
      answer = {Status: 'FAILED', ...about, Reason: String(error).slice(0, maxReasonLength)};
    }
    if (event.ResponseURL === undefined) {
      if (answer.Status === 'FAILED') throw new Error(answer.Reason);
    } else await reply(event.ResponseURL, answer);
    return answer;
  };
}

/** @throws Error */
function parse(event: unknown): CustomResourceEvent {
  const {RequestType} = (event ?? {}) as {RequestType?: unknown};
  if (RequestType !== 'Create' && RequestType !== 'Update' && RequestType !== 'Delete')
    throw new Error(`not an event of a custom resource: its RequestType is ${JSON.stringify(RequestType)}`);
  return event as CustomResourceEvent;
}

async function inTime<T>(work: Promise<T>, {getRemainingTimeInMillis}: Invocation): Promise<T> {
  const remainingMs = getRemainingTimeInMillis?.();
  if (remainingMs === undefined) return work;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error('time ran out before it was done; it goes on from there when it is tried again')),
      remainingMs - answerMs,
    );
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function reply(url: string, answer: CustomResourceAnswer): Promise<void> {
  // The address is signed for an empty content type.
  const response = await fetch(url, {method: 'PUT', headers: {'content-type': ''}, body: JSON.stringify(answer)});
  if (!response.ok) throw new Error(`CloudFormation did not take the answer: ${response.status}`);
}
