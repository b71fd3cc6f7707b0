import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{shared,localstack,functions,infra,agent,test,scripts}/**/*.test.ts'],
    pool: 'threads',
    maxWorkers: 2,
    isolate: false,
    testTimeout: 20_000,
  },
});
