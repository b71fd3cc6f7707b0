/**
 * Clients that decide by configuration, as requests do: each process hears of roles and namespaces through passive subscriptions, and
 * sessions promise that what it has heard is exact. What they decided by is written down as reads of configuration.
 */

import {isStoreError, type Revision, type Session, type Stored, type Subscription} from '../../../shared/storage/contract.ts';
import type {History} from '../history.ts';
import type {Process} from './process.ts';

export const roles = 'roles.rbac.authorization.k8s.io';
export const namespaces = 'namespaces';
export const pods = 'pods';

export interface Requests {
  history: History;
  random(): number;
  running(): boolean;
  pause(): Promise<void>;
  process(): Process;
  /** Keys of roles, and names of namespaces. */
  roles: readonly string[];
  namespaces: readonly string[];
  /** Namespaces that were found empty after they were terminated, and at which revision of the pods. */
  emptied: {namespace: string; revision: Revision}[];
}

const mayRetry = (error: unknown): boolean => isStoreError(error, 'Unavailable');
/** What a subscription may say that began too late; sessions and writes never do. */
const cameTooLate = (error: unknown): void => {
  if (!isStoreError(error, 'Compacted')) throw error;
};
const isRefusal = (error: unknown): boolean => isStoreError(error) && ['Exists', 'Changed', 'NotFound'].includes(error.code);
const pick = <T>(list: readonly T[], random: () => number): T => list[Math.floor(random() * list.length)]!;

/** What a process has heard of a type of configuration. */
class Heard {
  /** Undefined: nothing is known, or no longer. */
  current: Map<string, Stored> | undefined;
  readonly #process: Process;
  readonly #type: string;
  #subscription: Subscription | undefined;
  #starting: Promise<void> | undefined;

  constructor(process: Process, type: string) {
    this.#process = process;
    this.#type = type;
  }

  /** @throws StoreError when it cannot be had now */
  async start(): Promise<void> {
    if (this.current) return;
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  async #start(): Promise<void> {
    const {store} = this.#process;
    this.#subscription?.close();
    const {items, revision} = await store.scan(this.#type, {prefix: ''});
    const heard = new Map(items.map((item) => [item.key, item]));
    let ended = false;
    this.#subscription = await store.subscribe(
      this.#type,
      revision,
      {
        changes: (changes) => {
          for (const change of changes) {
            if (change.operation === 'delete') heard.delete(change.key);
            else heard.set(change.key, change);
          }
        },
        ended: () => {
          ended = true;
          if (this.current === heard) this.current = undefined;
        },
      },
      {passive: true},
    );
    if (!ended) this.current = heard;
  }
}

/** Beside each process, what it has heard. */
export class Listening {
  readonly #heard = new Map<Process, Map<string, Heard>>();

  async to(process: Process, type: string): Promise<Heard> {
    const ofProcess = this.#heard.get(process) ?? new Map<string, Heard>();
    this.#heard.set(process, ofProcess);
    const heard = ofProcess.get(type) ?? new Heard(process, type);
    ofProcess.set(type, heard);
    await heard.start();
    return heard;
  }
}

/** Reads, lists and writes pods, each time by leave of a role. */
export async function requester(requests: Requests, listening: Listening): Promise<void> {
  const {history, random} = requests;
  const name = `q${history.writers++}`;
  const known = new Map<string, Revision>();
  for (let count = 0; requests.running(); count++) {
    const process = requests.process();
    const role = pick(requests.roles, random);
    const key = `n0/o${Math.floor(random() * 3)}`;
    const began = history.now();
    /** What the process believed when it decided, once that has turned out to be exact. */
    const decided = (by: Stored | undefined): void => {
      history.reads.push({type: roles, key: role, began, ended: history.now(), revision: by?.revision ?? 'absent'});
    };
    try {
      const heard = await listening.to(process, roles).catch(cameTooLate);
      if (!heard) continue;
      if (random() < 0.5) {
        const list = random() < 0.4;
        const session = await process.begin({ahead: list ? {type: pods} : {type: pods, key}});
        if (!heard.current) continue;
        decided(heard.current.get(role));
        if (list) await listIn(session, history, began);
        else await readIn(session, history, key, began);
      } else {
        const session = await process.begin({optimistic: true});
        if (!heard.current) continue;
        const by = heard.current.get(role);
        if (random() < 0.2) {
          await session.confirm();
          decided(by);
          continue;
        }
        const expected = known.get(key) ?? 'absent';
        const operation = expected !== 'absent' && random() < 0.3 ? 'delete' : 'put';
        const token = `${name}.${count}`;
        const write = {type: pods, key, expected, operation, encode: () => Buffer.from(token), index: {labels: {token}}} as const;
        const seen = await writeIn(session, history, write, token, began);
        if (seen.outcome === 'made') decided(by);
        if (seen.revision === undefined || operation === 'delete') known.delete(key);
        else known.set(key, seen.revision);
      }
    } catch (error) {
      if (!mayRetry(error) && !isStoreError(error, 'ConfigurationMoved')) throw error;
    }
    await requests.pause();
  }
}

