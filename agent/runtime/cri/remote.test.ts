import {join} from 'node:path';
import {Server, ServerCredentials} from '@grpc/grpc-js';
import {afterEach, describe, expect, test} from 'vitest';
import {scratch} from '../../testing.ts';
import {decode, encode, type Message} from './codec.ts';
import {messages} from './messages.ts';
import {RemoteRuntime} from './remote.ts';

type Answers = Partial<Record<'PodSandboxStatus' | 'ContainerStatus' | 'RunPodSandbox' | 'Status', object>>;

const shapes: Readonly<Record<keyof Answers, [request: Message, response: Message]>> = {
  PodSandboxStatus: [messages.SandboxId, messages.SandboxStatusResponse],
  ContainerStatus: [messages.ContainerId, messages.ContainerStatusResponse],
  RunPodSandbox: [messages.RunSandboxRequest, messages.SandboxId],
  Status: [messages.StatusRequest, messages.StatusResponse],
};

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A runtime that gives these answers whatever it is asked. */
async function runtimeThatSays(answers: Answers): Promise<RemoteRuntime> {
  const server = new Server();
  for (const [name, answer] of Object.entries(answers)) {
    const [request, response] = shapes[name as keyof Answers];
    const definition = {
      path: `/runtime.v1.RuntimeService/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (value: object) => Buffer.from(encode(request, value)),
      requestDeserialize: (bytes: Buffer) => decode(request, bytes),
      responseSerialize: (value: object) => Buffer.from(encode(response, value)),
      responseDeserialize: (bytes: Buffer) => decode(response, bytes),
    };
    server.addService(
      {[name]: definition},
      {[name]: (_: unknown, callback: (error: null, value: object) => void) => callback(null, answer)},
    );
  }
  const socket = `unix://${join(await scratch('nodeagent-cri-'), 'cri.sock')}`;
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(socket, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve())),
  );
  const runtime = new RemoteRuntime({endpoint: socket, requestTimeoutMs: 5000});
  closers.push(
    () => runtime.close(),
    () => server.forceShutdown(),
  );
  return runtime;
}

describe('answers of a runtime', () => {
  test('about another container or sandbox are refused', async () => {
    const runtime = await runtimeThatSays({ContainerStatus: {status: {id: 'b', state: 1}}, PodSandboxStatus: {status: {id: 'b'}}});
    await expect(runtime.containerStatus('a')).rejects.toThrow('was asked about a and answered about "b"');
    await expect(runtime.sandboxStatus('a')).rejects.toThrow('was asked about a and answered about "b"');
  });

  test('without an id are refused, without a status they are about nothing', async () => {
    const runtime = await runtimeThatSays({RunPodSandbox: {}, ContainerStatus: {}, PodSandboxStatus: {}});
    await expect(runtime.runSandbox({} as never)).rejects.toThrow('without podSandboxId');
    expect(await runtime.containerStatus('a')).toBeUndefined();
    expect(await runtime.sandboxStatus('a')).toBeUndefined();
  });

  test('name addresses only where they are addresses', async () => {
    const network = {ip: '10.0.0.1\n6.6.6.6 evil', additionalIps: [{ip: '10.0.0.2'}, {ip: 'x'}, {ip: '2001:db8::1'}]};
    const runtime = await runtimeThatSays({PodSandboxStatus: {status: {id: 'a', network}}});
    expect((await runtime.sandboxStatus('a'))?.ips).toEqual(['10.0.0.2', '2001:db8::1']);
  });

  test('tell what sandboxes are made of, or do not', async () => {
    const info = (config: string) => runtimeThatSays({Status: {info: {config}}});
    expect(await (await info('{"sandboxImage": "pause:1"}')).sandboxImage()).toBe('pause:1');
    for (const config of ['', '[', '{"sandboxImage": 5}', '{}']) expect(await (await info(config)).sandboxImage()).toBe('');
  });
});
