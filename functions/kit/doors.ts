/** What a function reaches out to. The environments of Lambda use these as they are; a test puts its own in their place. */

import type {Clock} from '../../shared/clock.ts';
import type {Store} from '../../shared/storage/contract.ts';
import type {DynamoCalls} from '../../shared/storage/dynamo/calls.ts';
import type {Parameter} from '../functions.ts';
import type {Environment} from './environment.ts';
import type {Sockets} from './sockets.ts';

export interface Doors {
  /** One client for all tables. */
  calls(): Promise<DynamoCalls>;
  /** Where messages to connections are posted: `https://host/stage`. Opened by ./socket.ts where it is left out: others shall not carry it. */
  openSockets?(endpoint: string): Promise<Sockets>;
  /** `asks`: whether it looks by itself for what others wrote; who is rung knows when. */
  openStore(environment: Environment, options: {asks: boolean}): Promise<Store>;
  /** Those that are there, decrypted. */
  readParameters(path: string, names: readonly Parameter[]): Promise<Partial<Record<Parameter, string>>>;
  /** Never over one that is there, unless it is told to. Answers whether it wrote. */
  writeParameter(path: string, name: Parameter, value: string, options: {replace: boolean}): Promise<boolean>;
  variables: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** A line of the log. Not through the console, which the runtime gives a frame of its own: metrics count only where a line is theirs alone. */
  writeLine(line: object): void;
}

let calls: Promise<DynamoCalls> | undefined;

const dayMs = 86_400_000;
/** Longer than any invocation. */
const never = {busyMs: dayMs, restMs: dayMs};

/** Its timers hold the process, as the system clock's do not: where nothing else does, the runtime would end in the middle of a wait. */
const holdingClock: Clock = {
  now: Date.now,
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, 0x7fffffff));
    return () => clearTimeout(timer);
  },
};

export const doors: Doors = {
  calls: () => {
    calls ??= import('../../shared/storage/dynamo/calls.ts').then(({awsCalls}) => awsCalls());
    return calls;
  },
  async openStore({cluster, objectsTable, logTable, historyMs}, {asks}) {
    const [client, {openDynamo}] = await Promise.all([doors.calls(), import('../../shared/storage/dynamo/open.ts')]);
    return openDynamo({
      client,
      tables: {objects: objectsTable, log: logTable},
      cluster,
      clock: doors.clock,
      ...(historyMs !== undefined && {historyMs}),
      ...(!asks && {poll: never}),
    });
  },
  async readParameters(path, names) {
    const {readParameters} = await import('./parameters.ts');
    return readParameters(path, names);
  },
  async writeParameter(path, name, value, options) {
    const {writeParameter} = await import('./parameters.ts');
    return writeParameter(path, name, value, options);
  },
  variables: process.env,
  clock: holdingClock,
  writeLine: (line) => void process.stdout.write(`${JSON.stringify(line)}\n`),
};
