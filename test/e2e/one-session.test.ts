import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';

describe('many dispatches of one fiber at once', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon.dispose());

  it.each([
    ['armed', 'active'],
    ['parked', 'open'],
  ])(
    '[P13][DSP-2] start one session if it is %s, and each gets that one in its answer',
    async (id, status) => {
      const uid = daemon.home.fiber(id, { front: { status: 'open' } });
      await daemon.rowWhen(id, 'listed', () => true);
      if (status === 'active') await daemon.home.svc('fiber', 'edit', id, '--status', 'active');
      const answers = await Promise.all(Array.from({ length: 50 }, () => daemon.dispatch({ fiber_id: id })));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
      expect(new Set(answers.map((answer) => answer.body.session_uuid)).size).toBe(1);
      expect(answers.filter((answer) => !answer.body.already_running).length).toBeLessThanOrEqual(1);
      await daemon.running(id);
      await daemon.ticks();
      expect((await daemon.home.sessions()).filter((name) => name.includes(uid))).toEqual([
        `${id}-${uid}-svc`,
      ]);
      expect(launchesOf(daemon.home.data, id)).toHaveLength(1);
    },
  );
});
