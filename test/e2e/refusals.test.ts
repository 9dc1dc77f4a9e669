import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { State } from '../../src/contract/http/state.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { TEST_HOST } from '../kit/test-home.ts';

const COOLDOWN_MS = 1_500;

function blockedOf(state: State, id: string) {
  return state.blocked.find((row) => row.fiber_id === id);
}

describe('a refused launch', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon({ settings: { SVC_PREFLIGHT_COOLDOWN_MS: String(COOLDOWN_MS) } });
  });
  afterAll(() => daemon.dispose());

  it('[DSP-4][DSP-5][LIF-2] lists the fiber as blocked with its directory, does not change the document, and clears the row after a success', async () => {
    const { home } = daemon;
    const project_dir = home.path('projects', 'not-there');
    home.fiber('blocked', { svc: { project_dir } });
    const written = home.document('blocked');
    const row = await daemon.rowWhen('blocked', 'refused', (one) => one.blocked !== undefined);
    expect(row.blocked).toMatchObject({ reason: 'project_dir_missing', attempts: 1 });
    expect(row.blocked?.message).toContain(project_dir);
    expect(row).toMatchObject({ status: 'active' });
    expect(row.runtime).toBeUndefined();
    expect(blockedOf(await daemon.state(), 'blocked')).toMatchObject({ reason: 'project_dir_missing' });
    expect(home.document('blocked')).toBe(written);
    expect(launchesOf(home.data, 'blocked')).toEqual([]);

    mkdirSync(project_dir, { recursive: true });
    const started = await daemon.running('blocked');
    expect(started.blocked).toBeUndefined();
    expect(blockedOf(await daemon.state(), 'blocked')).toBeUndefined();
  });

  it('[DSP-5][LIM-16] is retried once per cooldown, not once per tick', async () => {
    daemon.home.fiber('patient', { svc: { project_dir: '/not/there/either' } });
    await daemon.rowWhen('patient', 'refused', (one) => one.blocked !== undefined);
    const before = (await daemon.state()).poll_health.ticks;
    const row = await daemon.rowWhen('patient', 'tried again', (one) => one.blocked?.attempts === 2);
    const waited = row.blocked!.attempted_at - row.blocked!.first_attempted_at;
    expect(waited).toBeGreaterThanOrEqual(COOLDOWN_MS);
    expect((await daemon.state()).poll_health.ticks - before).toBeGreaterThanOrEqual(3);
  });

  it('[DSP-4][ERR-17] for a file instead of a folder is like one for a missing folder', async () => {
    const project_dir = daemon.home.write('projects/a-file', 'text');
    daemon.home.fiber('file', { svc: { project_dir } });
    const row = await daemon.rowWhen('file', 'refused', (one) => one.blocked !== undefined);
    expect(row.blocked).toMatchObject({ reason: 'project_dir_missing' });
    expect(row.blocked?.message).toContain('not a directory');
  });

  it('[DSP-4] for a folder inside a document store applies to forced launches too', async () => {
    const project_dir = daemon.home.path('store', '.fibers');
    daemon.home.fiber('inside', { svc: { project_dir } });
    const row = await daemon.rowWhen('inside', 'refused', (one) => one.blocked !== undefined);
    expect(row.blocked?.reason).toBe('project_dir_in_store');
    const forced = await daemon.dispatch({ fiber_id: 'inside', force: true });
    expect(forced).toMatchObject({ status: 422, body: { dispatched: false } });
    expect((await daemon.row('inside'))?.runtime).toBeUndefined();
  });

  it('[DSP-4][ERR-17][WPL-1] of a forced start without a folder is a 422 that asks for one, and the next request may send it', async () => {
    const { home } = daemon;
    home.fiber('homeless', { front: { status: 'open' }, svc: { project_dir: '/nowhere/at/all' } });
    await daemon.rowWhen('homeless', 'listed', () => true);
    const written = home.document('homeless');
    const refused = await daemon.dispatch({ fiber_id: 'homeless', force: true, ad_hoc: true });
    expect(refused).toMatchObject({
      status: 422,
      body: {
        dispatched: false,
        reason: 'arm_refused',
        fiber_id: 'homeless',
        host: TEST_HOST,
        needs: 'project_dir',
      },
    });
    expect(refused.body.message).toContain('/nowhere/at/all');
    expect(home.document('homeless')).toBe(written);

    const project_dir = home.project('confirmed');
    const accepted = await daemon.dispatch({ fiber_id: 'homeless', project_dir });
    expect(accepted).toMatchObject({ status: 200, body: { dispatched: true, already_running: false } });
    const row = await daemon.running('homeless');
    expect(row).toMatchObject({ status: 'active', project_dir, svc: { project_dir } });
    expect(row.blocked).toBeUndefined();
  });

  it('[DSP-2] for a fiber of another host names that host', async () => {
    daemon.home.fiber('theirs', { svc: { host: 'another-host' } });
    await daemon.rowWhen('theirs', 'listed', () => true);
    const refused = await daemon.dispatch({ fiber_id: 'theirs' });
    expect(refused).toMatchObject({ status: 422, body: { dispatched: false, reason: 'arm_refused' } });
    expect(refused.body.message).toContain('another-host');
    expect((await daemon.home.sessions()).some((name) => name.startsWith('theirs'))).toBe(false);
  });

  it('for an unknown agent names the agent', async () => {
    daemon.home.fiber('agentless', { svc: { agent: 'nobody' } });
    const row = await daemon.rowWhen('agentless', 'refused', (one) => one.blocked !== undefined);
    expect(row.blocked).toMatchObject({ reason: 'agent_unknown' });
    expect(row.blocked?.message).toContain('nobody');
  });
});

describe('a fiber without a ULID', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon.dispose());

  it('[DSP-9][DSP-5][FIB-2][LIM-16] is refused with uid_missing: a blocked row for five minutes, 422 on request', async () => {
    daemon.home.fiber('anonymous', { front: { id: null } });
    const row = await daemon.rowWhen('anonymous', 'refused', (one) => one.blocked !== undefined);
    expect(row).toMatchObject({ uid: null, blocked: { reason: 'uid_missing', attempts: 1 } });
    expect(row.blocked!.retry_at! - row.blocked!.attempted_at).toBe(300_000);
    expect(blockedOf(await daemon.state(), 'anonymous')).toMatchObject({ reason: 'uid_missing', uid: null });
    expect(await daemon.dispatch({ fiber_id: 'anonymous', force: true })).toMatchObject({
      status: 422,
      body: { dispatched: false, reason: 'uid_missing', fiber_id: 'anonymous', host: TEST_HOST },
    });
    expect(await daemon.home.sessions()).toEqual([]);
    await daemon.ticks();
    expect((await daemon.row('anonymous'))?.blocked?.attempts).toBe(2);
  });

  it('[DSP-9][DSP-5] is launched at once after the command in the refusal has given it one', async () => {
    daemon.home.fiber('named-later', { front: { id: null } });
    const refused = await daemon.rowWhen('named-later', 'refused', (one) => one.blocked !== undefined);
    const [, command = ''] = /`svc ([^`]+)`/.exec(refused.blocked?.message ?? '') ?? [];
    const args = command.split(' ').filter((word) => word !== 'named-later');
    expect(await daemon.home.svc(...args, 'named-later')).toMatchObject({ code: 0 });
    const row = await daemon.running('named-later');
    expect(row.uid).not.toBeNull();
    expect(row.runtime.mux_session).toBe(`named-later-${row.uid}-svc`);
    expect(blockedOf(await daemon.state(), 'named-later')).toBeUndefined();
  });
});
