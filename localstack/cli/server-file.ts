/** DATA/server.json: how the other commands find the server that runs over a data folder. */
import {readFile, rm} from 'node:fs/promises';
import {connect} from 'node:net';
import {join} from 'node:path';
import {writePrivately} from '../kubeconfig.ts';

export interface ServerFile {
  pid: number;
  url: string;
  version: string;
  inMemory: boolean;
  kubeconfig: string;
  /** RFC 3339. */
  startedAt: string;
}

const fileOf = (data: string): string => join(data, 'server.json');

export const writeServerFile = (data: string, server: ServerFile): Promise<void> =>
  writePrivately(fileOf(data), `${JSON.stringify(server)}\n`);

/** Undefined when no server runs there; what a killed one left behind does not count. */
export async function readServerFile(data: string): Promise<ServerFile | undefined> {
  try {
    const server = JSON.parse(await readFile(fileOf(data), 'utf8')) as ServerFile;
    return isAlive(server.pid) ? server : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the server that the file names does listen: its process id alone may be another's by now. */
export function isListening({url}: ServerFile): Promise<boolean> {
  const {hostname, port} = new URL(url);
  return new Promise((done) => {
    const socket = connect({host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443), timeout: 1_000});
    const end = (listens: boolean) => {
      socket.destroy();
      done(listens);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/** Only one's own: a successor may have written its by now. */
export async function removeServerFile(data: string): Promise<void> {
  const server = await readServerFile(data);
  if (server?.pid === process.pid) await rm(fileOf(data), {force: true});
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
