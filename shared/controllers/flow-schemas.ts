/** Says in the status of each FlowSchema whether the priority level that it names is there: what clients wait for before they rely on it. */
import type {Log} from '../api.ts';
import type {ObjectCaches} from '../changes/object-cache.ts';
import type {Client} from '../client/client.ts';
import type {Clock} from '../clock.ts';
import {isReason} from '../errors.ts';
import {rfc3339} from '../kinds/common/time.ts';
import type {KubeObject} from '../object.ts';
import {Queue} from './queue.ts';

const schemas = {groupVersion: 'flowcontrol.apiserver.k8s.io/v1', resource: 'flowschemas'};
const schemaType = 'flowschemas.flowcontrol.apiserver.k8s.io';
const levelType = 'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io';

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime?: string;
}

export class FlowSchemaController {
  readonly #options: {client: Client; caches: ObjectCaches; clock: Clock};
  readonly #queue: Queue;

  constructor(options: {client: Client; caches: ObjectCaches; clock: Clock; log: Log}) {
    this.#options = options;
    this.#queue = new Queue(options.clock, options.log, 'flow schemas', (name) => this.#reconcile(name));
  }

  async start(): Promise<void> {
    const {caches} = this.#options;
    const found = await caches.of(schemaType);
    found.onChange((name, object) => {
      if (object) this.#queue.add(name);
    });
    (await caches.of(levelType)).onChange((name, level, old) => {
      if (Boolean(level) === Boolean(old)) return;
      for (const schema of found.values()) if (levelOf(schema) === name) this.#queue.add(schema.metadata.name!);
    });
  }

  /** See Queue. */
  settled(signal: AbortSignal): Promise<boolean> {
    return this.#queue.settled(signal);
  }

  stop(): Promise<void> {
    return this.#queue.stop();
  }

  async #reconcile(name: string): Promise<undefined> {
    const {client, caches, clock} = this.#options;
    const schema = (await caches.of(schemaType)).get(name);
    if (!schema) return;
    const level = levelOf(schema);
    const wanted = dangling(level, (await caches.of(levelType)).get(level) !== undefined);
    const conditions: Condition[] = schema['status']?.conditions ?? [];
    const before = conditions.find(({type}) => type === wanted.type);
    if (before?.status === wanted.status && before.message === wanted.message) return;
    const lastTransitionTime = before?.status === wanted.status ? before.lastTransitionTime : rfc3339(clock.now());
    const others = conditions.filter(({type}) => type !== wanted.type);
    try {
      await client.update(schemas, {...schema, status: {conditions: [...others, {...wanted, lastTransitionTime}]}}, 'status');
    } catch (error) {
      // Whoever changed it meanwhile has queued it again.
      if (!isReason(error, 'NotFound') && !isReason(error, 'Conflict')) throw error;
    }
  }
}

const levelOf = (schema: KubeObject): string => schema['spec']?.priorityLevelConfiguration?.name ?? '';

function dangling(level: string, exists: boolean): Condition {
  const about = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  return exists
    ? {type: 'Dangling', status: 'False', reason: 'Found', message: `${about} and it exists`}
    : {type: 'Dangling', status: 'True', reason: 'NotFound', message: `${about} but there is no such object`};
}
