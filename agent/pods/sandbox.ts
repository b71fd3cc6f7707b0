/** Making a pod's sandbox: its cgroup, its configuration, the sandbox itself, and the hosts file that its address stands in. */
import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {SandboxConfig} from '../runtime/runtime.ts';
import {sandboxConfig} from './configs.ts';
import type {PodContext} from './context.ts';
import {logDirectory} from './names.ts';
import {dnsConfigOf, hostsFile, hostsFileOfHost} from './network-files.ts';
import type {SandboxView} from './plan.ts';
import type {Pod} from './pod.ts';

/** Of warnings worth an event. */
type Warn = (reason: string, message: string) => void;

/** Again for a sandbox that is there gives what it was made with: containers are created against it. */
export async function configureSandbox(context: PodContext, pod: Pod, attempt: number, warn: Warn): Promise<SandboxConfig> {
  const {settings, cgroups} = context;
  const [dnsSettings, cgroupParent] = await Promise.all([settings.dns(), cgroups.prepare(pod)]);
  const {warnings, ...dns} = dnsConfigOf(pod, dnsSettings);
  for (const [reason, message] of warnings) warn(reason, message);
  return sandboxConfig(pod, {
    attempt,
    dns,
    cgroupParent,
    logRoot: settings.logRoot,
    clusterDomain: dnsSettings.clusterDomain,
    security: settings.security,
  });
}

export async function makeSandbox(
  context: PodContext,
  pod: Pod,
  attempt: number,
  warn: Warn,
): Promise<{config: SandboxConfig; view: SandboxView}> {
  const {runtime, settings, volumes} = context;
  const {spec, metadata} = pod;
  const handler = spec.runtimeClassName ? await context.runtimeHandler(spec.runtimeClassName) : '';
  const [config] = await Promise.all([
    configureSandbox(context, pod, attempt, warn),
    mkdir(logDirectory(settings.logRoot, metadata), {recursive: true, mode: 0o755}),
  ]);
  const id = await runtime.runSandbox(config, handler);
  const ips = spec.hostNetwork ? [] : ((await runtime.sandboxStatus(id))?.ips ?? []);
  const hosts = spec.hostNetwork
    ? hostsFileOfHost(pod, await readFile('/etc/hosts', 'utf8').catch(() => ''))
    : hostsFile(pod, ips, (await settings.dns()).clusterDomain);
  await writeFile(join(volumes.folderOf(metadata.uid), 'etc-hosts'), hosts, {mode: 0o644});
  return {config, view: {id, attempt, ready: true, ips}};
}
