/** What a function reaches out to. The environments of Lambda use these as they are; a test puts its own in their place. */
import {type Clock, systemClock} from '../../shared/clock.ts';
import type {Store} from '../../shared/storage/contract.ts';
import type {Parameter} from '../functions.ts';
import type {Environment} from './environment.ts';

export interface Doors {
  openStore(environment: Environment): Promise<Store>;
  /** Those that are there, decrypted. */
  readParameters(path: string, names: readonly Parameter[]): Promise<Partial<Record<Parameter, string>>>;
  variables: Readonly<Record<string, string | undefined>>;
  clock: Clock;
}

export const doors: Doors = {
  async openStore({cluster, objectsTable, logTable}) {
    const [{awsCalls}, {openDynamo}] = await Promise.all([
      import('../../shared/storage/dynamo/calls.ts'),
      import('../../shared/storage/dynamo/open.ts'),
    ]);
    return openDynamo({client: awsCalls(), tables: {objects: objectsTable, log: logTable}, cluster});
  },
  async readParameters(path, names) {
    const {readParameters} = await import('./parameters.ts');
    return readParameters(path, names);
  },
  variables: process.env,
  clock: systemClock,
};
