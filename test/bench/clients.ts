/** Who makes the load: our own client in a process of its own, or the Go program of that purpose, whose output is read. */
import {type ChildProcess, execFile, fork} from 'node:child_process';
import {promisify} from 'node:util';
import type {Job, Result} from './load.ts';

export interface LoadClient {
  run(job: Job): Promise<Result>;
  close(): void;
}

export class OwnClient implements LoadClient {
  readonly #child: ChildProcess;

  /** `script`: load.ts, bundled. */
  constructor(script: string) {
    this.#child = fork(script, {stdio: ['ignore', 'inherit', 'inherit', 'ipc']});
  }

  run(job: Job): Promise<Result> {
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error('the load client ended'));
      this.#child.once('exit', onExit);
      this.#child.once('message', ({result, error}: {result?: Result; error?: string}) => {
        this.#child.removeListener('exit', onExit);
        if (result) resolve(result);
        else reject(new Error(error));
      });
      this.#child.send(job);
    });
  }

  close(): void {
    this.#child.disconnect();
  }
}

/** Does what it knows (get, list, create, update, watch); the rest is the other client's. */
export class GoClient implements LoadClient {
  readonly #binary: string;
  readonly #other: LoadClient;

  constructor(binary: string, other: LoadClient) {
    this.#binary = binary;
    this.#other = other;
  }

  async run(job: Job): Promise<Result> {
    if (job.op === 'fill' || job.op === 'rewrite' || job.query || job.namespace) return this.#other.run(job);
    const flags: Record<string, string | number | boolean> = {
      url: job.url,
      token: job.token,
      op: job.op,
      protocol: job.protocol,
      gzip: job.gzip,
      workers: job.workers,
      seconds: job.seconds,
      warm: job.warmSeconds,
      size: job.size,
      count: job.count,
      watchers: job.watchers,
      rate: job.writesPerSecond,
      runs: 1,
      pids: job.pids.join(','),
    };
    const args = Object.entries(flags).map(([name, value]) => `-${name}=${value}`);
    const {stdout, stderr} = await promisify(execFile)(this.#binary, args, {maxBuffer: 16 * 1024 * 1024});
    const line = /run 1: ([\d.]+) ops\/s {2}p50 ([\d.]+) .*?p99 ([\d.]+) .*?cpu server ([\d.]+)/.exec(stdout);
    if (!line) throw new Error(`the load client said: ${stdout}${stderr}`);
    const [opsPerSecond = 0, p50Ms = 0, p99Ms = 0, cores = 0] = line.slice(1).map(Number);
    const failed = Number(/FAILED requests: (\d+)/.exec(stdout)?.[1] ?? 0);
    const cpu = job.pids.length > 0 && opsPerSecond > 0 ? {cpuMsPerOp: (cores * 1000) / opsPerSecond} : {};
    return {opsPerSecond, p50Ms, p99Ms, failed, ...cpu, ...(failed > 0 && {error: stderr.slice(0, 300)})};
  }

  close(): void {
    this.#other.close();
  }
}
