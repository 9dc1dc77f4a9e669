import { defineConfig } from 'vitest/config';

/** The whole daemon as a process of its own, with real tmux servers, stores and agents of the demo. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/e2e/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    setupFiles: ['test/kit/no-listener-leaks.ts'],
    globalSetup: ['test/kit/built-package.ts'],
    pool: 'forks',
    // Most of a test is waiting for processes.
    maxWorkers: 3,
  },
});
