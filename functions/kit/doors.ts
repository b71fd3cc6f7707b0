/** What a function reaches out to. The environments of Lambda use these as they are; a test puts its own in their place. */
import {type Clock, systemClock} from '../../shared/clock.ts';
import type {Store} from '../../shared/storage/contract.ts';
import type {Parameter} from '../functions.ts';
import type {Environment} from './environment.ts';

export interface Doors {
  openStore(environment: Environment): Promise<Store>;
  /** Those that are there, decrypted. */
  readParameters(path: string, names: readonly Parameter[]): Promise<Partial<Record<Parameter, string>>>;
  /** Never over one that is there, unless it is told to. Answers whether it wrote. */
  writeParameter(path: string, name: Parameter, value: string, options: {replace: boolean}): Promise<boolean>;
  variables: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** A line of the log. Not through the console, which the runtime gives a frame of its own: metrics count only where a line is theirs alone. */
  writeLine(line: object): void;
}

export const doors: Doors = {
  async openStore({cluster, objectsTable, logTable, historyMs}) {
    const [{awsCalls}, {openDynamo}] = await Promise.all([
      import('../../shared/storage/dynamo/calls.ts'),
      import('../../shared/storage/dynamo/open.ts'),
    ]);
    return openDynamo({
      client: awsCalls(),
      tables: {objects: objectsTable, log: logTable},
      cluster,
      ...(historyMs !== undefined && {historyMs}),
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
  clock: systemClock,
  writeLine: (line) => void process.stdout.write(`${JSON.stringify(line)}\n`),
};
