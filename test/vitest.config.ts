import { defineConfig } from 'vitest/config';

const ROOT = new URL('..', import.meta.url).pathname;
const LIMITS = { testTimeout: 20_000, hookTimeout: 20_000 };

export default defineConfig({
  test: {
    root: ROOT,
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...LIMITS,
          name: 'all',
          root: ROOT,
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/browser/**',
            'test/faults/**',
            'test/harness-real/**',
            'test/package/**',
            'node_modules/**',
          ],
        },
      },
      {
        test: {
          ...LIMITS,
          // The kernel and every route once more, over Node's own HTTP server.
          name: 'node-http',
          root: ROOT,
          include: ['test/http/**/*.test.ts', 'test/routes/**/*.test.ts'],
          env: { SVC_HTTP: 'node' },
        },
      },
    ],
  },
});
