import { chmodSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import { programOf } from '../kit/built-package.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { TEST_HOST } from '../kit/test-home.ts';

const ROLE = { kind: 'standing', schedule: '0 9 * * *', tz: 'UTC' };

describe('the verbs of the service with a daemon', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon({ settings: { SVC_POLL_INTERVAL_MS: '30000' } });
  });
  afterAll(() => daemon.dispose());
  const verb = (fiber: string, action: string, fields = {}) =>
    daemon.http.post('/lifecycle', { fiber, action, ...fields });
  const read = async (id: string) => (await daemon.http.get<{ fiber: FiberRow }>(`/fibers/${id}`)).body.fiber;

  it('[WPL-3] [LIF-6] no reader sees status and handed_off_at of different writes during accept and close', async () => {
    daemon.home.fiber('hammered', {
      svc: ROLE,
      front: { status: 'closed', 'created-at': new Date().toISOString() },
    });
    await daemon.rowWhen('hammered', 'listed', () => true);
    const seen: { updated_at: string; status: string; stamp: string | undefined }[] = [];
    let done = false;
    const reader = (async () => {
      while (!done) {
        const { updated_at = '', status, svc } = await read('hammered');
        seen.push({ updated_at, status, stamp: svc?.runtime?.handed_off_at });
      }
    })();
    const closed: string[] = [];
    for (let turn = 0; turn < 15; turn += 1) {
      const action = turn % 2 === 0 ? 'accept' : 'resume';
      const text = `hammered: ready to start, on a schedule on ${TEST_HOST}\n`;
      expect(await verb('hammered', action)).toMatchObject({ status: 200, text });
      expect(await read('hammered')).toMatchObject({ status: 'active' });
      const close = { fiber_id: 'hammered', action: 'close' };
      expect(await daemon.http.post('/transition', close)).toMatchObject({ status: 200 });
      closed.push((await read('hammered')).updated_at!);
    }
    done = true;
    await reader;
    const armed = seen.filter(({ status }) => status === 'active');
    expect(armed.length).toBeGreaterThan(0);
    // With the stamp of an earlier write, a close would lie between the stamp and the write that armed it.
    for (const { updated_at, stamp = '' } of armed) {
      expect(stamp <= updated_at).toBe(true);
      expect(closed.filter((at) => stamp < at && at < updated_at)).toEqual([]);
    }
    const stamps = new Map<string, Set<string | undefined>>();
    for (const { updated_at, status, stamp } of seen)
      stamps.set(updated_at + status, (stamps.get(updated_at + status) ?? new Set()).add(stamp));
    expect([...stamps.values()].filter((each) => each.size > 1)).toEqual([]);
  });

  it('[WPL-3] the command asks the daemon, which starts a resumed fiber at once, and prints the same text', async () => {
    daemon.home.fiber('worked', { front: { status: 'open' } });
    await daemon.rowWhen('worked', 'listed', () => true);
    expect((await daemon.home.svc('resume', 'worked')).stdout).toContain(
      `worked: ready to start, once on ${TEST_HOST}\n`,
    );
    await daemon.running('worked');
    const paused = await daemon.home.svc('pause', 'worked', '--kill', '--yes');
    expect(paused).toMatchObject({
      code: 0,
      stdout: `worked: draft, once on ${TEST_HOST}\nIts worker was ended.\n`,
    });
    expect((await daemon.row('worked'))?.runtime).toBeUndefined();
    const refused = await daemon.home.svc('set-agent', 'worked', 'nobody', '--json');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: 'agent_unknown' });
  });

  it('[WPL-3] a new fiber is found before the next listing', async () => {
    daemon.home.fiber('fresh', { front: { status: 'open' } });
    expect(await verb('fresh', 'set-outcome', { outcome: 'Seen.' })).toMatchObject({ status: 200 });
    expect(await read('fresh')).toMatchObject({ outcome: 'Seen.' });
  });

  it('[WPL-2] a card moves through the columns, with its worker', async () => {
    daemon.home.fiber('card', { front: { status: 'open', outcome: 'Kept.' } });
    await daemon.rowWhen('card', 'listed', () => true);
    const to = (target: string) => daemon.http.post('/transition', { fiber_id: 'card', target });
    expect(await to('inFlight')).toMatchObject({
      status: 200,
      body: { action: 'dispatch', invoked: true, origin: TEST_HOST },
    });
    await daemon.running('card');
    expect(await to('awaitingReview')).toMatchObject({ status: 200, body: { action: 'close' } });
    expect(await daemon.row('card')).toMatchObject({ status: 'closed', outcome: 'Kept.' });
    expect((await daemon.row('card'))?.runtime).toBeUndefined();
    expect(await to('tempered')).toMatchObject({ status: 200, body: { action: 'accept' } });
    expect(await to('tempered')).toMatchObject({ status: 200, body: { action: 'none' } });
    expect(await daemon.row('card')).toMatchObject({ status: 'closed', tempered: true, outcome: 'Kept.' });
  });

  it('[WPL-12] a running worker keeps its fiber when that is moved', async () => {
    const { home } = daemon;
    home.fiber('shelf', { svc: null, front: { status: 'open' } });
    const uid = home.fiber('moving');
    home.fiber('teller', { svc: null, front: { status: 'open' }, body: 'See [[moving]].\n' });
    const { runtime } = await daemon.running('moving');
    const moved = await daemon.http.post('/fiber-nest', { fiber_id: 'moving', parent: 'shelf' });
    expect(moved).toMatchObject({
      status: 200,
      body: { fiber_id: 'moving', new_id: 'shelf/moving', rewritten: ['teller'] },
    });
    expect(home.document('teller')).toContain('[[shelf/moving]]');
    expect(await daemon.row('moving')).toBeUndefined();
    const row = await daemon.row('shelf/moving');
    expect(row).toMatchObject({ uid, runtime: { mux_session: runtime.mux_session } });
    expect((await daemon.state()).running.find((run) => run.uid === uid)).toMatchObject({
      fiber_id: 'shelf/moving',
    });
    expect(await daemon.kill('shelf/moving')).toMatchObject({ status: 200 });
    expect(
      await daemon.http.post('/fiber-nest', { fiber_id: 'shelf', parent: 'shelf/moving' }),
    ).toMatchObject({ status: 400 });
    const back = await home.svc('fiber', 'nest', 'shelf/moving', '--top', '--json');
    expect(JSON.parse(back.stdout)).toMatchObject({ new_id: 'moving' });
  });

  it('[WPL-11] [FIB-13] the roster is one write that does not affect worker and agent', async () => {
    daemon.home.fiber('team');
    const { runtime } = await daemon.running('team');
    const edit = (fields: object) =>
      daemon.http.post<{ fiber: FiberRow }>('/fiber-edit', { fiber_id: 'team', ...fields });
    const before = await read('team');
    const edited = await edit({ collaboration: { reviewer: ['ada'], editor: [] } });
    expect(edited).toMatchObject({
      status: 200,
      body: { fiber: { collaboration: { reviewer: ['ada'], editor: [] } } },
    });
    expect(edited.body.fiber).toMatchObject({
      svc: before.svc,
      status: before.status,
      runtime: { run_id: runtime.run_id },
    });
    expect(await edit({ collaboration: { reviewer: ['Ada L'] } })).toMatchObject({ status: 400 });
    expect(await edit({ collaboration: {}, status: 'open' })).toMatchObject({
      status: 400,
      body: { error: 'invalid_request' },
    });
    expect((await edit({ collaboration: { lead: [] } })).body.fiber.collaboration).toEqual({ lead: [] });
  });

  it('[WPL-17] an effort set over HTTP is in the daemon’s registry', async () => {
    const effort = (body: object) => daemon.http.post('/agents/effort', body);
    expect(await effort({ id: 'stays', effort: 'high' })).toMatchObject({
      status: 422,
      body: { error: 'effort_unknown' },
    });
    expect(await effort({ id: 'nobody', effort: null })).toMatchObject({
      status: 404,
      body: { error: 'agent_not_found' },
    });
    expect(await effort({ id: 'stays', effort: null, origin: 'elsewhere' })).toMatchObject({
      status: 404,
      body: { error: 'unknown_host' },
    });
    expect(await effort({ id: 'stays', effort: null })).toMatchObject({
      status: 200,
      body: { agent: { id: 'stays', default_effort: null } },
    });
  });
});

