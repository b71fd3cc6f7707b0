/** All deployed functions: fetched when first invoked, replaced when a deployment changed them, each with its pool of environments. */
import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {mkdir, rename, writeFile} from 'node:fs/promises';
import {availableParallelism} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import type {DeployedFunction} from '../emulator/control-plane.ts';
import {Environment, type Host} from './environment.ts';
import {Pool} from './pool.ts';
import type {Answer, StreamSink} from './runtime-api.ts';
import {StartGate} from './start-gate.ts';

const run = promisify(execFile);

/** A function that may go on for longer streams. */
const longestRequestMs = 60_000;
/** Environments of one function that a machine bears, where a region would start as many as are asked for. */
const mostRequests = 8;
const mostStreams = 48;

export interface FunctionsOptions {
  load(name: string): Promise<DeployedFunction>;
  host: Host;
  /** What is particular to one function: its credentials, and addresses where AWS would resolve names. */
  variables(deployed: DeployedFunction): Record<string, string>;
  folder: string;
  /** Has `-m zipfile`. */
  python: string;
}

interface Served {
  deployed: DeployedFunction;
  pool: Pool;
}

export class Functions {
  readonly #options: FunctionsOptions;
  readonly #served = new Map<string, Promise<Served>>();
  readonly #retired: Pool[] = [];
  readonly #gate = new StartGate(Math.max(2, availableParallelism()));

  constructor(options: FunctionsOptions) {
    this.#options = options;
  }

  /** @throws FunctionError, Throttled */
  async invoke(name: string, event: Uint8Array, sink?: StreamSink): Promise<Answer> {
    const {pool} = await this.#find(name);
    return pool.invoke(event, sink);
  }

  /** After a deployment, or where one may be under way. Environments of what was replaced finish what they do and end. */
  async refresh(name: string): Promise<DeployedFunction> {
    const deployed = await this.#options.load(name);
    const known = await this.#served.get(name)?.catch(() => undefined);
    if (known?.deployed.revision === deployed.revision) return deployed;
    if (known) {
      known.pool.retire();
      this.#retired.push(known.pool);
    }
    const served = this.#serve(deployed);
    this.#served.set(name, served);
    await served;
    return deployed;
  }

  async environments(): Promise<Environment[]> {
    const served = await Promise.all([...this.#served.values()].map((one) => one.catch(() => undefined)));
    return served.flatMap((one) => (one ? one.pool.environments : []));
  }

  /** Cold starts by function, for those that had any. */
  async coldStarts(): Promise<Record<string, number>> {
    const served = await Promise.all([...this.#served.values()].map((one) => one.catch(() => undefined)));
    return Object.fromEntries(served.flatMap((one) => (one ? [[one.deployed.logicalId, one.pool.coldStarts]] : [])));
  }

  async close(): Promise<void> {
    const served = await Promise.all([...this.#served.values()].map((one) => one.catch(() => undefined)));
    await Promise.all([...this.#retired, ...served.flatMap((one) => (one ? [one.pool] : []))].map((pool) => pool.close()));
  }

  #find(name: string): Promise<Served> {
    let served = this.#served.get(name);
    if (!served) {
      served = this.#options.load(name).then((deployed) => this.#serve(deployed));
      this.#served.set(name, served);
      served.catch(() => this.#served.delete(name));
    }
    return served;
  }

  async #serve(deployed: DeployedFunction): Promise<Served> {
    const {host} = this.#options;
    const most = deployed.timeoutMs > longestRequestMs ? mostStreams : mostRequests;
    const folder = await this.#unpack(deployed);
    const variables = {...deployed.variables, ...this.#options.variables(deployed)};
    const start = (): Environment => new Environment({...deployed, variables}, folder, host);
    return {deployed, pool: new Pool({start, reserved: deployed.reservedConcurrency, most, gate: this.#gate})};
  }

  async #unpack({name, codeUrl, revision}: DeployedFunction): Promise<string> {
    const folder = join(this.#options.folder, `${name}-${createHash('sha256').update(revision).digest('hex').slice(0, 12)}`);
    if (existsSync(folder)) return folder;
    const answer = await fetch(codeUrl);
    if (!answer.ok) throw new Error(`the code of ${name}: ${answer.status}`);
    const fresh = `${folder}.new`;
    await mkdir(fresh, {recursive: true});
    const zip = `${folder}.zip`;
    await writeFile(zip, Buffer.from(await answer.arrayBuffer()));
    await run(this.#options.python, ['-m', 'zipfile', '-e', zip, fresh]);
    await rename(fresh, folder);
    return folder;
  }
}
