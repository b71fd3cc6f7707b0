import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {runtimeContract} from './contract-suite.ts';
import {FakeRuntime} from './fake.ts';

runtimeContract({
  name: 'the fake',
  open: async () => new FakeRuntime(['shell:1']),
  image: 'shell:1',
  logs: () => join(tmpdir(), 'nodeagent-contract'),
});
