import {execFileSync} from 'node:child_process';
import {mkdir, open, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {scratch} from '../testing.ts';
import {FileSource} from './files.ts';
import {Delivered, manifestOf, type ReadableLog, readableLog} from './testing.ts';

describe('a folder of manifests', () => {
  let folder: string;
  let clock: ManualClock;
  let log: ReadableLog;
  let found: Delivered;
  let source: FileSource;

  beforeEach(async () => {
    folder = await scratch('nodeagent-files-');
    clock = new ManualClock();
    log = readableLog();
    found = new Delivered();
    source = sourceOf(folder);
  });
  afterEach(() => source.stop());

  const sourceOf = (path: string, everyMs = 20_000) => new FileSource({path, node: 'n', everyMs, clock, log, deliver: found.deliver});
  const put = (name: string, text: string) => writeFile(join(folder, name), text);
  const read = async () => {
    await source.read();
    return found.last;
  };

  test('gives the pods of its files, by their names; dot files and folders are nothing', async () => {
    await put('b.yaml', manifestOf('b'));
    await put('a.json', `${manifestOf('a')}`);
    await put('.hidden.yaml', manifestOf('hidden'));
    await mkdir(join(folder, 'sub'));
    await writeFile(join(folder, 'sub', 'c.yaml'), manifestOf('c'));
    await symlink('sub', join(folder, 'link'));
    expect(await read()).toEqual(['a-n', 'b-n']);
    expect(log.lines).toEqual([]);
  });

  test('goes on with the others when one is malformed, with what that one held before, and says so once', async () => {
    await put('a.yaml', manifestOf('a'));
    await put('bad.yaml', manifestOf('good'));
    expect(await read()).toEqual(['a-n', 'good-n']);
    await put('bad.yaml', 'kind: [');
    expect(await read()).toEqual(['a-n', 'good-n']);
    expect(await read()).toEqual(['a-n', 'good-n']);
    expect(log.lines).toEqual([expect.stringMatching(/^E cannot read pod manifest .*bad\.yaml: yaml: /)]);
    await put('bad.yaml', manifestOf('better'));
    expect(await read()).toEqual(['a-n', 'better-n']);
    await rm(join(folder, 'bad.yaml'));
    expect(await read()).toEqual(['a-n']);
  });

  test('does not read what is too long, and does not wait for a pipe', async () => {
    const huge = await open(join(folder, 'huge.yaml'), 'w');
    await huge.truncate(200 * 2 ** 30);
    await huge.close();
    execFileSync('mkfifo', [join(folder, 'pipe.yaml')]);
    await put('a.yaml', manifestOf('a'));
    expect(await read()).toEqual(['a-n']);
    expect(log.lines).toEqual([expect.stringMatching(/huge\.yaml: manifest is longer than 10485760 bytes$/)]);
  });

  test('is looked at in a rhythm, and at once when the system tells of a change', async () => {
    await source.read();
    expect(found.last).toEqual([]);
    await writeFile(join(folder, '.tmp'), manifestOf('a'));
    await rename(join(folder, '.tmp'), join(folder, 'a.yaml'));
    // The system's word arrives by itself; what it sets off is the clock's.
    while (found.last?.length === 0) {
      clock.advance(100);
      await new Promise(setImmediate);
    }
    expect(found.last).toEqual(['a-n']);
    const before = found.all.length;
    clock.advance(20_000);
    await source.read();
    expect(found.all.length).toBeGreaterThan(before);
  });

  test('that is not there yet holds nothing, and is found when it comes', async () => {
    source.stop();
    source = sourceOf(join(folder, 'later'));
    expect(await read()).toEqual([]);
    await read();
    expect(log.lines).toEqual([expect.stringMatching(/^W path does not exist, ignoring: .*later$/)]);
    await mkdir(join(folder, 'later'));
    await writeFile(join(folder, 'later', 'a.yaml'), manifestOf('a'));
    expect(await read()).toEqual(['a-n']);
    await rm(join(folder, 'later'), {recursive: true});
    expect(await read()).toEqual([]);
  });

  test('can be a single file, and is heard of at once each time another takes its place', async () => {
    await put('only.yaml', manifestOf('only'));
    source.stop();
    source = sourceOf(join(folder, 'only.yaml'), 1e9);
    expect(await read()).toEqual(['only-n']);
    for (const name of ['second', 'third']) {
      await put('.next', manifestOf(name));
      await rename(join(folder, '.next'), join(folder, 'only.yaml'));
      while (found.last?.[0] !== `${name}-n`) {
        clock.advance(100);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
  });
});
