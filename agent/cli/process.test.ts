import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {readableLog} from '../sources/testing.ts';
import {scratch} from '../testing.ts';
import {parseArguments} from './flags.ts';
import {checkSwap, settle} from './process.ts';
import {Settings} from './settings.ts';

describe('the process and its machine', () => {
  let proc: string;
  let set: number[];
  let refused: boolean;
  beforeEach(async () => {
    proc = await scratch('nodeagent-proc-');
    set = [];
    refused = false;
    await mkdir(join(proc, 'self'));
    await writeFile(join(proc, 'self/oom_score_adj'), '0');
    await writeFile(
      join(proc, 'self/limits'),
      'Limit     Soft Limit  Hard Limit  Units\nMax open files            1024                 4096                 files\n',
    );
    await writeFile(join(proc, 'swaps'), 'Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n');
  });
  const options = (...argv: string[]) => ({
    settings: new Settings(parseArguments(argv).values),
    log: readableLog(),
    proc,
    setOpenFiles: async (_: number, files: number) => {
      if (refused) throw new Error('EPERM');
      set.push(files);
    },
  });

  test('get the score and the limit of open files that the flags say', async () => {
    await settle(options('--oom-score-adj=7', '--max-open-files=5000'));
    expect([await readFile(join(proc, 'self/oom_score_adj'), 'utf8'), set]).toEqual(['7', [5000]]);
    await writeFile(join(proc, 'self/limits'), 'Max open files            5000                 5000                 files\n');
    await settle(options('--max-open-files=5000'));
    expect(set).toEqual([5000]);
  });

  test('may refuse: that is said where it was asked for, and nothing ends', async () => {
    refused = true;
    proc = join(proc, 'nowhere');
    const asked = options('--oom-score-adj=-5', '--max-open-files=5000');
    await settle(asked);
    expect(asked.log.lines).toEqual(['W --oom-score-adj: -5 cannot be set: ENOENT', 'W --max-open-files: 5000 cannot be set']);
    const silent = options();
    await settle(silent);
    expect(silent.log.lines).toEqual([]);
  });

  test('with swap are no place for an agent, unless it is told so', async () => {
    await checkSwap(options());
    await writeFile(join(proc, 'swaps'), 'Filename Type Size Used Priority\n/dev/sda2  partition 1 0 -2\n');
    await expect(checkSwap(options())).rejects.toThrow('running with swap on is not supported, please disable swap (/dev/sda2)');
    const told = options('--fail-swap-on=false');
    await checkSwap(told);
    expect(told.log.lines).toEqual([expect.stringContaining('swap is on (/dev/sda2)')]);
  });
});
