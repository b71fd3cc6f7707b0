/** `clusterless rehearse`: the AWS deployment without AWS, in the foreground, from a checkout. */
import {randomBytes} from 'node:crypto';
import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {startChaos} from '../rehearse/chaos.ts';
import {type Rehearsal, startRehearsal} from '../rehearse/rehearsal.ts';
import {checkoutOf, findToolchain} from '../rehearse/toolchain.ts';
import {Refusal} from './fail.ts';
import {readTokenFile} from './token-file.ts';

export interface RehearseFlags {
  tokenAuthFile?: string;
  data?: string;
  port: number;
  chaos?: number;
  context: string[];
  app?: string;
  verbose?: boolean;
}

export async function rehearse(flags: RehearseFlags): Promise<void> {
  const signal = new Promise<void>((done) => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => done());
  });
  const tools = refusing(() => findToolchain(checkoutOf(process.cwd())));
  const tokens = await tokensOf(flags.tokenAuthFile);
  const folder = flags.data === undefined ? mkdtempSync(join(tmpdir(), 'clusterless-rehearsal-')) : resolve(flags.data);
  mkdirSync(folder, {recursive: true});
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  say(`rehearsal in ${folder}`);
  const starting = startRehearsal({
    tools,
    folder,
    ...tokens,
    port: flags.port,
    context: contextOf(flags.context),
    ...(flags.app && {app: flags.app}),
    log: (line) => {
      if (flags.verbose || !/_(IN_PROGRESS|COMPLETE) /.test(line)) say(line);
    },
  });
  const rehearsal = await Promise.race([starting, signal]).catch((error: Error) => {
    // What was said on the way is in the folder, so that stays.
    throw new Refusal(`${error.message}\nlogs are in ${folder}`);
  });
  if (rehearsal) {
    say(`watches over WebSocket at ${rehearsal.webSocketUrl}, AWS calls at ${rehearsal.endpoint}`);
    process.stdout.write(`ready ${rehearsal.url} kubeconfig=${rehearsal.kubeconfig} in ${Math.round(performance.now())} ms\n`);
    const chaos = flags.chaos === undefined ? undefined : startChaos({seed: flags.chaos, environments: () => rehearsal.environments()});
    await signal;
    chaos?.stop();
    if (chaos) say(`${chaos.killed} environments were killed`);
    say(await summary(rehearsal));
    await rehearsal.close();
  }
  if (flags.data === undefined) rmSync(folder, {recursive: true, force: true});
  process.exit(0);
}

/** Of the CSV, or one of our own for one administrator. */
async function tokensOf(file: string | undefined): Promise<{tokenFile: string; token: string}> {
  if (file === undefined) {
    const token = randomBytes(16).toString('hex');
    return {token, tokenFile: `${token},rehearsal-admin,rehearsal-admin,"system:masters"`};
  }
  const users = await readTokenFile(resolve(file));
  const all = [...users];
  const admin = all.find(([, {groups}]) => groups?.includes('system:masters')) ?? all[0];
  if (!admin) throw new Refusal(`--token-auth-file: ${file} names nobody`);
  return {token: admin[0], tokenFile: await readFile(resolve(file), 'utf8')};
}

function contextOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new Refusal(`-c ${pair}: want KEY=VALUE`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

async function summary(rehearsal: Rehearsal): Promise<string> {
  const cold = Object.values(await rehearsal.coldStarts()).reduce((sum, count) => sum + count, 0);
  return `${cold} environments were started; ${rehearsal.calls().length} kinds of AWS calls were recorded`;
}

function refusing<Value>(find: () => Value): Value {
  try {
    return find();
  } catch (error) {
    throw new Refusal((error as Error).message);
  }
}
