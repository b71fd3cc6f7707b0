/** DynamoDB Local for the tests of a file: started once, on a port of its own, in memory; its jar is what `npm run test:setup` fetched. */

import {type ChildProcess, spawn} from 'node:child_process';
import {createServer} from 'node:net';
import {dirname, join} from 'node:path';
import {afterAll, beforeAll} from 'vitest';
import type {Clock} from '../../../clock.ts';
import {awsCalls, type DynamoCalls, type TableCalls} from '../calls.ts';
import {createTables, type Tables, tablesOf} from '../tables.ts';

const jar = process.env['TEST_DYNAMO'] ?? join(import.meta.dirname, '../../../../.cache/dynamo/DynamoDBLocal.jar');
const startMs = 60_000;

export interface LocalDynamo {
  readonly endpoint: string;
  readonly client: DynamoCalls & TableCalls & {destroy(): void};
  readonly tables: Tables;
  /** A cluster's name that nobody else in this file has: a fresh store in the same tables. */
  cluster(): string;
}

export function localDynamo(): LocalDynamo {
  let child: ChildProcess | undefined;
  let made: {endpoint: string; client: LocalDynamo['client']} | undefined;
  let clusters = 0;
  const tables = tablesOf('test-');
  const kill = (): void => void child?.kill('SIGKILL');
  beforeAll(async () => {
    const port = await freePort();
    const flags = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.library.path=./DynamoDBLocal_lib'];
    const args = ['-jar', jar, '-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)];
    child = spawn('java', [...flags, ...args], {cwd: dirname(jar), stdio: 'ignore'});
    process.once('exit', kill);
    const endpoint = `http://127.0.0.1:${port}`;
    const client = awsCalls({
      endpoint,
      region: 'local',
      credentials: {accessKeyId: 'test', secretAccessKey: 'test'},
      requestTimeoutMs: 20_000,
    });
    made = {endpoint, client};
    // Its TTL goes by the real time, in which everything that a test's clock dates has long expired.
    const timeless: TableCalls = {createTable: client.createTable, updateTimeToLive: async () => ({$metadata: {}})};
    const deadline = performance.now() + startMs;
    for (;;) {
      try {
        await createTables(timeless, tables);
        return;
      } catch (error) {
        if (child.exitCode !== null || performance.now() > deadline) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }, startMs);
  afterAll(() => {
    made?.client.destroy();
    process.off('exit', kill);
    kill();
  });
  return {
    get endpoint() {
      return made!.endpoint;
    },
    get client() {
      return made!.client;
    },
    tables,
    cluster: () => `c${++clusters}`,
  };
}

/** The time of a clock that tests move, while waiting goes on in real time, which a real database takes. */
export const timeOf = (clock: Clock): Clock => ({
  now: () => clock.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, 20));
    return () => clearTimeout(timer);
  },
});

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const {port} = server.address() as {port: number};
      server.close(() => resolve(port));
    });
  });
}
