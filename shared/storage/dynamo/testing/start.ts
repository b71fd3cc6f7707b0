/** Starts DynamoDB Local on a port of its own, in memory, with empty tables; its jar is what `npm run test:setup` fetched. */

import {type ChildProcess, spawn} from 'node:child_process';
import {createServer} from 'node:net';
import {dirname, join} from 'node:path';
import {awsCalls, type DynamoCalls, type TableCalls} from '../calls.ts';
import {createTables, type Tables} from '../tables.ts';

export const startMs = 60_000;
const ours = join(import.meta.dirname ?? '.', '../../../../.cache/dynamo/DynamoDBLocal.jar');

export interface Started {
  endpoint: string;
  client: DynamoCalls & TableCalls & {destroy(): void};
  stop(): void;
}

/** `jar`: where it is; otherwise as the environment says, or where it was put. */
export async function startLocalDynamo(tables: Tables, jar = process.env['TEST_DYNAMO'] ?? ours): Promise<Started> {
  const port = await freePort();
  const flags = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.library.path=./DynamoDBLocal_lib'];
  const args = ['-jar', jar, '-inMemory', '-sharedDb', '-disableTelemetry', '-port', String(port)];
  const child: ChildProcess = spawn('java', [...flags, ...args], {cwd: dirname(jar), stdio: 'ignore'});
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = {accessKeyId: 'test', secretAccessKey: 'test'};
  const client = awsCalls({endpoint, region: 'local', credentials, requestTimeoutMs: 20_000});
  const stop = (): void => {
    client.destroy();
    process.off('exit', kill);
    kill();
  };
  // Its TTL goes by the real time, in which everything that a test's clock dates has long expired.
  const timeless: TableCalls = {createTable: client.createTable, updateTimeToLive: async () => ({$metadata: {}})};
  const deadline = performance.now() + startMs;
  for (;;) {
    try {
      await createTables(timeless, tables);
      return {endpoint, client, stop};
    } catch (error) {
      if (child.exitCode !== null || performance.now() > deadline) {
        stop();
        throw error;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

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
