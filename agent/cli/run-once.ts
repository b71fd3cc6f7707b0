/** --runonce: the pods of files and URL are started, each is said to run or why it does not, and that is all. They stay when the agent goes. */
import type {Clock} from '../../shared/clock.ts';
import type {PodManager} from '../pods/manager.ts';
import type {Pod, PodStatus} from '../pods/pod.ts';
import type {StaticSources} from '../sources/statics.ts';

export interface RunOnceOptions {
  manager: Pick<PodManager, 'worker'>;
  statics: Pick<StaticSources, 'heard' | 'pods' | 'problems'>;
  clock: Clock;
  /** A line for each pod, and for what could not be read. */
  say(line: string): void;
}

/** As long as the reference's retries take together. */
const patienceMs = 255_000;
const lookMs = 200;

interface Verdict {
  done: boolean;
  well: boolean;
  words: string;
}

/** The exit code. */
export async function runOnce({manager, statics, clock, say}: RunOnceOptions): Promise<number> {
  await statics.heard;
  const deadline = clock.now() + patienceMs;
  const open = new Map(statics.pods.map((pod) => [pod.metadata.uid, pod]));
  let code = 0;
  for (const problem of statics.problems) {
    say(`error: ${problem}`);
    code = 1;
  }
  for (;;) {
    const isLate = clock.now() >= deadline;
    for (const [uid, {metadata}] of [...open]) {
      const {done, well, words} = verdictOn(manager.worker(uid)?.pod.status);
      if (!done && !isLate) continue;
      open.delete(uid);
      say(`${metadata.namespace}/${metadata.name}: ${words}`);
      if (!well) code = 1;
    }
    if (open.size === 0) return code;
    await new Promise<void>((resolve) => void clock.after(lookMs, resolve));
  }
}

export function verdictOn(status: Pod['status']): Verdict {
  const {phase, reason, message} = status ?? {};
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  if (phase === 'Succeeded') return {done: true, well: true, words: 'Succeeded'};
  if (phase === 'Failed') {
    const why = [reason, message].filter(Boolean).join(': ') || all.flatMap(failureOf).join(', ');
    return {done: true, well: false, words: why ? `Failed: ${why}` : 'Failed'};
  }
  const main = status?.containerStatuses ?? [];
  if (phase === 'Running' && main.length > 0 && main.every(({state}) => state.running)) return {done: true, well: true, words: 'Running'};
  const why = all.flatMap(waitOf).join(', ');
  return {done: false, well: false, words: `does not run: ${why || 'the container runtime has not been heard'}`};
}

type Status = NonNullable<PodStatus['containerStatuses']>[number];

const failureOf = ({name, state: {terminated}}: Status): string[] =>
  terminated && terminated.exitCode !== 0 ? [`${name} ended with ${terminated.exitCode} (${terminated.reason})`] : [];

function waitOf({name, state}: Status): string[] {
  if (state.waiting) return [[`${name} waits`, state.waiting.reason, state.waiting.message].filter(Boolean).join(': ')];
  return state.terminated ? [`${name} ended with ${state.terminated.exitCode}`] : [];
}
