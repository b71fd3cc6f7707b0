/** The contract, on a real containerd. */
import {join} from 'node:path';
import {afterAll, describe, test} from 'vitest';
import {lackingRuntime, startRuntime, type TestRuntime} from '../../../test/runtime/containerd.ts';
import {images} from '../../../test/runtime/images.ts';
import {runtimeContract} from '../contract-suite.ts';
import {RemoteRuntime} from './remote.ts';

if (lackingRuntime) {
  describe.skip('a runtime behind CRI', () => test(`needs a container runtime: ${lackingRuntime} is missing`, () => {}));
} else {
  let own: TestRuntime | undefined;
  afterAll(() => own?.stop());
  runtimeContract({
    name: 'containerd behind CRI',
    async open() {
      own = await startRuntime();
      return new RemoteRuntime({endpoint: own.endpoint, requestTimeoutMs: 60_000});
    },
    image: images.busybox,
    logs: () => join(own!.folder, 'logs'),
  });
}
