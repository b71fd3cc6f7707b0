/** The contract of the store over the double that makes no trouble. With trouble: test/simulation/dynamo. */

import {storeContract} from '../../contract-suite.ts';
import {faulty, patient} from '../../faults.ts';
import {openDynamo} from '../open.ts';
import {createTables, tablesOf} from '../tables.ts';
import {timeOf} from '../testing/local.ts';
import {honest} from './double.ts';

const tables = tablesOf('test-');
const open: Parameters<typeof storeContract>[0]['open'] = async (clock) => {
  const client = honest();
  await createTables(client, tables);
  return openDynamo({client, tables, clock: timeOf(clock), poll: {busyMs: 5, restMs: 20}});
};

storeContract({name: 'dynamo, over the double', open});
storeContract({name: 'dynamo, over the double, with faults', open: async (clock) => patient(faulty(await open(clock), 7))});
