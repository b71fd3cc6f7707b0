import {mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {linuxResources, oomScoreAdj, qosClass} from '../pods/resources.ts';
import {containerOf, podOf} from '../pods/testing.ts';
import {scratch} from '../testing.ts';
import {openCgroups} from './cgroups.ts';

const burstable = podOf({
  containers: [containerOf('c', {resources: {requests: {cpu: '250m', memory: '128Mi'}, limits: {cpu: '500m', memory: '256Mi'}}})],
});
const guaranteed = podOf({containers: [containerOf('c', {resources: {limits: {cpu: '1100m', memory: '64Mi'}}})]});
const settings = {cfsQuota: true, cfsPeriodMicros: 100_000, memoryBytes: 4 * 2 ** 30};

async function open(unified: boolean, more = {}) {
  const mount = await scratch('nodeagent-cgroup-');
  if (unified) await writeFile(join(mount, 'cgroup.controllers'), 'cpu memory pids');
  else for (const name of ['cpu', 'memory', 'pids', 'freezer']) await mkdir(join(mount, name));
  const cgroups = await openCgroups(
    {mount, root: '/node', driver: 'cgroupfs', perQos: true, cfsQuota: true, cfsPeriodMicros: 100_000, podPids: 12, ...more},
    () => {},
  );
  return {cgroups, read: (path: string) => readFile(join(mount, path), 'utf8'), mount};
}

describe('cgroups of pods', () => {
  test('on version 1 lie under their class, with what the pod asks for and may have', async () => {
    const {cgroups, read} = await open(false);
    const {uid} = burstable.metadata;
    expect(await cgroups.prepare(burstable)).toBe(`/node/kubepods/burstable/pod${uid}`);
    expect(await read(`cpu/node/kubepods/burstable/pod${uid}/cpu.shares`)).toBe('256');
    expect(await read(`cpu/node/kubepods/burstable/pod${uid}/cpu.cfs_quota_us`)).toBe('50000');
    expect(await read(`memory/node/kubepods/burstable/pod${uid}/memory.limit_in_bytes`)).toBe(String(256 * 2 ** 20));
    expect(await read(`pids/node/kubepods/burstable/pod${uid}/pids.max`)).toBe('12');
    expect(await cgroups.present()).toEqual([uid]);
    await cgroups.balance([burstable]);
    expect(await read('cpu/node/kubepods/burstable/cpu.shares')).toBe('256');
  });

  test('on version 2 are one tree; Guaranteed stands at its top', async () => {
    const {cgroups, read} = await open(true);
    expect(await cgroups.prepare(guaranteed)).toBe(`/node/kubepods/pod${guaranteed.metadata.uid}`);
    expect(await read(`node/kubepods/pod${guaranteed.metadata.uid}/cpu.max`)).toBe('110000 100000');
    expect(await read(`node/kubepods/pod${guaranteed.metadata.uid}/memory.max`)).toBe(String(64 * 2 ** 20));
  });

  test('are slices where systemd keeps them', async () => {
    const {cgroups} = await open(true, {driver: 'systemd'});
    expect(await cgroups.prepare(burstable)).toBe(`kubepods-burstable-pod${burstable.metadata.uid.replaceAll('-', '_')}.slice`);
  });

  test('grow before their containers do, and shrink after them', async () => {
    const {cgroups, read} = await open(false);
    const sized = (cpu: string, memory: string) => podOf({containers: [containerOf('c', {resources: {limits: {cpu, memory}}})]});
    const [before, after] = [sized('1', '64Mi'), sized('500m', '128Mi')];
    const folder = await cgroups.prepare(before);
    const limits = async () => [await read(`memory${folder}/memory.limit_in_bytes`), await read(`cpu${folder}/cpu.cfs_quota_us`)];
    let between: string[] = [];
    await cgroups.resize(before, after, async () => {
      between = await limits();
    });
    expect(between).toEqual([String(128 * 2 ** 20), '100000']);
    expect(await limits()).toEqual([String(128 * 2 ** 20), '50000']);
  });

  test('go with their pod, in every tree', async () => {
    const {cgroups, mount} = await open(false);
    await cgroups.prepare(burstable);
    const folder = (tree: string) => join(mount, tree, 'node/kubepods/burstable', `pod${burstable.metadata.uid}`);
    // The kernel's own files vanish with their cgroup; a plain folder's do not.
    for (const tree of ['cpu', 'memory', 'pids']) for (const file of await readdir(folder(tree))) await rm(join(folder(tree), file));
    await mkdir(join(folder('freezer'), 'container'), {recursive: true});
    await cgroups.remove(burstable.metadata.uid, undefined);
    expect(await cgroups.present()).toEqual([]);
    expect(await readdir(join(mount, 'freezer/node/kubepods/burstable'))).toEqual([]);
  });
});

describe('what a container may have', () => {
  test('shares, quota, memory and score; 1.1 CPUs are 1100 thousandths', () => {
    expect(linuxResources(burstable, burstable.spec.containers[0]!, settings)).toEqual({
      cpuShares: 256,
      cpuPeriod: 100_000,
      cpuQuota: 50_000,
      memoryLimitInBytes: 256 * 2 ** 20,
      oomScoreAdj: 969,
    });
    expect(linuxResources(guaranteed, guaranteed.spec.containers[0]!, settings)).toMatchObject({
      cpuShares: 1126,
      cpuQuota: 110_000,
      oomScoreAdj: -997,
    });
    expect(linuxResources(podOf(), containerOf('c'), settings)).toEqual({cpuShares: 2, oomScoreAdj: 1000});
  });

  test('the class is told by all containers, and kept once it is known', () => {
    expect([podOf(), burstable, guaranteed].map(qosClass)).toEqual(['BestEffort', 'Burstable', 'Guaranteed']);
    expect(qosClass({...podOf(), status: {phase: 'Running', qosClass: 'Guaranteed'}})).toBe('Guaranteed');
    expect(oomScoreAdj(podOf({priorityClassName: 'system-node-critical'}), containerOf('c'), 1)).toBe(-997);
  });
});
