/** `nodeagent check`: what a container runtime says of itself, as a line of JSON for programs. */
import {access} from 'node:fs/promises';
import {join} from 'node:path';
import {label, managedLabels} from '../pods/names.ts';
import {RemoteRuntime} from '../runtime/cri/remote.ts';
import {RuntimeError} from '../runtime/runtime.ts';
import {CommandError, settingsOf} from './arguments.ts';

export interface Checked {
  /** Its name and version. */
  runtime: string;
  /** Why no pod can run at all, and why none can have a network; '' where it can. */
  notReady: string;
  noNetwork: string;
  /** Pods in it that an agent with another root directory made. */
  foreignPods: number;
}

const answerWithinMs = 10_000;

export async function check(argv: readonly string[]): Promise<number> {
  const settings = await settingsOf(argv);
  const endpoint = settings.text('container-runtime-endpoint');
  const runtime = new RemoteRuntime({endpoint, requestTimeoutMs: answerWithinMs});
  try {
    const [{runtimeName, runtimeVersion}, {conditions}, sandboxes] = await Promise.all([
      runtime.version(),
      runtime.status(),
      runtime.sandboxes(managedLabels),
    ]);
    const failing = (type: string): string => conditions.find((each) => each.type === type && !each.status)?.message ?? '';
    const known = await Promise.all(sandboxes.map(({labels}) => isOurs(settings.text('root-dir'), labels[label.podUid] ?? '')));
    const checked: Checked = {
      runtime: `${runtimeName} ${runtimeVersion}`,
      notReady: failing('RuntimeReady'),
      noNetwork: failing('NetworkReady'),
      foreignPods: known.filter((ours) => !ours).length,
    };
    process.stdout.write(`${JSON.stringify(checked)}\n`);
    return 0;
  } catch (error) {
    throw error instanceof RuntimeError ? new CommandError(`${endpoint}: ${adviceOn(error)}`) : error;
  } finally {
    runtime.close();
  }
}

const adviceOn = ({code, message}: RuntimeError): string =>
  code === 'unsupported'
    ? `it speaks no container runtime interface (${message}); in containerd's config.toml "cri" must not stand among disabled_plugins`
    : message;

/** Whether the agent with this root directory made the pod: it makes a folder for each before anything else. */
export const isOurs = (rootDir: string, uid: string): Promise<boolean> =>
  access(join(rootDir, 'pods', uid || '-')).then(
    () => true,
    () => false,
  );
