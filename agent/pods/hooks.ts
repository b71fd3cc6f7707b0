/** postStart and preStop: a command in the container, a request to it, or a pause. */
import {httpCheck} from '../probes/http.ts';
import type {Runtime} from '../runtime/runtime.ts';
import type {Handler} from './pod.ts';
import {bounded} from './seconds.ts';

export interface HookTarget {
  containerId: string;
  /** Of the pod, where its handler names no host. */
  ip: string | undefined;
  ports: readonly {name?: string; containerPort: number}[];
}

/** A hook that failed; the message is what the event says of it. */
export class HookError extends Error {}

/** @throws HookError; the signal's reason when it is given up */
export async function runHook(
  runtime: Runtime,
  handler: Handler,
  target: HookTarget,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<void> {
  const work = runHandler(runtime, handler, target, timeoutSeconds);
  // A hook that hangs is left to itself: nothing in the runtime can take it back.
  work.catch(() => {});
  let giveUp = () => {};
  const aborted = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, {once: true});
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

async function runHandler(
  runtime: Runtime,
  {exec, httpGet, tcpSocket, sleep}: Handler,
  target: HookTarget,
  timeoutSeconds: number,
): Promise<void> {
  if (exec) {
    const {exitCode, stdout, stderr} = await runtime.exec(target.containerId, exec.command, timeoutSeconds);
    if (exitCode === 0) return;
    const output = Buffer.concat([stdout, stderr]).toString();
    throw new HookError(
      `Exec lifecycle hook (${JSON.stringify(exec.command)}) failed - error: command '${exec.command.join(' ')}' exited with ${exitCode}: ${output}, message: ${JSON.stringify(output)}`,
    );
  }
  if (sleep) return new Promise((resolve) => setTimeout(resolve, bounded(sleep.seconds) * 1000));
  if (httpGet) {
    const host = httpGet.host || target.ip;
    const outcome = await httpCheck(
      {...httpGet, port: resolvePort(httpGet.port, target.ports)},
      host ?? '',
      (timeoutSeconds || 30) * 1000,
      'kube-lifecycle/1.36',
    );
    if (outcome.result !== 'success') throw new HookError(`Http lifecycle hook (${httpGet.path ?? '/'}) failed - error: ${outcome.output}`);
    return;
  }
  if (tcpSocket) throw new HookError('tcpSocket is not a hook');
}

/** By number or by name. @throws HookError */
export function resolvePort(port: number | string, ports: readonly {name?: string; containerPort: number}[]): number {
  if (typeof port === 'number') return port;
  const named = ports.find(({name}) => name === port);
  if (named) return named.containerPort;
  if (/^\d+$/.test(port)) return Number(port);
  throw new HookError(`couldn't find port: ${port}`);
}
