/**
 * Writes what every cluster starts with, and keeps what every namespace has. A first start creates it all, in parallel where nothing
 * depends on order; a later start lists what is there and writes only what differs.
 */
import type {Log} from '../../api.ts';
import type {ObjectCaches} from '../../changes/object-cache.ts';
import type {Client, ResourcePath} from '../../client/client.ts';
import type {Clock} from '../../clock.ts';
import {isReason} from '../../errors.ts';
import type {KubeObject} from '../../object.ts';
import {AggregationController} from './aggregation.ts';
import {type BootstrapOptions, type Desired, desiredStages} from './desired.ts';
import {NamespaceContent} from './namespace-content.ts';
import {keepAddresses} from './reconcile.ts';

export interface Bootstrap {
  client: Client;
  machine: {caches: ObjectCaches; clock: Clock; log: Log};
  options: BootstrapOptions & {caCertificate?: string; reconciled?: boolean};
}

/** Resolves when all is written. Answers with what stops the controllers. */
export async function bootstrap({client, machine, options}: Bootstrap): Promise<() => Promise<void>> {
  const {caches, clock, log} = machine;
  const content = new NamespaceContent({client, caches, clock, log, ...(options.caCertificate && {caCertificate: options.caCertificate})});
  const aggregation = new AggregationController({client, caches, clock, log});
  const stages = desiredStages(options, clock.now());
  const due = options.reconciled ? stages.map((stage) => stage.filter(({reconcile}) => reconcile === keepAddresses)) : stages;
  for (const stage of due) await ensureAll(client, stage, clock.now());
  await Promise.all([content.start(), aggregation.start()]);
  return async () => {
    await Promise.all([content.stop(), aggregation.stop()]);
  };
}

const listPath = ({groupVersion, resource, namespace}: ResourcePath): string => `${groupVersion}/${resource}/${namespace ?? ''}`;

export async function ensureAll(client: Client, desired: readonly Desired[], now: number): Promise<void> {
  const paths = new Map(desired.map(({path}) => [listPath(path), path]));
  const existing = new Map<string, KubeObject>();
  await Promise.all(
    [...paths].map(async ([key, path]) => {
      for (const object of (await client.list(path)).items) existing.set(`${key}/${object.metadata.name}`, object);
    }),
  );
  await Promise.all(desired.map((one) => ensure(client, one, existing.get(`${listPath(one.path)}/${one.object.metadata.name}`), now)));
}

/** Somebody else may be at it: another server that starts, an administrator. */
const maxAttempts = 5;

async function ensure(client: Client, desired: Desired, found: KubeObject | undefined, now: number): Promise<void> {
  const {path, object, reconcile} = desired;
  const name = object.metadata.name!;
  let existing = found && {...found, kind: object.kind, apiVersion: object.apiVersion};
  for (let attempt = 1; ; attempt++) {
    try {
      const change = existing && reconcile(existing, object);
      let written = existing;
      if (!existing) written = await client.create(path, object);
      else if (change && 'update' in change) written = await client.update(path, change.update);
      else if (change) {
        await client.delete(path, name, {preconditions: {uid: existing.metadata.uid}});
        written = await client.create(path, object);
      }
      await ensureConditions(client, desired, written!, now);
      return;
    } catch (error) {
      const raced = isReason(error, 'AlreadyExists') || isReason(error, 'Conflict') || isReason(error, 'NotFound');
      if (!raced || attempt >= maxAttempts) throw error;
      existing = await find(client, path, name);
    }
  }
}

async function ensureConditions(client: Client, {path, object, conditions}: Desired, written: KubeObject, now: number): Promise<void> {
  if (!conditions || written['status']?.conditions?.length) return;
  const lastTransitionTime = `${new Date(now).toISOString().slice(0, 19)}Z`;
  const status = {conditions: conditions.map(({type, status: value, ...why}) => ({type, status: value, lastTransitionTime, ...why}))};
  await client.patch(path, object.metadata.name!, 'application/merge-patch+json', {status}, 'status');
}

async function find(client: Client, path: ResourcePath, name: string): Promise<KubeObject | undefined> {
  try {
    return await client.get(path, name);
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
