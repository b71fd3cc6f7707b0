/** The emulator's process: CloudFormation, S3, IAM, SSM, DynamoDB and its streams. State lives in a folder of the rehearsal and goes with it. */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {createWriteStream, mkdirSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import type {Toolchain} from '../toolchain.ts';

/** Pinned: the launcher replaces one of its functions. */
export const ministackVersion = '1.5.33';
const startLimitMs = 20_000;
const pollMs = 50;

export interface Emulator {
  url: string;
  pid: number;
  stop(): Promise<void>;
}

/** `invokeUrl`: where it sends what functions are to run. @throws when it does not answer in time */
export async function startMinistack(tools: Toolchain, folder: string, invokeUrl: string): Promise<Emulator> {
  const port = await freePort();
  mkdirSync(join(folder, 's3'), {recursive: true});
  const child = spawn(tools.python, [tools.launcher], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      GATEWAY_PORT: String(port),
      // It would listen on all addresses.
      BIND_HOST: '127.0.0.1',
      MINISTACK_HOST: '127.0.0.1',
      STATE_DIR: folder,
      S3_DATA_DIR: join(folder, 's3'),
      REHEARSAL_INVOKE_URL: invokeUrl,
    },
  });
  const log = createWriteStream(join(folder, 'ministack.log'));
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  const url = `http://127.0.0.1:${port}`;
  await answers(child, url, join(folder, 'ministack.log'));
  return {url, pid: child.pid!, stop: () => stop(child)};
}

async function answers(child: ChildProcess, url: string, log: string): Promise<void> {
  const giveUpAt = Date.now() + startLimitMs;
  for (;;) {
    const ok = await fetch(`${url}/_ministack/health`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ok) return;
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the emulator did not start: see ${log}`);
    if (Date.now() > giveUpAt) {
      child.kill('SIGKILL');
      throw new Error(`the emulator did not answer within ${startLimitMs / 1000} s: see ${log}`);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // Nothing of it is kept, so it need not save.
  child.kill('SIGKILL');
  await once(child, 'exit');
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const {port} = server.address() as {port: number};
  server.close();
  await once(server, 'close');
  return port;
}
