import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/browser/**',
      'test/e2e/**',
      'test/faults/**',
      'test/harness-real/**',
      'test/package/**',
      'test/search/*.test.ts',
      'node_modules/**',
    ],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    globalSetup: ['test/kit/untouched-home.ts'],
    setupFiles: ['test/kit/no-listener-leaks.ts', 'test/kit/property-sizes.ts'],
    pool: 'forks',
    maxWorkers: 2,
  },
});
