/** The reference for ./double.test.ts, as far as an emulator is one. */

import {localDynamo} from '../testing/local.ts';
import {probes} from './testing/probes.ts';

const dynamo = localDynamo();
probes('DynamoDB Local', () => dynamo);
