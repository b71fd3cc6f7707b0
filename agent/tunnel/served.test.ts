import net, {type AddressInfo} from 'node:net';
import {networkInterfaces} from 'node:os';
import {expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {decodeBinary} from '../../shared/nodes/tunnel/binary.ts';
import {Multiplexer} from '../../shared/nodes/tunnel/multiplexer.ts';
import {serveDestination} from './served.ts';

/** Both ends of a tunnel, in one process. */
function tunnel(addresses: readonly string[]) {
  const clock = new ManualClock();
  const toAgent: unknown[] = [];
  const ends: {there?: Multiplexer; here?: Multiplexer} = {};
  const carrier = (to: 'here' | 'there') => ({
    send: (message: string | Uint8Array) => void setImmediate(() => ends[to]!.receive(decodeBinary(message as Uint8Array))),
    room: () => undefined,
  });
  ends.here = new Multiplexer({form: 'binary', clock, carrier: carrier('there')});
  ends.there = new Multiplexer({
    form: 'binary',
    clock,
    carrier: carrier('here'),
    accept: (stream, to) => serveDestination(stream, to, {toAgent: (road) => void toAgent.push(road), addresses: () => addresses}),
  });
  return {open: (to: string) => ends.here!.open(to), toAgent};
}

async function textOf(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const piece of stream) text += piece;
  return text;
}

test.each([
  ['10.1.0.8:80', '10.1.0.8 is no address of this node or its pods'],
  ['169.254.169.254:80', '169.254.169.254 is no address of this node or its pods'],
  ['[fd00::2]:80', 'fd00::2 is no address of this node or its pods'],
  ['127.0.0.1:10250', '127.0.0.1 is no address of this node or its pods'],
  ['[::1]:10250', '::1 is no address of this node or its pods'],
  ['[::ffff:127.0.0.1]:22', '::ffff:127.0.0.1 is no address of this node or its pods'],
  ['metadata.internal:80', 'no destination of a tunnel: metadata.internal:80'],
  ['10.1.0.7', 'no destination of a tunnel: 10.1.0.7'],
  ['10.1.0.7:0', 'no destination of a tunnel: 10.1.0.7:0'],
  ['10.1.0.7:99999', 'no destination of a tunnel: 10.1.0.7:99999'],
  ['agent/../x', 'no destination of a tunnel: agent/../x'],
])('%s is not reached', async (to, why) => {
  // Even where a status says that these are a pod's.
  const {open} = tunnel(['10.1.0.7', '127.0.0.1', '::1', '::ffff:127.0.0.1']);
  await expect(textOf(open(to))).rejects.toThrow(why);
});

test('the agent itself is asked by its own name', async () => {
  const {open, toAgent} = tunnel([]);
  open('agent');
  while (toAgent.length === 0) await new Promise(setImmediate);
  expect(toAgent).toHaveLength(1);
});

const outer = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({family, internal}) => family === 'IPv4' && !internal)?.address;

test.skipIf(!outer)('a pod is, both ways, and says so when it is not there', async () => {
  const there = net.createServer((socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => there.listen(0, outer, resolve));
  const at = (there.address() as AddressInfo).port;
  const {open} = tunnel([outer!]);
  const stream = open(`${outer}:${at}`);
  stream.end('hello');
  expect(await textOf(stream)).toBe('hello');
  await new Promise((resolve) => there.close(resolve));
  await expect(textOf(open(`${outer}:${at}`))).rejects.toThrow(`dial tcp ${outer}:${at}: connect: connection refused`);
});
