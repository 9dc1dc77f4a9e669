import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/browser/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    setupFiles: ['test/kit/no-listener-leaks.ts', 'test/browser/windows-closed.ts'],
    globalSetup: ['test/kit/built-package.ts'],
    pool: 'forks',
    // Each file has a browser and daemons of its own; more of them at a time only wait for each other.
    maxWorkers: 2,
  },
});
