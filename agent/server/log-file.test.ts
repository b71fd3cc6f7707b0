import {appendFile, open, rename, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {scratch} from '../testing.ts';
import {type LogOptions, readLog} from './log-file.ts';

const line = (text: string, {tag = 'F', stream = 'stdout', second = 0} = {}): string =>
  `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000000Z ${stream} ${tag} ${text}\n`;

describe('a log', () => {
  let path: string;
  beforeEach(async () => {
    path = join(await scratch('nodeagent-log-'), '0.log');
  });
  const options = (more: Partial<LogOptions> = {}): LogOptions => ({
    follow: false,
    timestamps: false,
    tail: undefined,
    since: undefined,
    limitBytes: undefined,
    ...more,
  });
  const read = async (more: Partial<LogOptions> = {}, isOver = () => true, signal = new AbortController().signal): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const chunk of readLog(path, options(more), isOver, signal)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };

  test('is what the container wrote; parts of a line are one', async () => {
    await writeFile(path, line('a') + line('long ', {tag: 'P'}) + line('line') + 'nonsense\n' + line('e', {stream: 'stderr'}));
    expect(await read()).toBe('a\nlong line\ne\n');
    expect(await read({stream: 'stderr'})).toBe('e\n');
    expect(await read({limitBytes: 4})).toBe('a\nlo');
  });

  test('from the end, or from a time on, with the times', async () => {
    await writeFile(path, Array.from({length: 50}, (_, second) => line(`l${second}`, {second})).join(''));
    expect(await read({tail: 2})).toBe('l48\nl49\n');
    expect(await read({tail: 0})).toBe('');
    expect(await read({tail: 1000})).toContain('l0\n');
    expect(await read({since: Date.parse('2026-01-01T00:00:49Z'), timestamps: true})).toBe('2026-01-01T00:00:49.000000000Z l49\n');
  });

  test('is followed through a rotation to its end, and no line is lost', async () => {
    await writeFile(path, line('first'));
    let over = false;
    const all = read({follow: true}, () => over);
    for (let index = 0; index < 200; index++) await appendFile(path, line(`a${index}`));
    await rename(path, `${path}.old`);
    await appendFile(`${path}.old`, line('late'));
    await writeFile(path, line('second file'));
    await appendFile(path, line('last'));
    over = true;
    const lines = (await all).trim().split('\n');
    expect(lines).toEqual(['first', ...Array.from({length: 200}, (_, index) => `a${index}`), 'late', 'second file', 'last']);
  });

  test('a follower that leaves is let go', async () => {
    await writeFile(path, line('x'));
    const leaving = new AbortController();
    const all = read({follow: true}, () => false, leaving.signal);
    leaving.abort();
    expect(await all).toMatch(/^(x\n)?$/);
  });

  test('what is written into the old file while the new one is there already is not lost', async () => {
    await writeFile(path, line('first'));
    const old = await open(path, 'a');
    let over = false;
    const stop = new AbortController();
    const got: string[] = [];
    const all = (async () => {
      for await (const chunk of readLog(path, options({follow: true}), () => over, stop.signal)) got.push(chunk.toString());
    })();
    const until = async (text: string) => expect.poll(() => got.join(''), {timeout: 15_000}).toContain(text);
    await until('first');
    await rename(path, `${path}.old`);
    // As a runtime does it: the new file is made, and for a moment the container still writes into the old one.
    await writeFile(path, '');
    await old.appendFile(line('between'));
    await until('between');
    await old.appendFile(line('at the last moment'));
    await appendFile(path, line('new'));
    await old.close();
    await until('new');
    over = true;
    await appendFile(path, line('end'));
    await all;
    expect(got.join('')).toBe('first\nbetween\nat the last moment\nnew\nend\n');
  });

  test('a line that is half written waits for its other half', async () => {
    const whole = line('whole');
    await writeFile(path, line('before') + whole.slice(0, 20));
    expect(await read()).toBe('before\n');
    let over = false;
    const all = read({follow: true}, () => over);
    await appendFile(path, whole.slice(20));
    over = true;
    expect(await all).toBe('before\nwhole\n');
  });

  test('lines and characters that lie across the blocks of the file are whole', async () => {
    const words = Array.from({length: 3000}, (_, index) => `${'ü€'.repeat(index % 40)} ${index}`);
    await writeFile(path, words.map((word) => line(word)).join(''));
    expect(await read()).toBe(`${words.join('\n')}\n`);
    expect(await read({tail: 2500})).toBe(`${words.slice(500).join('\n')}\n`);
    expect(await read({tail: 2500, limitBytes: 7})).toBe(Buffer.from(words[500]!).subarray(0, 7).toString());
  });

  test('a line longer than any block is one', async () => {
    const long = 'x'.repeat(1_000_000);
    await writeFile(path, line(long) + line('after'));
    expect(await read()).toBe(`${long}\nafter\n`);
    expect(await read({tail: 1})).toBe('after\n');
  });

  test('the last lines are the last of the file, whatever stream they were of; an empty file has none', async () => {
    await writeFile(path, '');
    expect(await read({tail: 5})).toBe('');
    await writeFile(path, line('out') + line('err', {stream: 'stderr'}) + line('out again'));
    expect(await read({tail: 2, stream: 'stdout'})).toBe('out again\n');
  });

  test('a file that is not there is an error before the first byte', async () => {
    await expect(read()).rejects.toMatchObject({code: 'ENOENT'});
  });

  test('what is followed can be limited, and then ends by itself', async () => {
    await writeFile(path, line('0123456789'));
    expect(await read({follow: true, limitBytes: 4}, () => false)).toBe('0123');
  });
});
