/**
 * One execution environment: a process of the real Node and runtime client behind a Runtime API of its own. It is stopped (SIGSTOP) when
 * it waits for its next invocation, as Lambda freezes it, so timers and sockets of a handler sleep between two invocations.
 */
import {type ChildProcess, spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {createWriteStream} from 'node:fs';
import type {FunctionConfig} from './function-config.ts';
import {type Answer, FunctionError, RuntimeApi, type StreamSink} from './runtime-api.ts';

/** How processes are started and who sees to it that none stays behind. */
export interface Host {
  readonly node: string;
  readonly runtimeClient: string;
  readonly variables: Record<string, string>;
  /** Standard output and error of a function's environments. */
  logFile(name: string): string;
  /** Told of each process, so that it can be ended even when this one is killed. */
  started(pid: number): void;
  ended(pid: number): void;
}

/** Until the first invocation can be taken. Lambda's own limit is 10 s, of a processor that is not shared. */
const initLimitMs = 40_000;
/** Of a function's memory. */
const heapShare = 0.9;

export class Environment {
  readonly #function: FunctionConfig;
  readonly #api = new RuntimeApi();
  readonly #process: Promise<ChildProcess>;
  #pid: number | undefined;
  #dead: FunctionError | undefined;
  #frozen = false;
  /** Settles when the process is gone. */
  readonly gone: Promise<void>;
  #wentAway!: () => void;

  constructor(config: FunctionConfig, folder: string, host: Host) {
    this.#function = config;
    this.gone = new Promise((resolve) => {
      this.#wentAway = resolve;
    });
    this.#process = this.#start(folder, host);
  }

  get dead(): boolean {
    return this.#dead !== undefined;
  }

  get frozen(): boolean {
    return this.#frozen;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  /** Resolves when an invocation can be taken. @throws FunctionError when the handler cannot be loaded */
  async ready(): Promise<void> {
    await this.#process;
    const limit = setTimeout(() => this.kill(new FunctionError('Sandbox.Timedout', 'INIT timed out')), initLimitMs);
    await Promise.race([this.#api.asked(), this.gone]);
    clearTimeout(limit);
    if (this.#dead) throw this.#dead;
  }

  /** @throws FunctionError */
  async invoke(event: Uint8Array, sink?: StreamSink): Promise<Answer> {
    if (this.#dead) throw this.#dead;
    this.#thaw();
    const {arn, timeoutMs} = this.#function;
    const limit = setTimeout(() => {
      this.kill(new FunctionError('Sandbox.Timedout', `Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`));
    }, timeoutMs);
    try {
      return await this.#api.invoke({id: randomUUID(), event, deadline: Date.now() + timeoutMs, functionArn: arn}, sink);
    } finally {
      clearTimeout(limit);
    }
  }

  /** After an invocation: waits until the runtime asks for the next one, then stops its process. */
  async freeze(): Promise<void> {
    await Promise.race([this.#api.asked(), this.gone]);
    if (this.#dead || this.#pid === undefined) return;
    process.kill(this.#pid, 'SIGSTOP');
    this.#frozen = true;
  }

  #thaw(): void {
    if (this.#frozen && this.#pid !== undefined) process.kill(this.#pid, 'SIGCONT');
    this.#frozen = false;
  }

  kill(why = new FunctionError('Runtime.ExitError', 'the environment was taken away')): void {
    this.#dead ??= why;
    if (this.#pid !== undefined) process.kill(this.#pid, 'SIGKILL');
  }

  async #start(folder: string, host: Host): Promise<ChildProcess> {
    const address = await this.#api.listen();
    const {name, handler, memoryMb, variables} = this.#function;
    const heap = `--max-old-space-size=${Math.floor(memoryMb * heapShare)}`;
    const child = spawn(host.node, [heap, host.runtimeClient, handler], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        LANG: 'en_US.UTF-8',
        TZ: ':UTC',
        AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
        AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
        AWS_LAMBDA_FUNCTION_NAME: name,
        AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
        AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
        AWS_LAMBDA_LOG_STREAM_NAME: 'rehearsal',
        LAMBDA_TASK_ROOT: folder,
        ...host.variables,
        ...variables,
        _HANDLER: handler,
        AWS_LAMBDA_RUNTIME_API: address,
      },
    });
    const log = createWriteStream(host.logFile(name), {flags: 'a'});
    child.stdout.pipe(log, {end: false});
    child.stderr.pipe(log, {end: false});
    this.#pid = child.pid;
    if (child.pid !== undefined) host.started(child.pid);
    const over = (reason: string): void => {
      if (this.#pid !== undefined) host.ended(this.#pid);
      this.#pid = undefined;
      const said = this.#api.initError;
      this.#dead ??= said ? initError(said) : new FunctionError('Runtime.ExitError', `Runtime exited with ${reason}`);
      this.#api.fail(this.#dead);
      this.#api.close();
      log.end();
      this.#wentAway();
    };
    child.once('error', (error) => over(error.message));
    child.once('exit', (code, signal) => over(signal ? `signal: ${signal}` : `error: exit status ${code}`));
    // Killed before it was started.
    if (this.#dead) child.kill('SIGKILL');
    return child;
  }
}

function initError(body: string): FunctionError {
  try {
    const {errorType, errorMessage} = JSON.parse(body) as {errorType?: string; errorMessage?: string};
    return new FunctionError(errorType ?? 'Runtime.InitError', errorMessage ?? body);
  } catch {
    return new FunctionError('Runtime.InitError', body);
  }
}
