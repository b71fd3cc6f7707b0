/**
 * Does harm to a node and holds it to what docs/node.md promises. Needs what *.runtime.test.ts need; each fault has a containerd, a server and
 * an agent of its own, and leaves nothing.
 *
 *     faults [NAME...] [--seed N] [--pods N] [--seconds S] [--list]
 */
import {parseArgs} from 'node:util';
import {Dice} from '../fuzz/dice.ts';
import {lackingRuntime} from '../runtime/containerd.ts';
import {agentKilled} from './agent-killed.ts';
import {apiGone} from './api-gone.ts';
import {clockJump} from './clock-jump.ts';
import {diskFull} from './disk-full.ts';
import type {Fault} from './fault.ts';
import {FaultyNode} from './node.ts';
import {runtimeKilled} from './runtime-killed.ts';
import {streams} from './streams.ts';
import {tunnelCut} from './tunnel-cut.ts';

const faults: Readonly<Record<string, Fault>> = {
  'agent-killed': agentKilled,
  'runtime-killed': runtimeKilled,
  'api-gone': apiGone,
  'disk-full': diskFull,
  'clock-jump': clockJump,
  'tunnel-cut': tunnelCut,
  streams,
};

const nodes: FaultyNode[] = [];

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Promise.all(nodes.map((node) => node.close(false))).finally(() => process.exit(130)));

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    seed: {type: 'string', default: '1'},
    pods: {type: 'string'},
    seconds: {type: 'string'},
    list: {type: 'boolean', default: false},
  },
});

if (values.list)
  for (const [name, {promise, seconds, pods}] of Object.entries(faults))
    console.log(`${name.padEnd(16)}${promise} (${seconds} s, ${pods} pods)`);
else if (lackingRuntime) {
  console.error(`no container runtime: ${lackingRuntime} is missing`);
  process.exitCode = 2;
} else for (const name of positionals.length > 0 ? positionals : Object.keys(faults)) await play(name);

async function play(name: string): Promise<void> {
  const fault = faults[name];
  if (!fault) throw new Error(`no fault is called ${name}: ${Object.keys(faults).join(', ')}`);
  const began = Date.now();
  let broken: unknown;
  try {
    const figures = await fault.run({
      dice: new Dice(Number(values.seed)),
      pods: Number(values.pods ?? fault.pods),
      seconds: Number(values.seconds ?? fault.seconds),
      say: (text) => console.log(`   ${text}`),
      async open(options) {
        const node = await FaultyNode.open(options);
        nodes.push(node);
        return node;
      },
    });
    console.log(`held    ${name}, seed ${values.seed}, ${Math.round((Date.now() - began) / 1000)} s: ${JSON.stringify(figures)}`);
  } catch (error) {
    broken = error;
    process.exitCode = 1;
  }
  for (const node of nodes.splice(0)) {
    const log = await node.close(broken !== undefined);
    if (log) console.log(`   the agent's log: ${log}`);
  }
  if (broken) console.log(`BROKEN  ${name}, seed ${values.seed}: ${(broken as Error).stack}`);
}
