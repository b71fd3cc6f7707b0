/** `node scripts/run.mjs scripts/grants.ts`: which AWS actions each function's role grants, by kind of partition, from the template. */
import {grantsOf, grantTable} from '../infra/least-privilege.ts';
import {synthesize} from '../infra/testing.ts';

process.stdout.write(grantTable(grantsOf(synthesize().resources)));
