import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {Delivered, manifestOf, type ReadableLog, readableLog} from './testing.ts';
import {UrlSource} from './url.ts';

describe('pods from an URL', () => {
  let server: Server;
  let clock: ManualClock;
  let log: ReadableLog;
  let found: Delivered;
  let source: UrlSource;
  let asked: IncomingMessage[];
  let answer: (response: ServerResponse) => void;
  let waiting: (() => void)[];

  beforeEach(async () => {
    clock = new ManualClock();
    log = readableLog();
    found = new Delivered();
    asked = [];
    waiting = [];
    server = createServer((request, response) => {
      asked.push(request);
      response.on('close', () => {
        for (const go of waiting.splice(0)) go();
      });
      answer(response);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    source = new UrlSource({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`,
      headers: ['a: 1', 'X-Key:x', 'a:2'],
      ...{node: 'n', everyMs: 5_000, clock, log, deliver: found.deliver},
    });
  });
  afterEach(() => {
    source.stop();
    server.closeAllConnections();
    server.close();
  });

  /** The next look, and everything that follows from it. */
  const look = async (): Promise<string[][]> => {
    const before = asked.length;
    const answered = new Promise<void>((go) => waiting.push(go));
    if (before === 0) source.start();
    while (asked.length === before) {
      clock.advance(1_000);
      await new Promise(setImmediate);
    }
    await answered;
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    return found.all;
  };
  const say = (text: string, status = 200) => {
    answer = (response) => response.writeHead(status).end(text);
  };

  test('are asked for with the headers that were given, and told when they change', async () => {
    say(manifestOf('a'));
    source.start();
    await found.until((last) => last.length === 1);
    expect(asked[0]!.headers).toMatchObject({a: '1, 2', 'x-key': 'x'});
    await look();
    expect(found.all).toEqual([['a-n']]);
    say(manifestOf('b'));
    await look();
    await found.until((last) => last[0] === 'b-n');
    expect(found.all).toEqual([['a-n'], ['b-n']]);
  });

  test('stay while the server fails, answers nonsense, or too much; it is said three times', async () => {
    say(manifestOf('a'));
    source.start();
    await found.until((last) => last.length === 1);
    say('no', 500);
    await look();
    say('kind: [');
    await look();
    say('x'.repeat(10 * 1024 * 1024 + 1));
    await look();
    say('no', 404);
    await look();
    expect(found.all).toEqual([['a-n']]);
    expect(log.lines).toEqual([
      expect.stringMatching(/^W cannot read pods from .*: HTTP 500$/),
      expect.stringMatching(/: yaml: /),
      expect.stringMatching(/: longer than 10485760 bytes$/),
    ]);
  });

  test('are none when the answer is empty, and when the first one fails', async () => {
    say('no', 503);
    source.start();
    await found.until((last) => last.length === 0);
    say(manifestOf('a'));
    await look();
    await found.until((last) => last.length === 1);
    say('\n');
    await look();
    await found.until((last) => last.length === 0);
  });
});
