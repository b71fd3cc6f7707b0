/** The network between the agent and the server breaks again and again: the watch, the tunnel, and whatever goes through them. */
import {readdirSync, readlinkSync} from 'node:fs';
import {request} from 'node:https';
import {setTimeout as pause} from 'node:timers/promises';
import {identities} from './agent-killed.ts';
import {startChurn} from './churn.ts';
import {type Fault, hold} from './fault.ts';
import {type FaultyNode, isNothing, pod, podsPath, token} from './node.ts';

export const tunnelCut: Fault = {
  promise:
    'the network to the server breaks again and again: pods go on, sessions end rather than hang, logs are served again by themselves, nothing is left open',
  seconds: 60,
  pods: 20,
  async run({dice, pods, seconds, open}) {
    const node = await open({cuttable: true});
    await node.create(pod('stays', {}, {command: ['sh', '-c', 'echo begun; while true; do echo tick; sleep 0.2; done']}));
    await node.untilReady('stays');
    const before = await identities(node, ['stays']);
    await logged(node);
    const openBefore = openFiles(node);
    const churn = startChurn(node, dice, pods);
    let cuts = 0;
    let slowestMs = 0;
    for (const end = Date.now() + seconds * 1000; Date.now() < end; cuts++) {
      const follower = follow(node);
      await pause(1000 + dice.below(2000));
      node.way!.cut();
      await pause(dice.below(3000));
      node.way!.mend();
      slowestMs = Math.max(slowestMs, await logged(node));
      const mendedAt = Date.now();
      // By another road than the tunnel it goes on.
      while (!follower.ended && follower.heardAt < mendedAt) {
        hold(Date.now() - mendedAt < 60_000, () => 'a follower hangs on a connection that is gone');
        await pause(100);
      }
      follower.leave();
    }
    await churn.stop();
    for (const name of churn.wanted) await node.untilReady(name, 120_000);
    hold((await identities(node, ['stays'])) === before, () => 'a container that ran all the while is another one, or was restarted');
    const {ms, left} = await node.empty();
    hold(isNothing(left), () => `left behind: ${JSON.stringify(left)}`);
    let grown = openFiles(node) - openBefore;
    for (const end = Date.now() + 60_000; grown > 20 && Date.now() < end; grown = openFiles(node) - openBefore) await pause(500);
    hold(grown <= 20, () => `the agent holds ${grown} files more than before: ${kindsOfFiles(node)}`);
    return {cuts, created: churn.created, 'a log again after ms, at worst': slowestMs, 'files more open': grown, 'all gone after ms': ms};
  },
};

const openFiles = (node: FaultyNode): number => readdirSync(`/proc/${node.agentPid}/fd`).length;

function kindsOfFiles(node: FaultyNode): string {
  const counts: Record<string, number> = {};
  for (const fd of readdirSync(`/proc/${node.agentPid}/fd`)) {
    const kind = readlinkSync(`/proc/${node.agentPid}/fd/${fd}`).replace(/\d+/g, 'N');
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return JSON.stringify(counts);
}

/** How long until the log is served, ms. */
async function logged(node: FaultyNode): Promise<number> {
  const began = Date.now();
  for (;;) {
    const text = await node.api.text(`${podsPath}/stays/log?tailLines=1`).catch(() => '');
    if (text === 'tick\n') return Date.now() - began;
    hold(Date.now() - began < 120_000, () => 'the log is not served again');
    await pause(100);
  }
}

interface Follower {
  ended: boolean;
  heardAt: number;
  leave(): void;
}

function follow(node: FaultyNode): Follower {
  const url = `https://${node.server.address}${podsPath}/stays/log?follow=true&tailLines=1`;
  const follower: Follower = {ended: false, heardAt: 0, leave: () => sent.destroy()};
  const sent = request(url, {rejectUnauthorized: false, agent: false, headers: {authorization: `Bearer ${token}`}}, (response) => {
    response.on('data', () => {
      follower.heardAt = Date.now();
    });
    response.on('error', () => {});
    response.on('close', () => {
      follower.ended = true;
    });
  });
  sent.on('error', () => {
    follower.ended = true;
  });
  sent.end();
  return follower;
}
