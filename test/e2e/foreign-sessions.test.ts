import { randomUUID } from 'node:crypto';
import { afterEach, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import type { TestHome } from '../kit/test-home.ts';

let daemon: TestDaemon | undefined;
afterEach(async () => {
  await daemon?.dispose();
  daemon = undefined;
});

const STAY = ['/bin/sleep', '86400'];

async function openSession(home: TestHome, name: string): Promise<void> {
  const said = await home.tmux('new-session', '-d', '-s', name, ...STAY);
  if (said !== '') throw new Error(`tmux: ${said}`);
}

it('[DSP-10][P4] changes no foreign session, at its start, at a kill and at its end', async () => {
  const names: string[] = [];
  let pids: number[] = [];
  daemon = await startTestDaemon({
    async prepare(home) {
      const uid = home.fiber('resumed', { front: { status: 'open' } });
      const foreign = home.fiber('foreign', { svc: { host: 'another-host' } });
      const unknown = '01BX5ZZKBKACTAV9WEVGEMMVRZ';
      names.push(`resume-${randomUUID()}`, `resumed-${uid}`, `svc-${uid}`, 'a-person', 'svc-anchor');
      names.push(`foreign-${foreign}-svc`, `nowhere-${unknown}-svc`, `resumed-${uid}-svc-2`);
      for (const name of names) await openSession(home, name);
      pids = await Promise.all(names.map((name) => home.panePid(name)));
      home.fiber('mine');
    },
  });
  const { home } = daemon;
  await daemon.running('mine');
  await daemon.ticks();
  expect((await daemon.state()).running.map((run) => run.fiber_id)).toEqual(['mine']);
  expect((await daemon.kill('mine')).status).toBe(200);
  await daemon.ticks();
  const pidsNow = (of: string[]) => Promise.all(of.map((name) => home.panePid(name)));
  expect(await pidsNow(names)).toEqual(pids);
  const others = names.filter((name) => name !== 'svc-anchor');
  await daemon.restart();
  // What a person killed stays held.
  expect(await daemon.dispatch({ fiber_id: 'mine' })).toMatchObject({ body: { dispatched: true } });
  await daemon.running('mine');
  await daemon.ticks();
  expect((await daemon.state()).running.map((run) => run.fiber_id)).toEqual(['mine']);
  await daemon.stop();
  // The anchor is the daemon's own by its name and goes with it.
  expect(await pidsNow(others)).toEqual(pids.filter((_pid, index) => names[index] !== 'svc-anchor'));
});

it('[DSP-2][DSP-10] counts a session with the name of a fiber’s worker as that worker, and starts no second one', async () => {
  let uid = '';
  daemon = await startTestDaemon({
    async prepare(home) {
      uid = home.fiber('taken');
      await openSession(home, `taken-${uid}-svc`);
    },
  });
  const row = await daemon.rowWhen('taken', 'running', (one) => one.runtime !== undefined);
  expect(row.runtime?.mux_session).toBe(`taken-${uid}-svc`);
  await daemon.ticks();
  expect(launchesOf(daemon.home.data, 'taken')).toEqual([]);
  expect(await daemon.dispatch({ fiber_id: 'taken' })).toMatchObject({
    status: 200,
    body: { dispatched: true, already_running: true },
  });
});
