import {readdir, readFile, readlink} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {scratch} from '../testing.ts';
import {parseArguments} from './flags.ts';
import {openLog} from './log.ts';
import {openLogSink} from './log-files.ts';
import {Settings} from './settings.ts';

describe('lines of the log', () => {
  let folder: string;
  let clock: ManualClock;
  let stderr: string[];
  beforeEach(async () => {
    folder = await scratch('nodeagent-log-');
    clock = new ManualClock();
    stderr = [];
  });

  const opened = (...argv: string[]) => {
    const {values, errors} = parseArguments(argv);
    expect(errors).toEqual([]);
    const sink = openLogSink({settings: new Settings(values), clock, stderr: (line) => void stderr.push(line)});
    const log = openLog({format: 'text', verbosity: 0, headers: false, write: sink.write});
    return {sink, log};
  };
  const say = (...argv: string[]) => {
    const {sink, log} = opened(...argv);
    log.info('info');
    log.warn('warning');
    log.error('error');
    sink.flush();
  };
  const inFile = async (severity: string) => (await readFile(join(folder, `nodeagent.${severity}`), 'utf8')).trim().split('\n');

  test('go to standard error and nowhere else, unless told otherwise', async () => {
    say(`--log-dir=${folder}`);
    expect(stderr).toEqual(['info\n', 'warning\n', 'error\n']);
    expect(await readdir(folder)).toEqual([]);
  });

  test('go to a file for each severity and those below; errors are on standard error too', async () => {
    say('--logtostderr=false', `--log-dir=${folder}`, '--skip-log-headers');
    expect([await inFile('INFO'), await inFile('WARNING'), await inFile('ERROR')]).toEqual([
      ['info', 'warning', 'error'],
      ['warning', 'error'],
      ['error'],
    ]);
    expect(stderr).toEqual(['error\n']);
    expect(await readlink(join(folder, 'nodeagent.ERROR'))).toMatch(/^nodeagent\.[^.]+\.[^.]+\.log\.ERROR\.20260101-000000\.\d+$/);
  });

  test.each([
    [['--alsologtostderr'], ['info\n', 'warning\n', 'error\n']],
    [['--stderrthreshold=1'], ['warning\n', 'error\n']],
    [['--stderrthreshold=3'], []],
  ])('with %s: on standard error too', (argv, expected) => {
    say('--logtostderr=false', `--log-dir=${folder}`, ...argv);
    expect(stderr).toEqual(expected);
  });

  test('are in the file of their own severity only with --one-output', async () => {
    say('--logtostderr=false', `--log-dir=${folder}`, '--one-output', '--skip-log-headers');
    expect([await inFile('INFO'), await inFile('WARNING'), await inFile('ERROR')]).toEqual([['info'], ['warning'], ['error']]);
  });

  test('go to the one file that is named, which says when it was begun, and begins anew when it is full', async () => {
    const file = join(folder, 'log');
    const argv = ['--logtostderr=false', `--log-file=${file}`, '--log-file-max-size=1'];
    say(...argv);
    const text = await readFile(file, 'utf8');
    expect(text).toMatch(
      /^Log file created at: 2026\/01\/01 00:00:00\nRunning on machine: .*\nLog line format: .*\ninfo\nwarning\nerror\n$/,
    );
    const {sink, log} = opened(...argv);
    log.info('x'.repeat(1024 * 1024));
    sink.flush();
    expect([await readFile(`${file}.old`, 'utf8'), (await readFile(file)).length > 1024 * 1024]).toEqual([text, true]);
  });

  test('are written as often as told, errors at once', async () => {
    const file = join(folder, 'log');
    const {log} = opened('--logtostderr=false', `--log-file=${file}`, '--skip-log-headers', '--log-flush-frequency=3s');
    const text = () => readFile(file, 'utf8');
    log.info('later');
    clock.advance(2_999);
    expect(await text()).toBe('');
    clock.advance(1);
    expect(await text()).toBe('later\n');
    log.error('now');
    expect(await text()).toBe('later\nnow\n');
  });

  test('have nowhere to go where the file cannot be opened: that is an error at start', () => {
    expect(() => opened('--logtostderr=false', `--log-file=${join(folder, 'no', 'log')}`)).toThrow('ENOENT');
  });
});
