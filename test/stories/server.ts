/** The built command as a process of its own, which a story can kill and start again on the same folder and port. */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Server {
  kubeconfig: string;
  /** `127.0.0.1:6443` */
  readonly address: string;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Where it was before. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startServer(...flags: string[]): Promise<Server> {
  const {build, isFresh} = await import(join(root, 'scripts/build.mjs'));
  if (!isFresh()) await build();
  const data = await mkdtemp(join(tmpdir(), 'server-'));
  let child: ChildProcess | undefined;
  let listen = '127.0.0.1:0';
  const start = async (): Promise<void> => {
    child = spawn(process.execPath, [join(root, 'dist/cli.js'), 'up', '--data', data, '--listen', listen, ...flags]);
    let complaint = '';
    child.stderr!.on('data', (chunk) => {
      complaint += chunk;
    });
    const line = await new Promise<string>((done, fail) => {
      let out = '';
      child!.stdout!.on('data', (chunk) => {
        out += chunk;
        if (out.includes('\n')) done(out);
      });
      child!.once('exit', (code) => fail(new Error(`the server ended with ${code}: ${complaint}`)));
    });
    listen = /https:\/\/(\S+)/.exec(line)![1]!;
  };
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  await start();
  return {
    kubeconfig: join(data, 'kubeconfig'),
    get address() {
      return listen;
    },
    start,
    kill,
    async close() {
      await kill();
      await rm(data, {recursive: true, force: true});
    },
  };
}
