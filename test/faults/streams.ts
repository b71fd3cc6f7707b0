/** No fault but a load: a log at 10,000 lines a second, a terminal that changes its size, and 100 MB through a command, all by way of the API. */
import {execFile} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {request} from 'node:https';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {WebSocket} from 'ws';
import {type Fault, hold} from './fault.ts';
import {type FaultyNode, isNothing, pod, podsPath, token} from './node.ts';

const run = promisify(execFile);
const linesPerSecond = 10_000;
const copiedBytes = 100_000_000;

export const streams: Fault = {
  promise: 'logs -f at 10,000 lines/s lose no line, through rotations too; a terminal follows its size; 100 MB are copied as they are',
  seconds: 60,
  pods: 1,
  async run({open, seconds, say}) {
    const node = await open({flags: ['--container-log-max-size=10Mi']});
    const followed = await follow(node, seconds);
    say('the log was followed');
    await node.create(pod('shell'));
    await node.untilReady('shell');
    await terminal(node);
    say('the terminal followed its size');
    const rssBefore = memoryOf(node.agentPid);
    const copied = await copy(node);
    const grownMiB = memoryOf(node.agentPid) - rssBefore;
    const {left} = await node.empty();
    hold(isNothing(left), () => `left behind: ${JSON.stringify(left)}`);
    return {...followed, ...copied, 'agent grew by MiB': grownMiB};
  },
};

async function follow(node: FaultyNode, seconds: number) {
  const lines = seconds * linesPerSecond;
  // A burst every tenth of a second, as even as a shell can.
  const script = `i=0; while [ $i -lt ${seconds * 10} ]; do seq $((i*1000+1)) $((i*1000+1000)) | sed "s/.*/line & of many, with some words to make it longer/"; i=$((i+1)); usleep 70000; done; echo end`;
  const {metadata} = await node.create(pod('talker', {restartPolicy: 'Never'}, {command: ['sh', '-c', script]}));
  await node.api.until(`${podsPath}/talker`, 'the talker runs', (found) => found?.status?.phase === 'Running');
  const began = Date.now();
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const url = `https://${node.server.address}${podsPath}/talker/log?follow=true`;
    request(url, {rejectUnauthorized: false, agent: false, headers: {authorization: `Bearer ${token}`}}, resolve)
      .on('error', reject)
      .end();
  });
  let expected = 1;
  let rest = '';
  let ended = false;
  response.setEncoding('utf8');
  for await (const chunk of response) {
    const whole = (rest + chunk).split('\n');
    rest = whole.pop()!;
    for (const line of whole) {
      if (line === 'end') ended = true;
      else {
        const number = Number(/^line (\d+) of many/.exec(line)?.[1]);
        hold(number === expected, () => `after line ${expected - 1} came ${JSON.stringify(line)}`);
        expected += 1;
      }
    }
  }
  hold(ended && expected === lines + 1, () => `the log ended after ${expected - 1} of ${lines} lines`);
  const rotated = (await readdir(`/var/log/pods/default_talker_${metadata.uid}/main`)).length;
  return {
    'lines followed': lines,
    'lines a second': Math.round(lines / ((Date.now() - began) / 1000)),
    'log files': rotated,
  };
}

async function terminal(node: FaultyNode): Promise<void> {
  const query = new URLSearchParams([
    ['stdin', 'true'],
    ['stdout', 'true'],
    ['tty', 'true'],
    ['command', 'sh'],
  ]);
  const headers = {authorization: `Bearer ${token}`};
  for (const protocol of ['v5.channel.k8s.io', 'v4.channel.k8s.io']) {
    const socket = new WebSocket(`wss://${node.server.address}${podsPath}/shell/exec?${query}`, protocol, {
      rejectUnauthorized: false,
      headers,
    });
    let heard = '';
    socket.on('message', (data: Buffer) => {
      if (data[0] === 1) heard += data.subarray(1).toString();
    });
    await once(socket, 'open');
    const say = (channel: number, text: string) => socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]));
    for (const [width, height] of [
      [80, 24],
      [132, 50],
    ] as const) {
      say(4, JSON.stringify({Width: width, Height: height}));
      const end = Date.now() + 15_000;
      while (!heard.includes(`${height} ${width}`)) {
        hold(Date.now() < end, () => `${protocol}: the terminal never had ${width} columns: ${JSON.stringify(heard)}`);
        say(0, 'stty size\n');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    say(0, 'exit\n');
    await once(socket, 'close');
  }
}

/** By kubectl where there is one: it runs tar in the container. */
async function copy(node: FaultyNode) {
  const kubectl = process.env.TEST_KUBECTL || fileURLToPath(new URL('../../.cache/bin/kubectl', import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), 'clusterless-copy-'));
  try {
    const [there, back] = [join(folder, 'there'), join(folder, 'back')];
    await writeFile(there, randomBytes(copiedBytes));
    const cp = async (from: string, to: string): Promise<number> => {
      const began = Date.now();
      await run(kubectl, ['--kubeconfig', node.server.kubeconfig, 'cp', from, to, '--retries=0'], {timeout: 300_000});
      return Date.now() - began;
    };
    const toMs = await cp(there, 'shell:/tmp/copied');
    const fromMs = await cp('shell:/tmp/copied', back);
    const digest = async (path: string) =>
      createHash('sha256')
        .update(await readFile(path))
        .digest('hex');
    hold((await digest(there)) === (await digest(back)), () => 'the copy is another');
    return {'100 MB in ms': toMs, '100 MB out ms': fromMs};
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

const memoryOf = (pid: number): number => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
