import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/faults/**/*.test.ts'],
    testTimeout: 360_000,
    hookTimeout: 120_000,
    setupFiles: ['test/kit/no-listener-leaks.ts'],
    globalSetup: ['test/kit/built-package.ts'],
    pool: 'forks',
    // Most of a test is waiting for processes.
    maxWorkers: 3,
  },
});
