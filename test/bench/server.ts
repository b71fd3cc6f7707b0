/** Servers to measure: our own, started from dist/ over a folder that is removed afterwards; and a reference that somebody else runs. */
import {type ChildProcess, spawn} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

export interface Server {
  url: string;
  token: string;
  pids: readonly number[];
}

const token = 'bench';

export class OwnServer implements Server {
  readonly token = token;
  readonly url: string;
  readonly pids: readonly number[];
  /** From exec to the line that says ready. */
  readonly readyMs: number;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, url: string, readyMs: number) {
    this.#child = child;
    this.url = url;
    this.pids = [child.pid!];
    this.readyMs = readyMs;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.kill('SIGTERM');
    });
  }
}

/** A folder with a token file, for servers that come and go over the same data. */
export class Data {
  readonly folder = mkdtempSync(join(tmpdir(), 'bench-'));
  readonly tokens = join(this.folder, 'tokens.csv');

  constructor() {
    writeFileSync(this.tokens, `${token},admin,admin,"system:masters"\n`);
  }

  remove(): void {
    rmSync(this.folder, {recursive: true, force: true});
  }
}

export function startOwn(cli: string, data: Data, more: readonly string[] = []): Promise<OwnServer> {
  const began = performance.now();
  const args = [cli, 'up', '--listen', '127.0.0.1:0', '--data', join(data.folder, 'data'), '--token-auth-file', data.tokens, ...more];
  const child = spawn(process.execPath, args, {stdio: ['ignore', 'pipe', 'pipe']});
  return new Promise((resolve, reject) => {
    let printed = '';
    let complained = '';
    child.stdout!.on('data', (chunk) => {
      printed += chunk;
      const ready = /^ready (\S+)/m.exec(printed);
      if (ready) resolve(new OwnServer(child, ready[1]!, performance.now() - began));
    });
    child.stderr!.on('data', (chunk) => {
      complained = (complained + chunk).slice(-2000);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${complained}`)));
  });
}
