import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  decodeText,
  destinationOf,
  encodeText,
  type Frame,
  FrameError,
  headOf,
  maxTextBytes,
  maxTextPayload,
  windowBytes,
} from './frames.ts';
import {TunnelStream} from './stream.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const bytes = (length: number) => Buffer.alloc(length, 'abcdefghij');

/** Two ends, and between them what may lose no frame but double and reorder them. */
function pair(disturb: (frames: Frame[]) => Frame[] = (frames) => frames, maxPayload = 1_000) {
  const under: {to: () => TunnelStream; frame: Frame}[] = [];
  const log: Frame[] = [];
  const end = (other: () => TunnelStream): TunnelStream =>
    new TunnelStream({
      id: 's',
      maxPayload,
      send: (frame) => {
        log.push(frame);
        under.push({to: other, frame});
      },
    });
  const near: TunnelStream = end(() => far);
  const far: TunnelStream = end(() => near);
  const pump = async (): Promise<void> => {
    for (let quiet = 0; quiet < 5; ) {
      await turn();
      const batch = under.splice(0);
      if (batch.length === 0) quiet++;
      else quiet = 0;
      for (const side of [near, far]) {
        const frames = batch.filter(({to}) => to() === side).map(({frame}) => frame);
        for (const frame of disturb(frames)) side.deliver(frame);
      }
    }
  };
  return {near, far, pump, log};
}

function collected(stream: TunnelStream): {text: () => string; ended: () => boolean; error: () => Error | undefined} {
  const pieces: Buffer[] = [];
  let ended = false;
  let error: Error | undefined;
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  stream.on('end', () => {
    ended = true;
  });
  stream.on('error', (cause) => {
    error = cause;
  });
  return {text: () => Buffer.concat(pieces).toString(), ended: () => ended, error: () => error};
}

describe('a stream', () => {
  test('carries every byte once and in order, whatever becomes of the order of frames', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({min: 1, max: 9_000}), {maxLength: 40}),
        fc.infiniteStream(fc.double({min: 0, max: 0.999, noNaN: true})),
        async (sizes, dice) => {
          const random = (): number => dice.next().value!;
          const {near, far, pump} = pair((frames) =>
            [...frames, ...frames.filter(() => random() < 0.2)]
              .map((frame) => ({frame, at: random()}))
              .sort((a, b) => a.at - b.at)
              .map(({frame}) => frame),
          );
          const heard = collected(far);
          let sent = '';
          for (const size of sizes) {
            const piece = bytes(size).toString();
            sent += piece;
            near.write(piece);
          }
          near.end();
          far.end('and back');
          const answered = collected(near);
          await pump();
          expect(heard.text()).toBe(sent);
          expect(heard.ended()).toBe(true);
          expect(answered.text()).toBe('and back');
          expect(answered.ended()).toBe(true);
        },
      ),
      {numRuns: 50},
    );
  });

  test('sends no more than it has room for, and goes on when somebody reads', async () => {
    const {near, far, pump, log} = pair();
    near.write(bytes(3 * windowBytes));
    await pump();
    const sent = () => log.reduce((sum, frame) => sum + (frame.action === 'data' ? frame.bytes.length : 0), 0);
    expect(sent()).toBe(windowBytes);
    const heard = collected(far);
    await pump();
    expect(sent()).toBe(3 * windowBytes);
    expect(heard.text()).toHaveLength(3 * windowBytes);
    expect(log.filter(({action}) => action === 'credit').length).toBeLessThan(10);
  });

  test('that is given up tells the other side, once', async () => {
    const {near, far, pump, log} = pair();
    const heard = collected(far);
    near.on('error', () => {});
    near.destroy(new Error('the client is gone'));
    await pump();
    expect(heard.error()?.message).toBe('the client is gone');
    expect(log.filter(({action}) => action === 'reset')).toHaveLength(1);
  });

  test('that both sides have ended is over without another word', async () => {
    const {near, far, pump, log} = pair();
    collected(near);
    collected(far);
    near.end('a');
    far.end('b');
    await pump();
    expect([near.destroyed, far.destroyed]).toEqual([true, true]);
    expect(log.map(({action}) => action).sort()).toEqual(['data', 'data', 'end', 'end']);
  });

  test.each<[string, Frame[]]>([
    ['more than there is room for', [{action: 'data', stream: 's', at: windowBytes, bytes: bytes(1)}]],
    [
      'something behind its end',
      [
        {action: 'end', stream: 's', at: 3},
        {action: 'data', stream: 's', at: 2, bytes: bytes(2)},
      ],
    ],
    [
      'two ends',
      [
        {action: 'end', stream: 's', at: 3},
        {action: 'end', stream: 's', at: 4},
      ],
    ],
    [
      'an end before what was sent',
      [
        {action: 'data', stream: 's', at: 0, bytes: bytes(4)},
        {action: 'end', stream: 's', at: 3},
      ],
    ],
    ['open', [{action: 'open', stream: 's', to: 'agent'}]],
  ])('is over with who says %s', async (_what, frames) => {
    const {near, far, pump} = pair();
    collected(far);
    const heard = collected(near);
    for (const frame of frames) near.deliver(frame);
    await pump();
    expect(heard.error()?.message).toMatch(/broke the rules/);
  });
});

describe('frames as text', () => {
  const again = (text: string) => decodeText(headOf(text), text);

  test.each<Frame>([
    {action: 'open', stream: 'a-b_1', to: 'agent'},
    {action: 'open', stream: '1', to: {host: '10.1.2.3', port: 80}},
    {action: 'open', stream: '1', to: {host: 'fd00::1', port: 65_535}},
    {action: 'data', stream: '1', at: 0, bytes: Buffer.from([0, 255, 10])},
    {action: 'end', stream: '1', at: 3},
    {action: 'reset', stream: '1', reason: 'why'},
    {action: 'credit', stream: '1', upTo: 300_000},
  ])('come back as they were: $action', (frame) => {
    expect(again(encodeText(frame))).toEqual(frame);
  });

  test('fit a message, full as they may be', () => {
    const longest = encodeText({action: 'data', stream: 'x'.repeat(64), at: 2 ** 48 - 1, bytes: bytes(maxTextPayload)});
    expect(Buffer.byteLength(longest)).toBeLessThanOrEqual(maxTextBytes);
  });

  test.each([
    ['no JSON', 'hello'],
    ['a list', '[]'],
    ['no stream', '{"action":"end","at":1}'],
    ['a stream that is no name', '{"action":"end","at":1,"stream":"a|b"}'],
    ['an offset below nothing', '{"action":"end","at":-1,"stream":"a"}'],
    ['half a byte', '{"action":"end","at":1.5,"stream":"a"}'],
    ['no payload', '{"action":"data","at":1,"stream":"a"}'],
    ['a payload that is no base64', '{"action":"data","at":1,"stream":"a"}\n%%%'],
    ['credit without an offset', '{"action":"credit","stream":"a"}'],
  ])('are refused: %s', (_what, text) => {
    expect(() => again(text)).toThrow(FrameError);
  });

  test.each([
    'agent:80',
    'localhost:80',
    '10.0.0.1',
    '10.0.0.1:0',
    '10.0.0.1:65536',
    '10.0.0.256:80',
    '[10.0.0.1',
    '::1:80',
    'a@10.0.0.1:80',
    '',
    null,
  ])('%s is nowhere to go', (to) => {
    expect(() => destinationOf(to)).toThrow(FrameError);
  });
});
