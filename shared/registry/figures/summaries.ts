/**
 * What nodes and their containers use, as each node's agent says (/stats/summary): asked when somebody reads it, many nodes at once, and
 * kept for some seconds. CPU comes as a rate that the agent has measured itself: whoever answers here may be a function that has never
 * seen an earlier sample.
 */
import type {Clock} from '../../clock.ts';
import {exchange} from '../../nodes/exchange.ts';
import type {NodeRoads} from '../../nodes/roads.ts';
import type {KubeObject} from '../../object.ts';

export interface Usage {
  /** When it was measured, and over which time. */
  time: string;
  windowMs: number;
  cpuNanoCores: number;
  memoryBytes: number;
}

export interface PodUsage extends Pick<Usage, 'time' | 'windowMs'> {
  containers: (Pick<Usage, 'cpuNanoCores' | 'memoryBytes'> & {name: string})[];
}

export interface NodeSummary {
  node: Usage | undefined;
  /** By namespace and name. */
  pods: ReadonlyMap<string, PodUsage>;
}

/** As often as metrics-server asks: lists that come one after the other cost one look. */
const keptMs = 12_000;
/** A node that says nothing is left out, rather than that all wait. */
const patienceMs = 5_000;
/** And is not waited for again by each list. */
const silenceKeptMs = 60_000;
const atOnce = 24;
/** A node with 1,000 containers says some 400 KB. */
const maxSummaryBytes = 32 * 1024 * 1024;
/** Of agents that do not say: what kubelets measure over. */
const usualWindowMs = 10_000;
export const windowHeader = 'stats-window-seconds';

interface Kept {
  until: number;
  uid: string | undefined;
  summary: Promise<NodeSummary | undefined>;
}

export class Summaries {
  readonly #roads: NodeRoads;
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(roads: NodeRoads, clock: Clock) {
    this.#roads = roads;
    this.#clock = clock;
  }

  /** By the nodes' names; those that do not answer are left out. */
  async of(nodes: readonly KubeObject[]): Promise<Map<string, NodeSummary>> {
    this.#forget();
    const found = new Map<string, NodeSummary>();
    const open = [...nodes];
    const ask = async (): Promise<void> => {
      for (let node = open.pop(); node; node = open.pop()) {
        const summary = await this.#one(node);
        if (summary) found.set(node.metadata.name!, summary);
      }
    };
    await Promise.all(Array.from({length: Math.min(atOnce, nodes.length)}, ask));
    return found;
  }

  #one(node: KubeObject): Promise<NodeSummary | undefined> {
    const {name, uid} = node.metadata;
    const known = this.#kept.get(name!);
    if (known && known.uid === uid) return known.summary;
    const asked = this.#clock.now();
    const kept: Kept = {until: asked + keptMs, uid, summary: Promise.resolve(undefined)};
    kept.summary = this.#ask(node).catch(() => {
      const now = this.#clock.now();
      if (now - asked >= patienceMs) kept.until = now + silenceKeptMs;
      return undefined;
    });
    this.#kept.set(name!, kept);
    return kept.summary;
  }

  #forget(): void {
    const now = this.#clock.now();
    for (const [name, {until}] of this.#kept) if (until <= now) this.#kept.delete(name);
  }

  async #ask(node: KubeObject): Promise<NodeSummary> {
    const patience = new AbortController();
    const cancel = this.#clock.after(patienceMs, () => patience.abort());
    try {
      const {signal} = patience;
      const road = await withSignal(this.#roads.dial(node, 'agent', {signal}), signal);
      const answer = await exchange(road, {
        method: 'GET',
        target: '/stats/summary?only_cpu_and_memory=true',
        headers: {host: node.metadata.name!, accept: 'application/json'},
        signal,
      });
      const text = await textOf(answer.body);
      if (answer.status !== 200) throw new Error(`the agent answers ${answer.status}: ${text.slice(0, 200)}`);
      return summaryOf(JSON.parse(text) as Said, Number(answer.headers[windowHeader]) * 1000 || usualWindowMs);
    } finally {
      cancel();
    }
  }
}

/** Whatever a road does with its signal, nobody waits longer. */
function withSignal<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('no answer in time')), {once: true});
    promise.then(resolve, reject);
  });
}

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array> | undefined): Promise<string> {
  if (!body) return '';
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxSummaryBytes) throw new Error('the answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

interface Said {
  node?: Measured;
  pods?: {podRef?: {name?: string; namespace?: string}; containers?: (Measured & {name?: string})[]}[];
}

interface Measured {
  cpu?: {time?: string; usageNanoCores?: number};
  memory?: {time?: string; workingSetBytes?: number};
}

/** Agents are machines of others: what is no figure is none, and a pod that lacks one of a container is left out. */
function summaryOf({node, pods}: Said, windowMs: number): NodeSummary {
  const byName = new Map<string, PodUsage>();
  for (const {podRef, containers} of Array.isArray(pods) ? pods : []) {
    const measured = (Array.isArray(containers) ? containers : []).map((container) => ({
      name: container.name,
      ...usageOf(container, windowMs),
    }));
    const [first] = measured;
    if (!podRef?.name || !podRef.namespace || !first || measured.some(({name, time}) => typeof name !== 'string' || time === undefined))
      continue;
    byName.set(`${podRef.namespace}/${podRef.name}`, {
      time: first.time!,
      windowMs,
      containers: measured.map(({name, cpuNanoCores = 0, memoryBytes = 0}) => ({name: name!, cpuNanoCores, memoryBytes})),
    });
  }
  return {node: node && usageOf(node, windowMs), pods: byName};
}

function usageOf({cpu, memory}: Measured, windowMs: number): Usage | undefined {
  const [cpuNanoCores, memoryBytes, time] = [cpu?.usageNanoCores, memory?.workingSetBytes, cpu?.time ?? memory?.time];
  if (!isCount(cpuNanoCores) || !isCount(memoryBytes) || typeof time !== 'string' || Number.isNaN(Date.parse(time))) return undefined;
  return {time, windowMs, cpuNanoCores, memoryBytes};
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
