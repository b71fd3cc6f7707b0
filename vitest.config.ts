import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{shared,localstack,functions,infra,agent,test,scripts}/**/*.test.ts'],
    pool: 'threads',
    maxWorkers: 2,
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // A machine that others use too is slow now and then.
    expect: {poll: {timeout: 15_000}},
  },
});
