import {rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {Settings} from '../cli/settings.ts';
import {scratch} from '../testing.ts';
import {StaticSources} from './statics.ts';
import {Delivered, manifestOf, type ReadableLog, readableLog} from './testing.ts';

describe('the sources beside the API', () => {
  let folder: string;
  let log: ReadableLog;
  let sources: StaticSources;
  let said: Record<string, Delivered>;
  let clock: ManualClock;

  beforeEach(async () => {
    folder = await scratch('nodeagent-statics-');
    log = readableLog();
    clock = new ManualClock();
    said = {file: new Delivered(), manifest: new Delivered()};
    sources = new StaticSources({
      settings: new Settings(new Map([['pod-manifest-path', join(folder, 'files')]])),
      folder: join(folder, 'put'),
      deliver: (source, pods) => said[source]!.deliver(pods),
      ...{node: 'n', clock, log},
    });
    sources.start();
    await sources.heard;
  });
  afterEach(() => sources.stop());

  test('have spoken when each has, also when there is nothing', () => {
    expect(sources.names).toEqual(['file', 'manifest']);
    expect([said['file']!.last, said['manifest']!.last]).toEqual([[], []]);
    expect(sources.problems).toEqual([expect.stringContaining('path does not exist')]);
  });

  test('share out names: files come first, the other waits, and has its turn when the first is gone', async () => {
    await sources.put!.put('web', Buffer.from(manifestOf('web')));
    expect(said['manifest']!.last).toEqual(['web-n']);
    await writeFile(join(folder, 'files'), manifestOf('web', 'another'));
    clock.advance(20_000);
    await said['file']!.until((last) => last.length === 1);
    expect(said['manifest']!.last).toEqual([]);
    expect(log.lines.at(-1)).toBe('W pod default/web-n of source manifest waits: another source or file has a pod of this name');
    await expect(sources.put!.put('other', Buffer.from(manifestOf('web')))).rejects.toThrow('pod "default/web-n" is already that of');
    await rm(join(folder, 'files'));
    while (said['manifest']!.last?.length === 0) {
      clock.advance(20_000);
      await new Promise(setImmediate);
    }
    expect([said['file']!.last, said['manifest']!.last]).toEqual([[], ['web-n']]);
  });
});
