import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/harness-real/**/*.test.ts'],
    testTimeout: 480_000,
    hookTimeout: 120_000,
    setupFiles: ['test/kit/no-listener-leaks.ts'],
    globalSetup: ['test/kit/built-package.ts'],
    pool: 'forks',
    // Most of a test is waiting for processes.
    maxWorkers: 3,
  },
});
