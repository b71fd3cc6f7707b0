/** `nodeagent install` and `uninstall`: the agent as a systemd service. */
import {execFile} from 'node:child_process';
import {access, readFile, realpath, rm, writeFile} from 'node:fs/promises';
import {isAbsolute} from 'node:path';
import {promisify} from 'node:util';
import {problemsOf} from '../cli/validate.ts';
import {CommandError, settingsOf, takeOwn} from './arguments.ts';
import {cleanup} from './cleanup.ts';
import {flagsOfUnit, unitText} from './unit.ts';

const unitName = 'nodeagent.service';
const unitFile = `/etc/systemd/system/${unitName}`;
const run = promisify(execFile);
/** Flags that name what a service would look for from the root folder. */
const files = [
  'config',
  'clusterconfig',
  'root-dir',
  'cert-dir',
  'pod-manifest-path',
  'client-ca-file',
  'tls-cert-file',
  'tls-private-key-file',
];

/** With --print the unit goes to standard output and nothing is touched; with --no-start it is enabled only. */
export async function install(argv: readonly string[]): Promise<number> {
  const {own, rest} = takeOwn(argv, ['print', 'no-start']);
  const settings = await settingsOf(rest);
  const problems = problemsOf(settings);
  if (settings.text('container-runtime') !== 'remote')
    problems.push('--container-runtime=remote and --container-runtime-endpoint are needed');
  for (const name of files) {
    const path = settings.text(name);
    if (settings.isGiven(name) && path && !isAbsolute(path)) problems.push(`--${name}=${path}: a service needs the whole path`);
  }
  if (problems.length > 0) throw new CommandError(problems.join('; '));
  const script = await realpath(process.argv[1]!);
  if (/[/\\]_npx[/\\]/.test(script))
    throw new CommandError('a service needs a program that stays: install the package first (npm install --global), then run this again');
  const text = unitText({node: process.execPath, script, flags: rest});
  if (own.has('print')) {
    process.stdout.write(text);
    return 0;
  }
  await needSystemd();
  await writeFile(unitFile, text);
  await systemctl('daemon-reload');
  await systemctl('enable', ...(own.has('no-start') ? [] : ['--now']), unitName);
  process.stdout.write(`installed ${unitFile}; its log: journalctl -u ${unitName}\n`);
  return 0;
}

/** With --keep-pods they run on, with nobody to look after them, and nothing is cleaned up. */
export async function uninstall(argv: readonly string[]): Promise<number> {
  const {own, rest} = takeOwn(argv, ['keep-pods', 'grace-seconds']);
  if (rest.length > 0) throw new CommandError(`unknown: ${rest.join(' ')}; it takes --keep-pods and --grace-seconds=N`);
  const text = await readFile(unitFile, 'utf8').catch(() => undefined);
  if (text === undefined)
    throw new CommandError(`${unitFile} is not there; \`nodeagent cleanup\` removes what an agent without a service left`);
  await needSystemd();
  await systemctl('disable', '--now', unitName);
  const grace = own.get('grace-seconds');
  const code = own.has('keep-pods')
    ? 0
    : await cleanup([...flagsOfUnit(text), ...(grace === undefined ? [] : [`--grace-seconds=${grace}`])]);
  // Last: the unit knows the flags, and a cleanup that failed can be had again.
  if (code !== 0) throw new CommandError(`${unitFile} stays until everything is removed: run it again`);
  await rm(unitFile, {force: true});
  await systemctl('daemon-reload');
  process.stdout.write(`removed ${unitFile}\n`);
  return 0;
}

async function needSystemd(): Promise<void> {
  if (process.getuid?.() !== 0) throw new CommandError('it needs root');
  await access('/run/systemd/system').catch(() => {
    throw new CommandError('systemd does not run here; `nodeagent install --print ...` shows the unit');
  });
}

const systemctl = (...args: string[]): Promise<unknown> =>
  run('systemctl', args).catch((error: Error & {stderr?: string}) => {
    throw new CommandError(`systemctl ${args.join(' ')}: ${error.stderr?.trim() || error.message}`);
  });
