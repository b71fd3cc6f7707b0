/** An acknowledged write is on the disk: processes are killed without warning, and the system calls of a write are read. */

import {type ChildProcessByStdio, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {Readable} from 'node:stream';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import {seededRandom} from '../faults.ts';
import {openEmbedded} from './open.ts';
import {type Bundle, bundled} from './testing/bundle.ts';

let path: string;
let engine: Bundle;
beforeAll(async () => {
  engine = await bundled('openEmbedded');
});
afterAll(() => engine.remove());
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'durable-'));
});
afterEach(() => rm(path, {recursive: true, force: true}));

/** Writes for ever; says each acknowledged revision on a line, synchronously, after its answer. */
const writerProgram = (file: string, folder: string, round: number): string => `
  import {writeSync} from 'node:fs';
  const {openEmbedded} = await import(${JSON.stringify(file)});
  const store = await openEmbedded({path: ${JSON.stringify(folder)}});
  writeSync(1, 'open\\n');
  const image = Buffer.alloc(1000, 'x');
  const write = async (writer) => {
    let expected = 'absent';
    for (let n = 0; ; n++) {
      const key = 'r${round}/w' + writer + '-' + Math.floor(n / 3);
      const last = n % 3 === 2;
      const {revision} = await store.append(
        {type: 'pods', key, expected, operation: last && writer % 2 ? 'delete' : 'put', encode: () => image, index: {}});
      expected = last ? 'absent' : revision;
      writeSync(1, revision + ' ' + key + '\\n');
      if (${round} % 4 === 3 && writer === 0 && n % 20 === 19) await store.compact(revision - 500);
    }
  };
  await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(write));`;

const nodeArguments = (program: string): string[] => ['--input-type=module', '-e', program];

describe('a process that is killed', () => {
  test('loses no acknowledged write and reuses no revision, round after round', {timeout: 60_000}, async () => {
    const random = seededRandom(9);
    const acknowledged = new Map<number, string>();
    let highest = 0;
    for (let round = 0; round < 20; round++) {
      const child: ChildProcessByStdio<null, Readable, null> = spawn(
        process.execPath,
        nodeArguments(writerProgram(engine.file, path, round)),
        {stdio: ['ignore', 'pipe', 'inherit']},
      );
      const wanted = 1 + Math.floor(random() * 400);
      let output = '';
      const closed = once(child, 'close');
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.split('\n').length > wanted) child.kill('SIGKILL');
      });
      await closed;
      // The last line may have been cut off.
      const lines = output.split('\n').slice(0, -1);
      expect(lines.shift()).toBe('open');
      for (const line of lines) {
        const [revision, key] = line.split(' ');
        expect(Number(revision)).toBeGreaterThan(highest);
        acknowledged.set(Number(revision), key!);
      }

      const store = await openEmbedded({path});
      const head = await store.head('pods');
      const oldest = await store.compactedThrough('pods');
      const log = await store.log('pods', oldest, head);
      const logged = new Map(log.map((change) => [change.revision, change.key]));
      for (const [revision, key] of acknowledged) if (revision > oldest) expect(logged.get(revision)).toBe(key);
      expect(head).toBeGreaterThanOrEqual(Math.max(0, ...acknowledged.keys()));
      // Whole or not at all: the live objects are what the log says.
      const live = await store.scan('pods', {prefix: ''});
      const counts = await store.counts();
      expect(counts.get('pods') ?? 0).toBe(live.items.length);
      for (const change of log) {
        const stored = live.items.find((item) => item.key === change.key);
        if (stored) expect(stored.revision).toBeGreaterThanOrEqual(change.revision);
      }
      highest = head;
      await store.close();
    }
    expect(acknowledged.size).toBeGreaterThan(500);
  });
});

const strace = (() => {
  try {
    execFileSync('strace', ['-e', 'trace=none', 'true'], {stdio: 'ignore'});
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!strace)('the system calls of a write (needs strace)', () => {
  /** For each answer, whether the pages were synced and then the root written through a descriptor that syncs, all since the last. */
  async function answersAreDurable(bundle: Bundle): Promise<boolean[]> {
    const trace = join(path, 'trace');
    const program = `
      import {writeSync} from 'node:fs';
      const {openEmbedded} = await import(${JSON.stringify(bundle.file)});
      const store = await openEmbedded({path: ${JSON.stringify(join(path, 'store'))}});
      writeSync(1, 'begin\\n');
      for (let n = 0; n < 10; n++) {
        await store.append({type: 'pods', key: 'k' + n, expected: 'absent', operation: 'put', encode: () => Buffer.alloc(1000), index: {}});
        writeSync(1, 'answer\\n');
      }
      process.kill(process.pid, 'SIGKILL');`;
    const calls = 'trace=openat,fdatasync,fsync,msync,pwrite64,pwritev,write';
    const child = spawn('strace', ['-f', '-e', calls, '-o', trace, process.execPath, ...nodeArguments(program)], {stdio: 'ignore'});
    await once(child, 'exit');
    const lines = joined((await readFile(trace, 'utf8')).split('\n'));
    const rootWriter = lines.map((line) => /store\.mdb", [^)]*O_DSYNC[^)]*\) = (\d+)/.exec(line)?.[1]).find((descriptor) => descriptor);
    const answers: boolean[] = [];
    let synced = false;
    let rooted = false;
    for (const line of lines) {
      if (/ (fdatasync|fsync)\(\d+\) += 0/.test(line)) synced = true;
      else if (rootWriter && synced && line.includes(` pwrite64(${rootWriter}, `)) rooted = true;
      else if (line.includes('write(1, "begin')) synced = rooted = false;
      else if (line.includes('write(1, "answer')) {
        answers.push(rooted);
        synced = rooted = false;
      }
    }
    return answers;
  }

  test('its pages are synced, then its root, before it is answered', {timeout: 30_000}, async () => {
    expect(await answersAreDurable(engine)).toEqual(Array(10).fill(true));
  });

  for (const spoiled of ['noSync: true', 'noMetaSync: true']) {
    test(`which this test would notice missing (${spoiled})`, {timeout: 30_000}, async () => {
      const bundle = await bundled('openEmbedded', (source) => source.replace('overlappingSync: false', spoiled));
      try {
        expect(await answersAreDurable(bundle)).not.toEqual(Array(10).fill(true));
      } finally {
        await bundle.remove();
      }
    });
  }
});

/** strace splits a call that another thread interrupts; its end is where it counts. */
function joined(lines: readonly string[]): string[] {
  const unfinished = new Map<string, string>();
  const whole: string[] = [];
  for (const line of lines) {
    const [, pid, rest] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (!pid) continue;
    const begun = /^(.*) <unfinished \.\.\.>$/.exec(rest!);
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest!);
    if (begun) unfinished.set(pid, begun[1]!);
    else whole.push(` ${resumed ? (unfinished.get(pid) ?? '') + resumed[1] : rest}`);
  }
  return whole;
}
