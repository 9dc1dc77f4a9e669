import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/search/*.test.ts'],
    testTimeout: 360_000,
    globalSetup: ['test/kit/built-package.ts'],
    pool: 'forks',
    maxWorkers: 3,
  },
});
