/** The contract of the store on the real DynamoDB Local, plain and behind faults. */

import {vi} from 'vitest';
import {storeContract} from '../contract-suite.ts';
import {faulty, patient} from '../faults.ts';
import {openDynamo} from './open.ts';
import {localDynamo, timeOf} from './testing/local.ts';

// Thousands of writes in some stories, a few milliseconds each.
vi.setConfig({testTimeout: 120_000, hookTimeout: 60_000});

const dynamo = localDynamo();
const open: Parameters<typeof storeContract>[0]['open'] = (clock) =>
  openDynamo({
    client: dynamo.client,
    tables: dynamo.tables,
    cluster: dynamo.cluster(),
    clock: timeOf(clock),
    poll: {busyMs: 5, restMs: 20},
  });

storeContract({name: 'DynamoDB Local', open});
if (process.env['TEST_DYNAMO_FAULTS'])
  storeContract({name: 'DynamoDB Local, with faults', open: async (clock) => patient(faulty(await open(clock), 5))});
