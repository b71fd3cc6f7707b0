/** Functions over the engine and a double of its tables, for tests of who is rung: requests, and the stream that tells of them. */
import {expect, vi} from 'vitest';
import {systemClock} from '../shared/clock.ts';
import type {DynamoDouble} from '../shared/storage/dynamo/double/double.ts';
import type {BatchResult} from './kit/records.ts';
import type {RestHandler} from './kit/rest.ts';

const verbs = ['create', 'get', 'list', 'delete', 'patch'] as const;

export interface RungFunctions {
  double: DynamoDouble;
  /** What the stream holds: whoever takes some of it hands it on. */
  records: object[];
  ask(verb: (typeof verbs)[number], method: string, url: string, body?: object, type?: string): Promise<{code: number; body: Answer}>;
  controllers(event: unknown): Promise<BatchResult>;
  maintenance(event: unknown): Promise<unknown>;
  /** The stream, batch by batch, until nothing more comes of it. */
  ringAll(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the API answers
type Answer = any;

/** Loaded anew: each opens what the doors are now. */
export async function rungFunctions(): Promise<RungFunctions> {
  vi.resetModules();
  const kit = await import('./kit/testing.ts');
  const {double, records} = await kit.installTables({clock: systemClock});
  const load = async <T>(name: string): Promise<T> =>
    ((await import(/* @vite-ignore */ new URL(`./${name}.ts`, import.meta.url).href)) as {handler: T}).handler;
  const rest = new Map<string, RestHandler>();
  for (const verb of verbs) rest.set(verb, await load(verb));
  const controllers = await load<RungFunctions['controllers']>('controllers');
  return {
    double,
    records,
    controllers,
    maintenance: await load('maintenance'),
    async ask(verb, method, url, body, type = 'application/json') {
      const event = kit.restEvent(method, url, {headers: {'Content-Type': type}, ...(body && {body})});
      const {statusCode, body: text} = await rest.get(verb)!(event);
      return {code: statusCode, body: JSON.parse(text)};
    },
    async ringAll() {
      for (let batch = 0; records.length > 0; batch++) {
        expect(batch).toBeLessThan(20);
        expect(await controllers({Records: records.splice(0, 100)})).toEqual({batchItemFailures: []});
      }
    },
  };
}