async function listIn(session: Session, history: History, began: number): Promise<void> {
  const {items, revision} = await session.scan(pods, {prefix: ''});
  const seen = items.map((item) => ({key: item.key, revision: item.revision, token: Buffer.from(item.image).toString().split('|')[0]!}));
  history.lists.push({type: pods, prefix: '', revision, exact: false, items: seen, began, ended: history.now()});
}

async function readIn(session: Session, history: History, key: string, began: number): Promise<void> {
  const stored = await session.read(pods, key);
  history.reads.push({type: pods, key, began, ended: history.now(), revision: stored?.revision ?? 'absent'});
}

type Write = Parameters<Session['append']>[0];

/** `made`: it happened. `revision`: what is there now, if anybody said so. */
async function writeIn(
  session: Session,
  history: History,
  write: Write,
  token: string,
  began: number,
): Promise<{outcome?: 'made'; revision?: Revision}> {
  const {type, key} = write;
  const note = (outcome: History['writes'][number]['outcome']): void => {
    history.writes.push({type, key, token, began, ended: history.now(), outcome});
  };
  try {
    const {revision} = await session.append(write);
    note({revision});
    return {outcome: 'made', revision};
  } catch (error) {
    if (isStoreError(error) && isRefusal(error)) {
      note('refused');
      if (error.current) {
        history.reads.push({type, key, began, ended: history.now(), revision: error.current.revision});
        return {revision: error.current.revision};
      }
      return {};
    }
    if (isStoreError(error, 'OutcomeUnknown')) {
      note('unknown');
      return {};
    }
    if (!mayRetry(error) && !isStoreError(error, 'ConfigurationMoved')) throw error;
    note('not attempted');
    throw error;
  }
}

const phaseOf = (namespace: Stored | undefined): string | undefined => namespace?.index.labels?.['phase'];

/** Creates what belongs into a namespace, as long as that is active. */
export async function creator(requests: Requests, listening: Listening): Promise<void> {
  const {history, random} = requests;
  const name = `c${history.writers++}`;
  for (let count = 0; requests.running(); count++) {
    const process = requests.process();
    const namespace = pick(requests.namespaces, random);
    const key = `${namespace}/${name}.${count}`;
    const token = `${name}.${count}`;
    try {
      const heard = await listening.to(process, namespaces).catch(cameTooLate);
      if (!heard) continue;
      const optimistic = random() < 0.5;
      const began = history.now();
      const session = await process.begin({optimistic});
      const isActive = async (): Promise<boolean> => phaseOf(heard.current?.get(namespace)) === 'Active';
      if (!(await isActive())) continue;
      const write: Write = {
        type: pods,
        key,
        expected: 'absent',
        operation: 'put',
        encode: () => Buffer.from(token),
        index: {labels: {token}},
      };
      if (!optimistic || random() < 0.3) write.guard = isActive;
      // Also without any session.
      const to = !optimistic && random() < 0.3 ? ({append: (asked: Write) => process.store.append(asked)} as Session) : session;
      await writeIn(to, history, write, token, began);
    } catch (error) {
      if (!mayRetry(error) && !isStoreError(error, 'ConfigurationMoved')) throw error;
    } finally {
      await requests.pause();
    }
  }
}

/** Makes a namespace, lets it be for a while, terminates it, and empties it. Whatever is created in it after that is a broken promise. */
export async function keeper(requests: Requests, namespace: string): Promise<void> {
  const {history, random} = requests;
  const name = `k${history.writers++}`;
  let count = 0;
  /** Until it is so, or the run ends: it may take many tries. */
  const make = async (expected: 'absent' | Revision, phase: string): Promise<Revision | undefined> => {
    let last = expected;
    while (requests.running()) {
      const token = `${name}.${count++}`;
      const index = {labels: {token, phase}};
      const write: Write = {type: namespaces, key: namespace, expected: last, operation: 'put', encode: () => Buffer.from(token), index};
      try {
        const {outcome, revision} = await writeIn(requests.process().store as Session, history, write, token, history.now());
        if (outcome === 'made') return revision;
      } catch (error) {
        if (!mayRetry(error)) throw error;
      }
      try {
        const stored = await requests.process().store.read(namespaces, namespace);
        if (phaseOf(stored) === phase) return stored!.revision;
        last = stored?.revision ?? 'absent';
      } catch (error) {
        if (!mayRetry(error)) throw error;
      }
      await requests.pause();
    }
    return undefined;
  };
  const made = await make('absent', 'Active');
  for (let pauses = Math.floor(random() * 20); pauses > 0 && requests.running(); pauses--) await requests.pause();
  if (made === undefined || (await make(made, 'Terminating')) === undefined) return;
  while (requests.running()) {
    try {
      const {items, revision} = await requests.process().store.scan(pods, {prefix: `${namespace}/`});
      if (items.length === 0) {
        requests.emptied.push({namespace, revision});
        return;
      }
      for (const item of items) {
        const token = `${name}.${count++}`;
        const write: Write = {
          type: pods,
          key: item.key,
          expected: item.revision,
          operation: 'delete',
          encode: () => Buffer.from(token),
          index: {labels: {token}},
        };
        await writeIn(requests.process().store as Session, history, write, token, history.now());
      }
    } catch (error) {
      if (!mayRetry(error)) throw error;
    }
    await requests.pause();
  }
}
