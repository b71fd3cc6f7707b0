/**
 * Rung by the log's stream, for what controllers have to do with: new namespaces get their content, those that go are emptied, what lost
 * its owner is collected, roles are gathered, pods get nodes. Most changes are nothing to them, and cost no call.
 */
import {RungControllers} from './kit/controllers.ts';
import {doors} from './kit/doors.ts';
import {readEnvironment} from './kit/environment.ts';
import {type BatchResult, ringsOf} from './kit/records.ts';
import type {Invocation} from './kit/rest.ts';

const controllers = RungControllers.of('controllers');

/** Of these, creations and changes count as well. */
const followed = new Set([
  'namespaces',
  'nodes',
  'pods',
  'clusterroles.rbac.authorization.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
]);
/** They come and go by the minute, and nothing is owned by them. */
const ignored = new Set(['events', 'servicenodeports.internal', 'verificationkeys.internal']);

export const handler = async (event: unknown, context: Invocation = {}): Promise<BatchResult> => {
  const rings = ringsOf(event, readEnvironment(doors.variables).cluster).filter(
    ({type, goes}) => followed.has(type) || (goes && !ignored.has(type)),
  );
  if (rings.length === 0) return {batchItemFailures: []};
  const done = await (await controllers()).react(
    rings.map(({type}) => type),
    context,
  );
  return {batchItemFailures: done ? [] : rings.map(({sequenceNumber}) => ({itemIdentifier: sequenceNumber}))};
};
