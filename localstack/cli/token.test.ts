import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {merge} from './kubeconfig.ts';
import {stackKubeconfig} from './stack.ts';
import {execCredential, execVersion, regionOf, stsHost} from './token.ts';

describe('clusterless token, as kubectl runs it', () => {
  test.each([
    ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1'],
    ['client.authentication.k8s.io/v1beta1', 'client.authentication.k8s.io/v1beta1'],
  ])('answers in %s', (asked, answered) => {
    expect(execVersion(JSON.stringify({kind: 'ExecCredential', apiVersion: asked, spec: {interactive: false}}))).toBe(answered);
  });

  test('answers in the older version where nobody says which', () => {
    expect(execVersion(undefined)).toBe('client.authentication.k8s.io/v1beta1');
  });

  test.each(['{', 'null', '{}', '{"apiVersion":"client.authentication.k8s.io/v1alpha1"}'])('refuses %s', (info) => {
    expect(() => execVersion(info)).toThrow('KUBERNETES_EXEC_INFO');
  });

  test('the credential is good for a minute less than the token', () => {
    expect(execCredential('client.authentication.k8s.io/v1', 'k8s-aws-v1.x', new Date(Date.UTC(2026, 4, 1)))).toEqual({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: {},
      status: {expirationTimestamp: '2026-05-01T00:14:00Z', token: 'k8s-aws-v1.x'},
    });
  });

  test('a region comes from the flag, else from the environment, and is one', () => {
    expect(regionOf('eu-west-1', {AWS_REGION: 'us-east-1'})).toBe('eu-west-1');
    expect(regionOf(undefined, {AWS_DEFAULT_REGION: 'us-east-1'})).toBe('us-east-1');
    expect(() => regionOf(undefined, {})).toThrow('which region?');
    expect(() => regionOf('evil.example.com/', {})).toThrow('is no name of a region');
  });

  test('each partition has its own STS', () => {
    expect([stsHost('eu-west-1'), stsHost('cn-north-1')]).toEqual(['sts.eu-west-1.amazonaws.com', 'sts.cn-north-1.amazonaws.com.cn']);
  });
});

describe('the kubeconfig of a stack', () => {
  const stack = {
    name: 'clusterless-west',
    region: 'eu-west-1',
    outputs: {Cluster: 'west', Endpoint: 'https://x.execute-api.eu-west-1.amazonaws.com/k8s'},
  };

  test('has the endpoint, no secret, and asks for a token for this cluster', () => {
    const config = parse(stackKubeconfig(stack));
    expect(config.clusters[0].cluster).toEqual({server: stack.outputs.Endpoint});
    expect(config.users[0].user).toEqual({
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'clusterless',
        args: ['token', '--cluster', 'west', '--region', 'eu-west-1'],
        env: [],
        interactiveMode: 'Never',
        installHint: expect.any(String),
      },
    });
    expect(config['current-context']).toBe('clusterless-west');
  });

  test('keeps the AWS profile with which it was asked for', () => {
    expect(parse(stackKubeconfig(stack, 'prod')).users[0].user.exec.env).toEqual([{name: 'AWS_PROFILE', value: 'prod'}]);
  });

  test('can be merged into another', async () => {
    const merged = parse(await merge('', stackKubeconfig(stack), 'west', true, 'config'));
    expect(merged.contexts[0].name).toBe('west');
    expect(merged.users[0].user.exec.command).toBe('clusterless');
  });

  test('a stack of something else is refused', () => {
    expect(() => stackKubeconfig({...stack, outputs: {}})).toThrow('is no cluster');
  });
});
