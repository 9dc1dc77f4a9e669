import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/package/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 600_000,
    setupFiles: ['test/kit/no-listener-leaks.ts'],
    pool: 'forks',
    maxWorkers: 1,
  },
});
