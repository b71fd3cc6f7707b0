/** `clusterless doctor`: what could go wrong on this machine, one line each, with what to do about it. Changes nothing. */
import {execFile} from 'node:child_process';
import {X509Certificate} from 'node:crypto';
import {access, constants, mkdtemp, open, readFile, rm, stat} from 'node:fs/promises';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {parseListen} from '../listen.ts';
import {kubernetesVersion} from '../version.ts';
import {Refusal} from './fail.ts';
import {readServerFile} from './server-file.ts';

export interface Finding {
  level: 'ok' | 'warn' | 'fail';
  about: string;
  found: string;
  advice?: string;
}

const dayMs = 86_400_000;
/** Durable writes cost one of these each, shared by those that come together. */
const slowFlushMs = 20;

export async function doctor(flags: {data: string; listen: string}): Promise<void> {
  const data = resolve(flags.data);
  const findings = [
    nodeVersion(process.version),
    await folder(data),
    ...(await certificates(join(data, 'pki'))),
    await port(flags.listen, data),
    await flushLatency(data),
    await kubectl(),
  ];
  for (const {level, about, found, advice} of findings) {
    process.stdout.write(`${level.padEnd(5)}${about.padEnd(14)}${found}${advice ? `: ${advice}` : ''}\n`);
  }
  const failed = findings.filter(({level}) => level === 'fail').length;
  if (failed > 0) throw new Refusal(`${failed} of ${findings.length} checks failed`);
}

export function nodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.slice(1).split('.').map(Number);
  const about = 'node';
  if (major < 20 || (major === 20 && minor < 11)) return {level: 'fail', about, found: version, advice: 'Node 20.11 or newer is needed'};
  if (major > 24) return {level: 'warn', about, found: version, advice: 'newer than what this release was tested with (20 to 24)'};
  return {level: 'ok', about, found: version};
}

async function folder(data: string): Promise<Finding> {
  const about = 'data folder';
  try {
    const {mode} = await stat(data);
    await access(data, constants.R_OK | constants.W_OK | constants.X_OK);
    if (mode & 0o077) return {level: 'warn', about, found: `${data} can be read by others`, advice: `it holds keys; chmod 700 ${data}`};
    return {level: 'ok', about, found: data};
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOENT') return {level: 'fail', about, found: `${data} cannot be used (${code})`, advice: 'name another with --data'};
    const parent = dirname(data);
    return access(parent, constants.W_OK).then(
      (): Finding => ({level: 'ok', about, found: `${data} will be made by the first start`}),
      (): Finding => ({level: 'fail', about, found: `${data} cannot be made in ${parent}`, advice: 'name another with --data'}),
    );
  }
}

async function certificates(pki: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const name of ['ca', 'apiserver', 'admin']) {
    const file = join(pki, `${name}.crt`);
    const about = 'certificate';
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? undefined : ''));
    if (text === undefined) continue;
    try {
      const days = Math.floor((Date.parse(new X509Certificate(text).validTo) - Date.now()) / dayMs);
      const found = `${name} is valid for ${days} days`;
      findings.push(days < 30 ? {level: 'warn', about, found, advice: 'the next start renews it'} : {level: 'ok', about, found});
    } catch {
      findings.push({level: 'fail', about, found: `${file} cannot be read`, advice: `remove ${pki} to make new ones`});
    }
  }
  return findings;
}

async function port(listen: string, data: string): Promise<Finding> {
  const about = 'port';
  const {host, port: number} = parseListen(listen);
  const running = await readServerFile(data);
  if (running?.url.endsWith(`:${number}`)) return {level: 'ok', about, found: `${listen} is served by process ${running.pid}`};
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen(number, host, () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return {level: 'ok', about, found: `${listen} is free`};
  return {
    level: 'fail',
    about,
    found: `${listen} cannot be taken (${code})`,
    advice: 'choose another with --listen, or a free one with port 0',
  };
}

async function flushLatency(data: string): Promise<Finding> {
  const about = 'disk';
  const near = await access(data, constants.W_OK).then(
    () => data,
    () =>
      access(dirname(data), constants.W_OK).then(
        () => dirname(data),
        () => tmpdir(),
      ),
  );
  const scratch = await mkdtemp(join(near, '.doctor-'));
  try {
    const file = await open(join(scratch, 'flush'), 'w');
    const times: number[] = [];
    for (let i = 0; i < 20; i++) {
      await file.write(Buffer.alloc(4096, i));
      const before = performance.now();
      await file.datasync();
      times.push(performance.now() - before);
    }
    await file.close();
    const median = times.sort((a, b) => a - b)[times.length >> 1]!;
    const found = `a flushed write takes ${median.toFixed(2)} ms`;
    return median > slowFlushMs
      ? {level: 'warn', about, found, advice: 'writes will be slow; use a local disk, or --in-memory'}
      : {level: 'ok', about, found};
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
}

async function kubectl(): Promise<Finding> {
  const output = await new Promise<string | undefined>((resolve) => {
    execFile('kubectl', ['version', '--client', '-o', 'json'], {timeout: 10_000}, (error, stdout) => resolve(error ? undefined : stdout));
  });
  return kubectlSkew(output);
}

export function kubectlSkew(output: string | undefined): Finding {
  const about = 'kubectl';
  const version = /"gitVersion":\s*"(v\d+\.(\d+)[^"]*)"/.exec(output ?? '');
  if (!version) return {level: 'warn', about, found: 'not found', advice: 'any Kubernetes client works; kubectl is the usual one'};
  const skew = Number(/^v\d+\.(\d+)/.exec(kubernetesVersion)![1]) - Number(version[2]);
  if (Math.abs(skew) <= 1) return {level: 'ok', about, found: version[1]!};
  return {
    level: 'warn',
    about,
    found: version[1]!,
    advice: `${Math.abs(skew)} minor releases from ${kubernetesVersion}; one is what is supported, most things work`,
  };
}
