import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daemonId } from '../../src/config/daemon-id.ts';
import { projectFolder } from '../../src/harness/claude/transcript.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { Json } from '../kit/http.ts';
import { launchesOf } from '../kit/launches.ts';
import { TEST_HOST } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

describe('a launch', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon.dispose());

  it('[LIF-1][DSP-9][FIB-9][WRK-2] turns an armed fiber into a worker in its project folder', async () => {
    const uid = daemon.home.fiber('loader/rewrite');
    const row = await daemon.running('loader/rewrite');
    expect(row.runtime).toMatchObject({
      mux_session: `rewrite-${uid}-svc`,
      surface: 'cli',
      agent: 'stays',
      harness: 'claude',
    });
    expect(await daemon.home.sessions()).toContain(`rewrite-${uid}-svc`);
    const pid = await daemon.agentPid('loader/rewrite');
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toBe('sleep\u000086400\u0000');
    const cwd = daemon.home.project('rewrite');
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).toEqual(
      expect.arrayContaining([`PWD=${cwd}`, 'SVC_FIBER=loader/rewrite', `SVC_FIBER_UID=${uid}`]),
    );
    const { session_uuid, run_id, started_at } = row.runtime;
    expect(row.svc?.runtime).toEqual({
      dispatched_at: new Date(started_at).toISOString(),
      session_uuid,
      run_id,
      harness: 'claude',
      daemon: daemonId(daemon.home.data),
    });
  });

  it('[EVT-4][REC-10] adds a line to the sessions ledger with the session of the worker', async () => {
    const uid = daemon.home.fiber('ledger');
    const { runtime } = await daemon.running('ledger');
    const line = await until('the ledger line', async () => {
      const { body } = await daemon.http.get<{ sessions: Json[] }>(`/sessions?uid=${uid}`);
      return body.sessions[0];
    });
    expect(line).toMatchObject({
      fiber: 'ledger',
      uid,
      session: runtime.session_uuid,
      harness: 'claude',
      host: TEST_HOST,
      mux: runtime.mux_session,
      kind: 'dispatch',
    });
  });

  it('[DSP-2][FIB-4][FIB-5] does not happen for a fiber that is parked, closed, foreign or without a svc block', async () => {
    const { home } = daemon;
    home.fiber('idle/parked', { front: { status: 'open' } });
    home.fiber('idle/closed', { front: { status: 'closed' } });
    home.fiber('idle/foreign', { svc: { host: 'another-host' } });
    home.fiber('idle/hostless', { svc: { host: undefined } });
    home.fiber('idle/plain', { svc: null });
    home.fiber('idle/pinned-and-parked', { front: { status: 'open' }, svc: { kind: 'pinned' } });
    home.fiber('idle/the-only-one-due');
    await daemon.running('idle/the-only-one-due');
    await daemon.ticks();
    const idle = (await daemon.fibers()).filter((row) => row.id.startsWith('idle/'));
    expect(idle).toHaveLength(7);
    expect(idle.filter((row) => row.runtime !== undefined).map((row) => row.id)).toEqual([
      'idle/the-only-one-due',
    ]);
    expect(
      (await home.sessions()).filter((name) => /^(parked|closed|foreign|hostless|plain)/.test(name)),
    ).toEqual([]);
  });

  it('[DSP-6] may share its project folder with another worker', async () => {
    const project_dir = daemon.home.project('shared');
    daemon.home.fiber('shared-a', { svc: { project_dir } });
    daemon.home.fiber('shared-b', { svc: { project_dir } });
    const [a, b] = [await daemon.running('shared-a'), await daemon.running('shared-b')];
    expect(a.runtime.mux_session).not.toBe(b.runtime.mux_session);
    expect([a.project_dir, b.project_dir]).toEqual([project_dir, project_dir]);
  });

  it('[FIB-3][DSP-9] is named after the leaf of its fiber in characters that tmux keeps', async () => {
    const uid = daemon.home.fiber('deep/er/leaf.with:odd$signs');
    const { runtime } = await daemon.running('deep/er/leaf.with:odd$signs');
    expect(runtime.mux_session).toBe(`leaf_with_odd_signs-${uid}-svc`);
    expect(await daemon.home.sessions()).toContain(runtime.mux_session);
  });

  it('has network access like the daemon, with its proxies and certificates', async () => {
    const network = {
      HTTPS_PROXY: 'http://proxy.test:3128',
      no_proxy: 'localhost',
      NODE_EXTRA_CA_CERTS: '/ca.pem',
    };
    const other = await startTestDaemon({ settings: network });
    try {
      other.home.fiber('behind-a-proxy');
      const pid = await other.agentPid((await other.running('behind-a-proxy')).id);
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).toEqual(
        expect.arrayContaining(Object.entries(network).map(([name, value]) => `${name}=${value}`)),
      );
    } finally {
      await other.dispose();
    }
  });

  it('[LIF-7][FIB-10][RES-2] ends when its worker hands off, and the next one starts fresh', async () => {
    daemon.home.fiber('relay', { agent: 'hands-off' });
    const launches = await until('a second launch', () => {
      const all = launchesOf(daemon.home.data, 'relay');
      return all.length >= 2 ? all : null;
    });
    expect((await daemon.home.svc('fiber', 'edit', 'relay', '--status', 'closed')).code).toBe(0);
    const [first, second] = launches;
    expect(second?.manifest.session_uuid).not.toBe(first?.manifest.session_uuid);
    expect(second?.prompt).toContain(
      `\nPrevious session: ${first?.manifest.session_uuid} (claude)\n`.trimEnd(),
    );
    expect(second?.prompt).not.toContain('without a handoff');
    const row = await daemon.rowWhen('relay', 'ended', (one) => one.runtime === undefined);
    const { dispatched_at = '', handed_off_at = '' } = row.svc?.runtime ?? {};
    expect(Date.parse(handed_off_at)).toBeGreaterThan(Date.parse(dispatched_at));
    expect(row.blocked).toBeUndefined();
  });

  it('[P26] of a worker that ends at once is not repeated for ever: the fiber is paused with the reason', async () => {
    daemon.home.fiber('looping', { agent: 'dies-at-once' });
    const row = await daemon.rowWhen('looping', 'paused', (one) => one.blocked?.reason === 'loop_breaker');
    expect(launchesOf(daemon.home.data, 'looping')).toHaveLength(5);
    expect(row.blocked!.retry_at! - row.blocked!.attempted_at).toBeGreaterThan(590_000);
    await daemon.ticks();
    expect(launchesOf(daemon.home.data, 'looping')).toHaveLength(5);
  });

  it('[P26] of workers that only hand off to each other is not repeated for ever either', async () => {
    daemon.home.fiber('passed-on', { agent: 'hands-off' });
    const row = await daemon.rowWhen('passed-on', 'paused', (one) => one.blocked !== undefined, 90_000);
    expect(row.blocked).toMatchObject({
      reason: 'loop_breaker',
      message: expect.stringMatching(
        /^10 workers in a row handed off or died soon after their start; `svc dispatch/,
      ),
    });
    await daemon.ticks();
    expect(launchesOf(daemon.home.data, 'passed-on')).toHaveLength(10);
  }, 100_000);
});

describe('a launch message', () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startTestDaemon();
  });
  afterAll(() => daemon.dispose());

  /** The message as the agent itself received it. */
  const received = async (id: string): Promise<string> => {
    const { runtime } = await daemon.running(id);
    const { project_dir } = (await daemon.row(id))!;
    const folder = join(daemon.home.claude, 'projects', projectFolder(project_dir!));
    return readFileSync(join(folder, `${runtime.session_uuid}.prompt`), 'utf8');
  };

  it('[PRM-1][PRM-2][P9] begins with one fixed sentence, then names the fiber, its store, kind and surface', async () => {
    daemon.home.fiber('facts');
    const prompt = await received('facts');
    const [preamble, ...lines] = prompt.split('\n');
    expect(preamble).toMatch(/^[^.]*fiber-store and fiber-service[^.]*\.$/);
    expect(lines).toEqual(
      expect.arrayContaining([
        'Fiber: facts',
        `Store: ${daemon.home.store}`,
        'Kind: oneshot',
        'Surface: cli',
        'Headless: yes',
      ]),
    );
    expect(prompt).toBe(daemon.lastLaunch('facts').prompt);
    expect(prompt).not.toMatch(/From User|Previous session|Collaboration|Mode:/);
  });

  it('[PRM-8] names only references that exist and can be read', async () => {
    daemon.home.fiber('references');
    const paths = [...(await received('references')).matchAll(/^Skill \S+: (\/.*)$/gm)].map(
      ([, path]) => path!,
    );
    expect(paths).toHaveLength(2);
    for (const path of paths) expect(readFileSync(path, 'utf8')).toMatch(/^---\nname: fiber-/);
  });

  it('[PRM-4][STD-1][FIB-6][FIB-7] of a standing role says which run it is and whether it was scheduled', async () => {
    const created = new Date(Date.now() - 120_000).toISOString();
    const svc = { kind: 'standing', schedule: '* * * * *', tz: 'UTC' };
    daemon.home.fiber('scheduled', { front: { 'created-at': created }, svc });
    const scheduled = await received('scheduled');
    expect(scheduled).toMatch(/^Kind: standing$/m);
    expect(scheduled).toMatch(/^Mode: scheduled$/m);
    expect(scheduled).toContain(`Run: ${(await daemon.running('scheduled')).runtime.run_id}\n`);

    const now = new Date().toISOString();
    daemon.home.fiber('by-hand', { front: { 'created-at': now }, svc: { ...svc, schedule: '0 0 1 1 *' } });
    await daemon.rowWhen('by-hand', 'listed', () => true);
    const { body } = await daemon.dispatch({ fiber_id: 'by-hand' });
    expect(body.run_id).toMatch(/^adhoc-\d{13}$/);
    const prompt = await received('by-hand');
    expect(prompt).toMatch(/^Mode: ad-hoc$/m);
    expect(prompt).toContain(`Run: ${body.run_id}\n`);
  });

  it('[PRM-3] [PRM-5] [RES-3] is sent to the interrupted session, or names it and the path of its transcript', async () => {
    daemon.home.fiber('cut-off');
    const first = await daemon.running('cut-off');
    process.kill(await daemon.agentPid('cut-off'), 'SIGKILL');
    await until('a second launch', () => launchesOf(daemon.home.data, 'cut-off').length === 2);
    const transcript = join(
      daemon.home.claude,
      'projects',
      projectFolder(daemon.home.project('cut-off')),
      `${first.runtime.session_uuid}.jsonl`,
    );
    expect(await received('cut-off')).toMatch(/^Mode: resume$/m);
    expect((await daemon.running('cut-off')).runtime.session_uuid).toBe(first.runtime.session_uuid);
    await daemon.dispatch({ fiber_id: 'cut-off', force: true });
    expect(await received('cut-off')).toMatch(
      new RegExp(`^Previous session: ${first.runtime.session_uuid} \\(claude\\);.*without a handoff.*$`, 'm'),
    );
    expect(daemon.lastLaunch('cut-off').prompt).toContain(transcript);
    expect(readFileSync(transcript, 'utf8')).toContain('here I am');
  });

  it('[PRM-6][FIB-13] names the roster, and the only collaborator of the only role', async () => {
    daemon.home.fiber('one-role', { front: { collaboration: { reviewer: ['ada'] } } });
    daemon.home.fiber('two-roles', { front: { collaboration: { reviewer: ['ada'], editor: [] } } });
    expect(await received('one-role')).toMatch(/^Collaboration: .*role reviewer.*collaborator ada/m);
    const two = await received('two-roles');
    expect(two).toMatch(/^Collaboration: .*editor, reviewer/m);
    expect(two).not.toContain('ada');
  });

  it('[PRM-7][WPL-1] ends with the user’s message exactly as given', async () => {
    daemon.home.fiber('asked', { front: { status: 'open' } });
    await daemon.rowWhen('asked', 'listed', () => true);
    const user_message = '  Please: "quote\'s", $HOME, `ls`, %s \\n and\n\ttabs – ünï 🦜 #{pane_id} #(id)';
    expect((await daemon.dispatch({ fiber_id: 'asked', user_message })).status).toBe(200);
    const prompt = await received('asked');
    expect(prompt.endsWith(`\nFrom User:\n${user_message}`)).toBe(true);
    expect(prompt).toMatch(/^Headless: no$/m);

    daemon.home.fiber('not-asked', { front: { status: 'open' } });
    await daemon.rowWhen('not-asked', 'listed', () => true);
    await daemon.dispatch({ fiber_id: 'not-asked', user_message: ' \n ' });
    expect(await received('not-asked')).not.toContain('From User');
  });
});
