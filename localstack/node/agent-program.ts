/** The program `nodeagent`, which is built beside this one: its commands, and the agent itself as a child that is started again when it falls. */
import {type ChildProcess, execFile, spawn} from 'node:child_process';
import {createInterface} from 'node:readline';
import type {Readable} from 'node:stream';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {Refusal} from '../cli/fail.ts';

const program = fileURLToPath(new URL('nodeagent.js', import.meta.url));
const maxOutputBytes = 16 * 1024 * 1024;

/** Runs one of its commands to the end; what it printed. @throws Refusal with its words */
export async function runAgentCommand(args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, [program, ...args], {maxBuffer: maxOutputBytes})).stdout;
  } catch (error) {
    const {stderr, message} = error as Error & {stderr?: string};
    throw new Refusal((stderr?.trim() || message).replace(/^nodeagent \w+: /, ''));
  }
}

export interface AgentProcessOptions {
  flags: readonly string[];
  /** A line of its log. */
  line(text: string): void;
  started(pid: number): Promise<void>;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;
/** One that ran this long had no trouble starting. */
const goodMs = 60_000;
/** It only has to close what it has open. */
const endsWithinMs = 10_000;

export class AgentProcess {
  readonly #options: AgentProcessOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #stopping = false;
  #pauseMs = firstPauseMs;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AgentProcessOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    // In a group of its own: Ctrl-C is for us to pass on, in order. With a channel: it ends when this process is gone, however that came.
    const child = spawn(process.execPath, [program, ...this.#options.flags], {detached: true, stdio: ['ignore', 'pipe', 'pipe', 'ipc']});
    const startedAt = Date.now();
    this.#child = child;
    for (const stream of [child.stdout, child.stderr] as Readable[]) createInterface(stream).on('line', (line) => this.#options.line(line));
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => this.#options.line(`cannot start: ${error.message}`));
      child.once('close', (code, signal) => {
        resolve();
        this.#fell(code ?? signal, Date.now() - startedAt);
      });
    });
    // What cannot be noted is no reason to end what runs: it would only not be found after a crash of ours.
    if (child.pid !== undefined)
      await this.#options.started(child.pid).catch((error: Error) => this.#options.line(`its process id was not noted: ${error.message}`));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    this.#child?.kill('SIGTERM');
    const insist = setTimeout(() => this.#child?.kill('SIGKILL'), endsWithinMs);
    await this.#ended;
    clearTimeout(insist);
  }

  #fell(how: number | string | null, ranMs: number): void {
    if (this.#stopping) return;
    if (ranMs >= goodMs) this.#pauseMs = firstPauseMs;
    this.#options.line(`the agent ended (${how}), its pods run on; it is started again in ${this.#pauseMs / 1_000} s`);
    this.#timer = setTimeout(() => void this.start(), this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }
}
