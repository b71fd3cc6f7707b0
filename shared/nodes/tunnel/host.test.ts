import {describe, expect, test} from 'vitest';
import type {UserInfo} from '../../auth/user.ts';
import {ManualClock} from '../../clock.ts';
import {unauthorized} from '../../errors.ts';
import {decodeBinary, encodeBinary} from './binary.ts';
import {helloMs, type StreamFrame, type TunnelMessage} from './frames.ts';
import {TunnelHost} from './host.ts';
import {decodeText, encodeMessage} from './text.ts';

const minute = 60_000;
const settled = (): Promise<void> => new Promise(setImmediate);

/** A host, and what its agents hear. */
class Story {
  readonly clock = new ManualClock();
  readonly host = new TunnelHost(this.clock);
  readonly believed = new Map<string | undefined, string>([['good', 'node-a']]);
  allowed = true;
  /** How often an agent was asked about, and what is wrong with us. */
  asked = 0;
  fault: Error | undefined;

  connect() {
    const heard: (TunnelMessage | StreamFrame)[] = [];
    const closed: number[] = [];
    const session = this.host.accept(
      {
        send: (message) => void heard.push(typeof message === 'string' ? decodeText(message) : decodeBinary(message)),
        room: () => undefined,
        close: (code) => void closed.push(code),
      },
      {
        authenticate: async (token): Promise<UserInfo> => {
          this.asked++;
          if (this.fault) throw this.fault;
          const name = this.believed.get(token);
          if (name === undefined) throw unauthorized();
          return {name, groups: name.startsWith('system:node:') ? ['system:nodes'] : []};
        },
        mayHold: async () => this.allowed,
      },
    );
    const say = async (message: TunnelMessage): Promise<void> => {
      session.receive(encodeMessage(message));
      await settled();
    };
    return {session, heard, closed, say};
  }

  async open(node = 'a') {
    const agent = this.connect();
    await agent.say({action: 'hello', node, token: 'good'});
    agent.heard.length = 0;
    return agent;
  }
}

describe('a tunnel', () => {
  test('is its node’s from the welcome on', async () => {
    const story = new Story();
    const agent = story.connect();
    expect(story.host.dial('a', 'agent')).toBeUndefined();
    await agent.say({action: 'hello', node: 'a', token: 'good'});
    expect(agent.heard).toMatchObject([{action: 'welcome', form: 'binary', pingSeconds: 20}]);
    story.host.dial('a', {host: 'fd00::1', port: 80});
    expect(agent.heard.slice(1)).toEqual([{action: 'open', stream: '1', to: '[fd00::1]:80'}]);
    expect(story.host.dial('b', 'agent')).toBeUndefined();
  });

  test.each([
    ['of nobody', {action: 'hello', node: 'a', token: 'bad'}, true, 4401],
    ['of somebody who may not', {action: 'hello', node: 'a', token: 'good'}, false, 4401],
    ['that says something else first', {action: 'pong'}, true, 4400],
  ] as const)('%s is none', async (_title, message, allowed, code) => {
    const story = new Story();
    story.allowed = allowed;
    const agent = story.connect();
    await agent.say(message);
    expect(agent.heard).toMatchObject([{action: 'bye', code}]);
    expect([agent.closed, story.host.has('a')]).toEqual([[code], false]);
  });

  test('is not waited for', () => {
    const story = new Story();
    const agent = story.connect();
    story.clock.advance(helloMs);
    expect(agent.closed).toEqual([4408]);
  });

  test('lives as long as its agent is heard', async () => {
    const story = new Story();
    const agent = await story.open();
    const road = story.host.dial('a', 'agent')!;
    for (let ping = 0; ping < 10; ping++) {
      story.clock.advance(20_000);
      await agent.say({action: 'ping'});
    }
    expect(agent.heard.filter(({action}) => action === 'pong').length).toBe(10);
    const broke = new Promise<Error>((resolve) => road.once('error', resolve));
    story.clock.advance(minute);
    expect([agent.closed, story.host.has('a')]).toEqual([[4408], false]);
    expect((await broke).message).toBe('the tunnel of node "a" broke');
  });

  test.each([
    [
      'right',
      (story: Story) => {
        story.allowed = false;
      },
    ],
    ['credential', (story: Story) => void story.believed.delete('good')],
  ])('ends within a minute of its %s', async (_title, revoke) => {
    const story = new Story();
    const agent = await story.open();
    revoke(story);
    for (let half = 0; half < 2; half++) {
      story.clock.advance(minute / 2);
      await agent.say({action: 'ping'});
    }
    expect(agent.closed).toEqual([4401]);
  });

  test('says hello again with a newer token, as the same user, for the same node', async () => {
    const story = new Story();
    story.believed.set('newer', 'node-a').set('other', 'node-b');
    const agent = await story.open();
    await agent.say({action: 'hello', node: 'a', token: 'newer'});
    expect(agent.heard).toMatchObject([{action: 'welcome'}]);
    story.believed.delete('good');
    story.clock.advance(minute - 1);
    await agent.say({action: 'ping'});
    story.clock.advance(1);
    await settled();
    expect(agent.closed).toEqual([]);
    await agent.say({action: 'hello', node: 'a', token: 'other'});
    expect(agent.closed).toEqual([4400]);
    story.believed.set('good', 'node-a');
    const another = await story.open();
    await another.say({action: 'hello', node: 'b', token: 'good'});
    expect(another.closed).toEqual([4400]);
  });

  test('is no other node’s, whatever roles let nodes do to each other', async () => {
    const story = new Story();
    story.believed.set('a', 'system:node:a');
    const [own, other] = [story.connect(), story.connect()];
    await own.say({action: 'hello', node: 'a', token: 'a'});
    await other.say({action: 'hello', node: 'b', token: 'a'});
    expect([own.closed, other.closed]).toEqual([[], [4401]]);
    expect([story.host.has('a'), story.host.has('b')]).toEqual([true, false]);
  });

  test('is asked about once a minute, also after a fault of ours', async () => {
    const story = new Story();
    const agent = await story.open();
    story.clock.advance(minute / 2);
    story.fault = new Error('the store is away');
    await agent.say({action: 'hello', node: 'a', token: 'good'});
    story.fault = undefined;
    await agent.say({action: 'ping'});
    const {asked} = story;
    story.clock.advance(minute / 2);
    await settled();
    expect([story.asked, agent.closed]).toEqual([asked, []]);
    await agent.say({action: 'ping'});
    story.clock.advance(minute / 2);
    await settled();
    expect([story.asked, agent.closed]).toEqual([asked + 1, []]);
  });

  test('gives way to a newer one when its last stream is over', async () => {
    const story = new Story();
    const former = await story.open();
    const road = story.host.dial('a', 'agent')!;
    const newer = await story.open();
    expect(former.closed).toEqual([]);
    story.host.dial('a', 'agent');
    expect(newer.heard).toMatchObject([{action: 'open'}]);
    road.destroy();
    await settled();
    expect(former.closed).toEqual([1000]);
    expect(story.host.has('a')).toBe(true);
  });

  test('ends with the server, and with what is no frame', async () => {
    const story = new Story();
    const [one, two, three] = [await story.open('a'), await story.open('b'), story.connect()];
    one.session.receive(new Uint8Array(3));
    expect(one.closed).toEqual([4400]);
    three.session.receive(encodeBinary({action: 'end', stream: '1', at: 0}));
    expect(three.closed).toEqual([4400]);
    story.host.drain();
    expect(two.closed).toEqual([1001]);
  });
});