describe('the verbs with an external CLI', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon({
      settings: { SVC_CLI_TIMEOUT_MS: '8000', SVC_CLI: undefined },
      prepare(home) {
        const launcher = programOf('launcher.mjs');
        const file = home.write(
          'cli.sh',
          `#!/bin/sh\necho "$*" >>"$0.log"\ncase "$*" in *set-outcome*slow*) exec sleep 60;; esac\nexec ${process.execPath} ${launcher} "$@"\n`,
        );
        chmodSync(file, 0o755);
        home.env.SVC_CLI = file;
        home.fiber('role', { svc: ROLE, front: { status: 'closed' } });
      },
    });
  });
  afterAll(() => daemon.dispose());
  const verb = (action: string, fields = {}) =>
    daemon.http.post('/lifecycle', { fiber: 'role', action, ...fields });

  const asked = () => readFileSync(`${daemon.home.env.SVC_CLI}.log`, 'utf8');

  it('[WPL-1] [LIF-4] [WPL-17] [RPL-5] is used for every command: reopen, resolve-dir, agents and their effort', async () => {
    const folder = daemon.home.project('resolved');
    const uid = daemon.home.fiber('closed', { front: { status: 'closed' } });
    const started = await daemon.http.post('/dispatch', { fiber_id: uid, project_dir: folder });
    expect(started).toMatchObject({ status: 200, body: { dispatched: true } });
    expect(asked()).toContain(`resolve-dir --json -- ${folder}`);
    expect(asked()).toMatch(new RegExp(`^reopen --local .*-- ${uid}$`, 'm'));
    const refused = await daemon.http.post('/dispatch', {
      fiber_id: uid,
      force: true,
      project_dir: '/no/such',
    });
    expect(refused).toMatchObject({
      status: 422,
      body: { reason: 'arm_refused', needs: 'project_dir', message: expect.stringContaining('/no/such') },
    });
    const { body } = await daemon.http.get<{ agents: { id: string }[] }>('/agents');
    expect(body.agents.map(({ id }) => id)).toContain('stays');
    expect(asked()).toContain('agents --json');
    const effort = (level: string | null) =>
      daemon.http.post('/agents/effort', { id: 'stays', effort: level });
    expect((await effort('high')).status).toBe(400);
    expect((await effort(null)).status).toBe(200);
    expect(asked()).toContain('agents effort --json -- stays high');
    expect(asked()).toContain('agents effort --json --reset -- stays');
  });

  it('[WPL-3] [ERR-18] has the same results as the bundled one', async () => {
    expect(await verb('accept')).toMatchObject({
      status: 200,
      text: `role: ready to start, on a schedule on ${TEST_HOST}\n`,
    });
    const { body } = await daemon.http.get<{ fiber: FiberRow }>('/fibers/role');
    expect(body.fiber.status).toBe('active');
    const stamp = body.fiber.svc?.runtime?.handed_off_at ?? '';
    expect(Math.abs(Date.parse(body.fiber.updated_at ?? '') - Date.parse(stamp))).toBeLessThan(5_000);
    const refused = await verb('set-agent', { agent: 'nobody' });
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/^svc exited 1: there is no agent "nobody"/);
    expect(await verb('set-outcome', { outcome: 'slow' })).toMatchObject({
      status: 504,
      body: { error: 'cli_timed_out' },
    });
  });
});
