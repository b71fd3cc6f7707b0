/** Needs a container runtime that speaks CRI: its socket in NODEAGENT_TEST_CRI, an image with a shell in NODEAGENT_TEST_IMAGE. */
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, test} from 'vitest';
import {runtimeContract} from '../contract-suite.ts';
import {RemoteRuntime} from './remote.ts';

const {NODEAGENT_TEST_CRI: endpoint, NODEAGENT_TEST_IMAGE: image} = process.env;

if (endpoint && image) {
  const open = async () => new RemoteRuntime({endpoint, requestTimeoutMs: 30_000});
  runtimeContract({name: 'a runtime behind CRI', open, image, logs: join(tmpdir(), 'nodeagent-contract')});
} else describe.skip('a runtime behind CRI', () => test('needs NODEAGENT_TEST_CRI and NODEAGENT_TEST_IMAGE', () => {}));
