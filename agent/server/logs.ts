/** /containerLogs/{namespace}/{pod}/{container}: which file is meant, and from where to where. */
import type {ServerResponse} from 'node:http';
import {join} from 'node:path';
import {logDirectory} from '../pods/names.ts';
import {isRunning} from '../pods/plan.ts';
import {allContainers} from '../pods/pod.ts';
import type {PodWorker} from '../pods/worker.ts';
import {type LogOptions, readLog} from './log-file.ts';
import {Refusal} from './refusal.ts';

const decodeRefusal = () => new Refusal(400, JSON.stringify({message: 'Unable to decode query.'}));

export function logOptions(query: URLSearchParams, now: number): LogOptions & {previous: boolean} {
  const flag = (name: string) => /^(true|1|)$/.test(query.get(name) ?? 'false');
  const number = (name: string, least: number): number | undefined => {
    const text = query.get(name);
    if (text === null || text === '') return undefined;
    if (!/^-?\d+$/.test(text)) throw decodeRefusal();
    if (Number(text) < least) throw new Refusal(422, JSON.stringify({message: `Invalid request: ${name} must be at least ${least}`}));
    return Number(text);
  };
  const tail = query.get('tailLines') ?? query.get('tail');
  const seconds = number('sinceSeconds', 1);
  const time = query.get('sinceTime');
  if (time && Number.isNaN(Date.parse(time))) throw decodeRefusal();
  if (tail !== null && tail !== 'all' && tail !== '') query.set('tailLines', tail);
  const stream = query.get('stream')?.toLowerCase();
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    tail: tail === 'all' ? undefined : number('tailLines', 0),
    since: time ? Date.parse(time) : seconds === undefined ? undefined : now - seconds * 1000,
    limitBytes: number('limitBytes', 1),
    stream: stream === 'stdout' || stream === 'stderr' ? stream : undefined,
  };
}

/** @throws Refusal before the first byte */
export async function sendLog(
  worker: PodWorker,
  container: string,
  options: LogOptions & {previous: boolean},
  logRoot: string,
  response: ServerResponse,
): Promise<void> {
  const {pod, view} = worker;
  if (!allContainers(pod).some(({name}) => name === container))
    throw new Refusal(404, `container "${container}" not found in pod "${pod.metadata.name}"`);
  const instances = view.instances.get(container) ?? [];
  const instance = options.previous ? instances[1] : instances[0];
  if (!instance) {
    const {namespace, name} = pod.metadata;
    const words = options.previous
      ? `previous terminated container "${container}" in pod "${name}" not found`
      : `container "${container}" in pod "${name}" is waiting to start: ${waitingReason(worker, container)}`;
    throw new Refusal(400, words, `${namespace}/${name}`);
  }
  const path = join(logDirectory(logRoot, pod.metadata), container, `${instance.notes.restarts}.log`);
  const ending = new AbortController();
  response.on('close', () => ending.abort());
  const log = readLog(path, options, () => !isRunning(view.find(instance.id)), ending.signal);
  let begun = false;
  const begin = () => {
    if (begun) return;
    begun = true;
    response.writeHead(200, {'content-type': 'text/plain'});
    // A follower of a silent container should know that it is connected.
    response.flushHeaders();
  };
  try {
    if (options.follow) begin();
    for await (const chunk of log) {
      begin();
      if (!response.write(chunk))
        await new Promise<void>((resolve) => {
          response.once('drain', resolve);
          response.once('close', resolve);
        });
      if (ending.signal.aborted) return;
    }
  } catch (error) {
    if (begun) throw error;
    throw new Refusal(
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 404 : 500,
      `failed to open log file: ${(error as Error).message}`,
    );
  }
  begin();
  response.end();
}

function waitingReason({pod}: PodWorker, container: string): string {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  return statuses.find(({name}) => name === container)?.state.waiting?.reason ?? 'ContainerCreating';
}
