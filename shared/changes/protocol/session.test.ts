import {describe, expect, test} from 'vitest';
import {ManualClock} from '../../clock.ts';
import {expiryOf} from './server.ts';
import {type Carrier, Session} from './session.ts';
import {pods, settled, type World, world} from './testing.ts';

const hello = '{"action":"hello"}';
const subscribe = (id: string, more: object = {}) =>
  JSON.stringify({action: 'subscribe', id, collection: {version: 'v1', resource: 'pods', ...more}, resourceVersion: '1'});

/** A connection whose client is a test that reads along. */
async function connection(it: World) {
  const heard: string[] = [];
  const closed: number[] = [];
  const carrier: Carrier & {overfull: boolean} = {
    send: (bytes) => heard.push(Buffer.from(bytes).toString()),
    room: () => undefined,
    overfull: false,
    close: (code) => closed.push(code),
  };
  const session = new Session({rooms: it.rooms, topics: it.topics, clock: it.clock, carrier});
  /** What comes because of something else. */
  const hear = async (work: () => unknown): Promise<string[]> => {
    heard.length = 0;
    await work();
    await settled();
    return heard.map((text) => text.trim());
  };
  const say = (...texts: string[]): Promise<string[]> =>
    hear(() => {
      for (const text of texts) session.receive(text);
    });
  return {session, carrier, closed, say, hear};
}

const brief = (texts: readonly string[]) =>
  texts.map((text) => {
    const {action, id, code, status} = JSON.parse(text.split('\n')[0]!);
    return [action, ...(id ? [id] : []), ...(code ? [code] : []), ...(status ? [status.code, status.message] : [])].join(' ');
  });

