/** Which container runtime there is on this machine, by the socket that it listens on. */
import {stat} from 'node:fs/promises';
import {Refusal} from '../cli/fail.ts';

/** Where runtimes listen when nobody told them otherwise. */
export const usualSockets = ['/run/containerd/containerd.sock', '/run/crio/crio.sock', '/run/cri-dockerd.sock'];

/** The endpoint that was asked for, or the first of the usual ones. @throws Refusal that says what is missing */
export async function findRuntime(asked: string | undefined, sockets: readonly string[] = usualSockets): Promise<string> {
  if (asked !== undefined) {
    const path = asked.replace(/^unix:\/\//, '');
    if (!(await isSocket(path))) throw new Refusal(`--node: no container runtime listens on ${path}`);
    return `unix://${path}`;
  }
  for (const path of sockets) if (await isSocket(path)) return `unix://${path}`;
  throw new Refusal(
    `--node: no container runtime found (looked for ${sockets.join(', ')}); install one, on Debian: ` +
      'apt-get install containerd containernetworking-plugins iptables, or name its socket with --node-runtime',
  );
}

const isSocket = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isSocket(),
    () => false,
  );
