import { mkdirSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { noTrace, traced, traceLines } from '../kit/strace.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

const CALLS = '%file,getdents64,inotify_add_watch';
const LOOKED_AT = 20;

describe.skipIf(noTrace !== null)(
  `the system calls of a daemon${noTrace === null ? '' : ` (${noTrace})`}`,
  () => {
    it('[DSP-2][DSP-4][P32] access the project_dir of the fiber that is launched, and of no other fiber', async () => {
      const lookedAt: string[] = [];
      daemon = await startTestDaemon({
        settings: { UV_USE_IO_URING: '0' },
        release: false,
        under: (home) => traced(CALLS, home.path('trace')),
        prepare(home) {
          const states = [
            {},
            { svc: { host: 'another-host' } },
            { front: { status: 'open' } },
            { front: { status: 'closed' } },
            { svc: { kind: 'standing', schedule: '0 0 1 1 *' } },
          ];
          for (let n = 0; n < LOOKED_AT; n += 1) {
            const project_dir = home.path('protected', `looked-at-${n}`);
            if (n % 2 === 0) mkdirSync(project_dir, { recursive: true });
            lookedAt.push(project_dir);
            const state = states[n % states.length]!;
            home.fiber(`looked-at/${n}`, { ...state, svc: { ...state.svc, project_dir } });
          }
          home.fiber('spawned', { svc: { project_dir: home.project('spawned-here') } });
        },
      });
      await daemon.rowWhen('spawned', 'listed', () => true);
      expect((await daemon.dispatch({ fiber_id: 'spawned', force: true })).status).toBe(200);
      await daemon.running('spawned');
      await daemon.ticks(3);
      expect(await daemon.fibers('?body=true')).toHaveLength(LOOKED_AT + 1);
      expect((await daemon.state()).pending_launch.length).toBeGreaterThanOrEqual(4);
      await daemon.http.post('/fiber-edit', {
        fiber_id: 'looked-at/0',
        outcome: 'edited, still not spawned',
      });
      await daemon.ticks();
      await daemon.stop();

      const lines = traceLines(daemon.home.path('trace'));
      const touching = (path: string) => lines.filter((line) => line.includes(`"${path}`));
      expect(touching(daemon.home.project('spawned-here')).length).toBeGreaterThan(0);
      expect(touching(daemon.home.documentPath('looked-at/7')).length).toBeGreaterThan(0);
      expect(touching(daemon.home.path('protected'))).toEqual([]);
      for (const path of lookedAt) expect(touching(path)).toEqual([]);
    });
  },
);
