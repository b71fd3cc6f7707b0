import {describe, expect, test} from 'vitest';
import type {KubeObject} from '../../shared/object.ts';
import {environmentOf, serviceVariables} from './environment.ts';
import {expand} from './expand.ts';
import type {Container, EnvVar} from './pod.ts';
import {containerOf, podOf} from './testing.ts';

const map = (name: string, data: Record<string, string>): KubeObject => ({kind: 'ConfigMap', apiVersion: 'v1', metadata: {name}, data});
const skipped: string[] = [];
const environment = async (more: Partial<Container>, pod = podOf()): Promise<Record<string, string>> =>
  Object.fromEntries(
    await environmentOf(pod, containerOf('c', more), {
      references: {
        configMap: async (_, name) => (name === 'cm' ? map('cm', {a: '1', 'b=c': '2'}) : undefined),
        secret: async (_, name) => (name === 's' ? map('s', {k: Buffer.from('secret').toString('base64')}) : undefined),
      },
      services: new Map([['SVC_HOST', '10.0.0.1']]),
      hostIps: ['192.0.2.1'],
      podIps: ['10.9.0.1', 'fd00::1'],
      allocatable: {cpu: '2', memory: '4Gi'},
      onSkipped: (from, keys) => void skipped.push(`${from} ${keys}`),
    }),
  );
const field = (name: string, fieldPath: string): EnvVar => ({name, valueFrom: {fieldRef: {fieldPath}}});
const amount = (name: string, resource: string, divisor?: string): EnvVar => ({
  name,
  valueFrom: {resourceFieldRef: {resource, ...(divisor && {divisor})}},
});

describe('the environment', () => {
  test('later wins, services first, names that cannot be are left out and said', async () => {
    const result = await environment({envFrom: [{prefix: 'P_', configMapRef: {name: 'cm'}}], env: [{name: 'P_a', value: 'mine'}]});
    expect(result).toEqual({SVC_HOST: '10.0.0.1', P_a: 'mine'});
    expect(skipped).toEqual(['ConfigMap ns/cm P_b=c']);
  });

  test('fields and resources, rounded up, the node standing for limits that are not set', async () => {
    const pod = podOf({}, {labels: {x: 'y'}});
    const resources = {limits: {cpu: '1500m'}, requests: {memory: '1Mi'}};
    const env = [
      field('LABEL', "metadata.labels['x']"),
      field('IPS', 'status.podIPs'),
      amount('CPU', 'limits.cpu'),
      amount('MILLI', 'limits.cpu', '1m'),
      amount('MEMORY', 'limits.memory', '1Gi'),
    ];
    expect(await environment({env, resources}, pod)).toMatchObject({
      LABEL: 'y',
      IPS: '10.9.0.1,fd00::1',
      CPU: '2',
      MILLI: '1500',
      MEMORY: '4',
    });
  });

  test('what is missing stops the container, unless it may be', async () => {
    const ref = (name: string, key: string, optional?: boolean): Partial<Container> => ({
      env: [{name: 'A', valueFrom: {secretKeyRef: {name, key, ...(optional && {optional})}}}],
    });
    await expect(environment(ref('nowhere', 'k'))).rejects.toThrow('secret "nowhere" not found');
    await expect(environment(ref('s', 'nope'))).rejects.toThrow("couldn't find key nope in Secret ns/s");
    expect(await environment(ref('nowhere', 'k', true))).toEqual({SVC_HOST: '10.0.0.1'});
    expect(await environment(ref('s', 'k'))).toMatchObject({A: 'secret'});
  });

  test.each([
    ['$(A)-$(B)-$$(A)', '1-$(B)-$(A)'],
    ['$$$(A)', '$1'],
    ['$A $(', '$A $('],
  ])('%s becomes %s', (text, expected) => {
    expect(expand(text, new Map([['A', '1']]))).toBe(expected);
  });

  test('a service has its variables, one without an address has none', () => {
    const service = (clusterIP: string): KubeObject => ({
      kind: 'Service',
      apiVersion: 'v1',
      metadata: {name: 'my-svc'},
      spec: {clusterIP, ports: [{name: 'http', port: 80}]},
    });
    expect(serviceVariables([service('None')]).size).toBe(0);
    expect(Object.fromEntries(serviceVariables([service('fd00::1')]))).toMatchObject({
      MY_SVC_SERVICE_HOST: 'fd00::1',
      MY_SVC_SERVICE_PORT_HTTP: '80',
      MY_SVC_PORT: 'tcp://[fd00::1]:80',
    });
  });
});
