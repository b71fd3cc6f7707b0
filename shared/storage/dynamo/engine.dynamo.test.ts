/** What is particular to this engine, on the real DynamoDB Local. */

import {vi} from 'vitest';
import {localDynamo} from './testing/local.ts';
import {engineStories} from './testing/stories.ts';

vi.setConfig({testTimeout: 60_000});

engineStories(localDynamo());
