import {appendFile, rename, writeFile} from 'node:fs/promises';
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
});
