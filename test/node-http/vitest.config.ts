import { defineConfig } from 'vitest/config';

/** The kernel, and the routes that stream or hold a socket, once more over Node's own HTTP server. No other route sees its transport. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/http/**/*.test.ts', 'test/routes/{files,live,meeting-audio}.test.ts'],
    env: { SVC_HTTP: 'node' },
    testTimeout: 20_000,
    hookTimeout: 20_000,
    globalSetup: ['test/kit/untouched-home.ts'],
    setupFiles: ['test/kit/no-listener-leaks.ts'],
    pool: 'forks',
    maxWorkers: 2,
  },
});