describe('a connection', () => {
  test('begins with hello, subscribes, hears events, asks for them again', async () => {
    const it = await world();
    await it.write('a/1', {});
    const {say, hear} = await connection(it);
    expect(await say(hello)).toEqual([
      '{"action":"welcome","renewSeconds":3600,"pingSeconds":60,"reconnectSeconds":6600,"maxSubscriptions":200}',
    ]);
    const [answer] = await say(subscribe('s1'));
    expect(JSON.parse(answer!)).toMatchObject({action: 'subscribed', id: 's1', resourceVersion: '1'});
    const [frame, ...rest] = await hear(() => it.write('a/2', {}));
    expect(rest).toEqual([]);
    expect(frame).toMatch(/^\{"action":"events","topic":.*,"from":"1","to":"2","revisions":\["2"\]\}\n\{"type":"ADDED","revision":2,/);
    expect(await say('{"action":"ping"}')).toEqual(['{"action":"pong","progress":{"s1":["2","2"]}}']);
    expect(await say('{"action":"replay","id":"s1","from":"1"}')).toEqual([frame]);
    await say('{"action":"unsubscribe","id":"s1"}');
    expect(await hear(() => it.write('a/3', {}))).toEqual([]);
  });

  test('that says something else first, or what is no message, is told so and ended', async () => {
    const it = await world();
    for (const [text, code] of [
      [subscribe('s1'), 4401],
      ['GET / HTTP/1.1', 4400],
      ['{"action":"x"}', 4400],
    ] as const) {
      const {say, closed} = await connection(it);
      expect(brief(await say(text))).toEqual([expect.stringMatching(/^error 40[01] /), `bye ${code}`]);
      expect(closed).toEqual([code]);
    }
  });

  test('that is silent is ended: without a hello soon, else after ten minutes', async () => {
    const it = await world();
    const one = await connection(it);
    it.clock.advance(10_001);
    await settled();
    expect(one.closed).toEqual([4408]);
    const other = await connection(it);
    await other.say(hello);
    it.clock.advance(300_000);
    await other.say('{"action":"ping"}');
    it.clock.advance(590_000);
    await settled();
    expect(other.closed).toEqual([]);
    it.clock.advance(20_000);
    await settled();
    expect(other.closed).toEqual([4408]);
  });

  test('whose credential expires is ended, and lives on with a new one of the same user', async () => {
    const it = await world();
    it.rooms.tokens.add('alice').add('bob');
    const {say, closed} = await connection(it);
    expect(brief(await say('{"action":"hello","token":"alice"}'))).toEqual(['welcome']);
    for (let minute = 0; minute < 50; minute += 5) {
      it.clock.advance(300_000);
      await say('{"action":"ping"}');
    }
    expect(brief(await say('{"action":"hello","token":"alice"}'))).toEqual(['welcome']);
    it.clock.advance(300_000);
    await say('{"action":"ping"}');
    it.clock.advance(540_000);
    await settled();
    expect(closed).toEqual([]);
    expect(brief(await say('{"action":"hello","token":"bob"}'))).toEqual(['bye 4401']);
    expect(closed).toEqual([4401]);
  });

  test('whose token is wrong, or is revoked within the minute, is ended with 401', async () => {
    const it = await world();
    const stranger = await connection(it);
    expect(brief(await stranger.say('{"action":"hello","token":"eve"}'))).toEqual(['error 401 Unauthorized', 'bye 4401']);
    it.rooms.tokens.add('alice');
    const {say, closed} = await connection(it);
    await say('{"action":"hello","token":"alice"}');
    it.rooms.tokens.delete('alice');
    it.clock.advance(60_001);
    await settled();
    expect(closed).toEqual([4401]);
  });

  test('loses a subscription to which it has no right any more, within the minute, and keeps the others', async () => {
    const it = await world();
    await it.write('a/1', {});
    const {say, hear} = await connection(it);
    it.rooms.refused.add('b');
    expect(brief(await say(hello, subscribe('s1', {namespace: 'a'}), subscribe('s2', {namespace: 'b'})))).toEqual([
      'welcome',
      'subscribed s1',
      'error s2 403 pods is forbidden',
    ]);
    await say(subscribe('s3'));
    it.rooms.refused.add('a');
    expect(brief(await hear(() => it.clock.advance(60_001)))).toEqual(['error s1 403 pods is forbidden']);
    expect(brief(await hear(() => it.write('a/1', {})))).toEqual(['events']);
  });

  test('may not have more subscriptions than fit a pong, nor send without end', async () => {
    const it = await world();
    const {say, closed} = await connection(it);
    await say(hello);
    for (let at = 0; at < 200; at++) await say(subscribe(`s${at}`));
    expect(brief(await say(subscribe('s200')))).toEqual(['error s200 429 a connection carries at most 200 subscriptions']);
    // One that exists is asked for anew.
    expect(brief(await say(subscribe('s199')))).toEqual(['subscribed s199']);
    const [pong] = await say('{"action":"ping"}');
    expect(pong!.length).toBeLessThan(32_000);
    await say(...new Array(400).fill('{"action":"ping"}'));
    expect(closed).toEqual([4429]);
  });

  test('is told what is wrong with a subscription, and lives on', async () => {
    const it = await world();
    const {say, closed} = await connection(it);
    await say(hello);
    const wrong = ['{"action":"replay","id":"s9","from":"1"}', subscribe('a b'), subscribe('s1', {resource: 'nodes'})];
    expect(brief(await say(...wrong))).toEqual([
      'error s9 404 subscription "s9" not found',
      'error 400 id "a b" must be of letters, digits, "_", "-" and "."',
      'error s1 400 there are pods here, and nothing else',
    ]);
    expect(closed).toEqual([]);
  });

  test('that wants to go on from what is forgotten hears 410', async () => {
    const it = await world();
    for (let at = 0; at < 5; at++) await it.write('a/1', {});
    await it.store.compact(4);
    const {say} = await connection(it);
    expect(brief(await say(hello, subscribe('s1')))).toEqual([
      'welcome',
      'subscribed s1',
      expect.stringMatching(/^error s1 410 too old resource version/),
    ]);
  });

  test('that does not take what it is sent is ended, and can go on elsewhere', async () => {
    const it = await world();
    await it.write('a/1', {});
    const {say, hear, carrier, closed} = await connection(it);
    await say(hello, subscribe('s1'));
    carrier.overfull = true;
    expect(brief(await hear(() => it.write('a/2', {})))).toEqual(['bye 4409']);
    expect(closed).toEqual([4409]);
    expect(it.topics.size).toBe(0);
  });

  test('hears that the server goes', async () => {
    const it = await world();
    const {session, say, hear} = await connection(it);
    await say(hello);
    expect(brief(await hear(() => session.drain()))).toEqual(['bye 1001']);
  });
});

test('two connections with one topic share one framing of an event, and nothing is left when they have gone', async () => {
  const it = await world();
  await it.write('a/1', {});
  const one = await connection(it);
  const two = await connection(it);
  const sent: Uint8Array[] = [];
  one.carrier.send = (bytes) => sent.push(bytes);
  two.carrier.send = (bytes) => sent.push(bytes);
  await one.say(hello, subscribe('x'));
  await two.say(hello, subscribe('y'));
  sent.length = 0;
  await it.write('a/2', {});
  await settled();
  expect(sent.length).toBe(2);
  expect(sent[0]).toBe(sent[1]);
  one.session.close();
  two.session.close();
  expect([it.topics.size, it.hubs.of('pods').size]).toEqual([0, 0]);
});

test('two subscriptions of a connection with one topic share its frames, and each gets its own past', async () => {
  const it = await world();
  for (let at = 0; at < 3; at++) await it.write('a/1', {});
  const {say, hear} = await connection(it);
  await say(hello);
  const ranges = (texts: readonly string[]) =>
    texts.map((text) => JSON.parse(text.split('\n')[0]!)).flatMap(({action, from, to}) => (action === 'events' ? [`${from}-${to}`] : []));
  const from = (id: string, resourceVersion: string) =>
    subscribe(id).replace('"resourceVersion":"1"', `"resourceVersion":"${resourceVersion}"`);
  expect(ranges(await say(from('x', '2')))).toEqual(['2-3']);
  expect(ranges(await say(from('y', '1')))).toEqual(['1-3']);
  expect(ranges(await hear(() => it.write('a/1', {})))).toEqual(['3-4']);
  await say('{"action":"unsubscribe","id":"x"}');
  expect(ranges(await hear(() => it.write('a/1', {})))).toEqual(['4-5']);
  await say('{"action":"unsubscribe","id":"y"}');
  expect([it.topics.size, it.hubs.of('pods').size]).toEqual([0, 0]);
});

test('a credential is good until its token says, and for an hour at most', () => {
  const clock = new ManualClock();
  const now = clock.now();
  const jwt = (exp: number) => `e30.${Buffer.from(JSON.stringify({exp})).toString('base64url')}.x`;
  expect(expiryOf(jwt(now / 1_000 + 600), now)).toBe(now + 600_000);
  expect(expiryOf(jwt(now / 1_000 + 86_400), now)).toBe(now + 3_600_000);
  expect(expiryOf('a.b.c', now)).toBe(now + 3_600_000);
  expect(expiryOf(undefined, now)).toBe(now + 3_600_000);
});

describe('a client', () => {
  test('changes to a new connection before the old one ends, and misses nothing', async () => {
    const it = await world();
    const first = await it.write('a/1', {});
    const client = it.client();
    const seen: number[] = [];
    client.subscribe(pods(), first, {events: (events) => seen.push(...events.map(({revision}) => revision)), failed: () => {}});
    await it.network.deliverAll();
    let most = 0;
    for (let third = 0; third < 400; third++) {
      await it.write('a/1', {});
      it.clock.advance(20_000);
      most = Math.max(most, it.network.hangUps.size);
      await it.network.deliverAll();
    }
    expect(seen).toEqual(Array.from({length: 400}, (_, at) => first + 1 + at));
    expect(most).toBe(2);
    client.close();
  });

  test('tells who waits for events when there is nobody to send them', async () => {
    const it = await world();
    it.network.down = true;
    const client = it.client();
    const failed: number[] = [];
    client.subscribe(pods(), 1, {events: () => {}, failed: ({code}) => failed.push(code)});
    for (let round = 0; round < 10; round++) {
      await it.network.deliverAll();
      it.clock.advance(31_000);
    }
    expect(failed).toEqual([503]);
  });

  test('whose token is refused says so', async () => {
    const it = await world();
    const client = it.client(undefined, async () => 'eve');
    const failed: number[] = [];
    client.subscribe(pods(), 1, {events: () => {}, failed: ({code}) => failed.push(code)});
    await it.network.deliverAll();
    expect(failed).toEqual([401]);
  });

  test('passes a 410 on, and hangs up when nothing is wanted any more', async () => {
    const it = await world();
    for (let at = 0; at < 5; at++) await it.write('a/1', {});
    await it.store.compact(4);
    const client = it.client();
    const failed: number[] = [];
    client.subscribe(pods(), 1, {events: () => {}, failed: ({code}) => failed.push(code)});
    await it.network.deliverAll();
    expect(failed).toEqual([410]);
    it.clock.advance(10_001);
    expect(it.network.hangUps.size).toBe(0);
  });

  test('learns of quiet times by its pings, and of a lost last frame', async () => {
    const it = await world();
    const first = await it.write('a/1', {});
    const client = it.client();
    const seen: number[] = [];
    const progress: number[] = [];
    client.subscribe(pods({namespace: 'a'}), first, {
      events: (events) => seen.push(...events.map(({revision}) => revision)),
      progress: (through) => progress.push(through),
      failed: () => {},
    });
    await it.network.deliverAll();
    const elsewhere = await it.write('b/1', {});
    it.clock.advance(60_000);
    await it.network.deliverAll();
    expect([seen, progress]).toEqual([[], [elsewhere]]);
    const lost = await it.write('a/1', {});
    await settled();
    it.network.flights.length = 0;
    it.clock.advance(60_000);
    await it.network.deliverAll();
    it.clock.advance(300);
    await it.network.deliverAll();
    expect(seen).toEqual([lost]);
    client.close();
  });
});
