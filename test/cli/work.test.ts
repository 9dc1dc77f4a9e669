import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chooseSession, hostsThatRun } from '../../src/cli/verbs/attach/choose-worker.ts';
import { fiberAnswer, OWN_LEASE, runningRow, stateAnswer, versionAnswer } from './answers.ts';
import { type Answers, createMachine, type Machine, serveDaemon } from './kit.ts';

let machine: Machine;

beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

const serve = (answers: Answers) => serveDaemon(machine, answers);

describe('svc status', () => {
  it('[OPF-4] names an operator file that is not valid, in one whole sentence', async () => {
    const error =
      '/etc/svc/agents.json is not valid at agents.0.harness: unknown; correct it, or remove the file';
    const path = '/etc/svc/agents.json';
    await serve({
      'GET /version': { body: versionAnswer() },
      'GET /state': { body: stateAnswer({ operator_file_errors: [{ file: 'agents', path, error }] }) },
    });
    const { out } = await machine.svc('status');
    expect(out).toContain(`\nOperator files with an error, not used as they are now\n${error}\n`);
  });

  it('[OPR-2] shows on one page what runs, what is blocked and why, what is held and what starts next', async () => {
    const ref = { uid: null, store: '/srv/notes' };
    await serve({
      'GET /version': { body: versionAnswer() },
      'GET /state': {
        body: stateAnswer({
          running: [runningRow()],
          blocked: [
            {
              ...ref,
              fiber_id: 'work/stuck',
              reason: 'project_dir_missing',
              message: '/srv/gone is not a folder; make it or name another',
              attempts: 3,
              first_attempted_at: 1,
              attempted_at: 2,
              retry_at: Date.now() + 125_000,
            },
          ],
          captures: [
            {
              surface: 'cli',
              mux_session: 'capture-1',
              session_uuid: null,
              run_id: 'r',
              agent: 'pi',
              harness: 'pi',
              project_dir: '/srv/dev',
              store: '/srv/notes',
              state: 'ended',
              captured_at: 1,
              ended_at: 2,
              ended_reason: 'exited with 3',
              effort: 'high',
              prompt_file: '/data/runs/r/prompt.md',
              text_file: '/data/runs/r/text.md',
            },
          ],
          pending_launch: [
            {
              ...ref,
              fiber_id: 'work/held',
              since: Date.now() - 60_000,
              reason: 'boot_quarantine',
              note: null,
            },
            {
              ...ref,
              fiber_id: 'work/killed',
              since: Date.now() - 60_000,
              reason: 'killed',
              note: 'wrong branch',
            },
          ],
          standing_roles: [
            {
              ...ref,
              fiber_id: 'roles/daily',
              schedule: '0 9 * * *',
              tz: 'Europe/Paris',
              state: 'armed',
              auto_accept: false,
              next_due_at: Date.now() + 7_300_000,
              error: null,
            },
          ],
          poll_health: {
            ...stateAnswer().poll_health,
            stores: [
              {
                store: '/srv/a',
                ...OWN_LEASE,
                state: 'stale',
                fibers: 2,
                last_ok_at: null,
                last_ms: null,
                error: 'it did not answer',
              },
            ],
            mux: { state: 'unknown', detail: 'timed out', owner: { kind: 'unknown', name: null } },
          },
        }),
      },
    });
    const { code, out } = await machine.svc('status');
    expect(code).toBe(0);
    expect(out).toMatch(/^daemon +pid /);
    expect(out).toMatch(/\/srv\/a +stale +2 +never +it did not answer\n/);
    expect(out).toMatch(/work\/loader +claude-sonnet +working +3 min +5 s ago/);
    expect(out).toMatch(
      /work\/stuck +project_dir_missing +3 +in 2 min +\/srv\/gone is not a folder; make it/,
    );
    expect(out).toMatch(/work\/held +1 min ago +boot_quarantine +svc daemon release\n/);
    expect(out).toMatch(/work\/killed +1 min ago +killed \(wrong branch\) +svc resume work\/killed\n/);
    expect(out).toMatch(
      /capture-1 +pi +.* ended \(exited with 3\) +\/data\/runs\/r\/text\.md\nTo try it again: svc capture - --project-dir \/srv\/dev --agent pi --store \/srv\/notes --effort high --surface cli < \/data\/runs\/r\/text\.md\nOr take it off the list: svc incident dismiss r\n/,
    );
    expect(out).toMatch(/roles\/daily +0 9 \* \* \* +Europe\/Paris +in 2 h\n/);
    expect(out).toContain('tmux does not answer: timed out; see: svc doctor');
  });

  it('leaves out empty sections', async () => {
    const health = { ...stateAnswer().poll_health, stores: [] };
    await serve({
      'GET /version': { body: versionAnswer() },
      'GET /state': { body: stateAnswer({ poll_health: health }) },
    });
    const { out } = await machine.svc('status');
    expect(out).toContain('No store is configured');
    expect(out).toContain('No worker runs.');
    for (const title of ['Captures', 'Blocked', 'Held back', 'Standing roles'])
      expect(out).not.toContain(title);
  });

  it('[RDY-1] says that the daemon is booting', async () => {
    await serve({ 'GET /version': { body: versionAnswer({ ready: false }) } });
    expect(await machine.svc('status')).toMatchObject({
      code: 1,
      err: expect.stringContaining('still starting'),
    });
  });

  it('shows one fiber, whatever characters its id contains', async () => {
    const blocked = {
      reason: 'agent_unavailable',
      message: 'claude is not on the PATH',
      attempts: 2,
      first_attempted_at: 1,
      attempted_at: 2,
      retry_at: null,
    };
    const fiber = fiberAnswer({
      id: 'wörk/a b',
      name: 'Two\u001b[31m\nlines',
      status: 'closed',
      tempered: true,
      svc: { agent: 'claude-sonnet', effort: 'high', schedule: '0 9 * * 1', tz: 'UTC' },
      blocked,
    });
    await serve({ 'GET /fibers/w%C3%B6rk/a%20b': { body: { fiber } } });
    const { code, out } = await machine.svc('status', 'wörk/a b');
    expect(code).toBe(0);
    expect(out).toMatch(/^wörk\/a b\n {2}name +Two\\u001b\[31m lines\n/);
    expect(out).toMatch(/status +closed, accepted\n/);
    expect(out).toMatch(/agent +claude-sonnet \(high\)\n/);
    expect(out).toMatch(/schedule +0 9 \* \* 1 UTC\n/);
    expect(out).toMatch(
      /blocked +agent_unavailable: claude is not on the PATH \(2 tries, no further try by itself\)\n/,
    );
  });

  it('says that there is no such fiber', async () => {
    const body = { error: 'fiber_not_found', message: 'there is no fiber work/none' };
    await serve({ 'GET /fibers/work/none': { status: 404, body } });
    expect(await machine.svc('status', 'work/none', '--json')).toEqual({
      code: 1,
      out: '',
      err: `${JSON.stringify(body)}\n`,
    });
  });
});

describe('svc ps', () => {
  it('lists the workers as a table or as JSON', async () => {
    const app = runningRow({
      fiber_id: 'talk',
      surface: 'app',
      mux_session: null,
      state: 'starting',
      last_activity_at: null,
    });
    await serve({ 'GET /state': { body: stateAnswer({ running: [runningRow(), app] }) } });
    const { out } = await machine.svc('ps');
    expect(out.split('\n')[0]).toMatch(/^FIBER +AGENT +PHASE +FOR +LAST SIGN +SESSION$/);
    expect(out).toMatch(/talk +claude-sonnet +starting +3 min +- +\(app\)\n/);
    expect(JSON.parse((await machine.svc('ps', '--json')).out)).toEqual(
      [runningRow(), app].map((row) => ({
        ...row,
        started_at: expect.any(Number),
        last_activity_at: row.last_activity_at === null ? null : expect.any(Number),
      })),
    );
  });

  it('says that none runs', async () => {
    await serve({ 'GET /state': { body: stateAnswer() } });
    expect(await machine.svc('ps')).toEqual({ code: 0, out: 'No worker runs.\n', err: '' });
  });
});

describe('svc dispatch', () => {
  const launched = {
    dispatched: true,
    already_running: false,
    fiber_id: 'work/loader',
    host: 'host-a',
    surface: 'cli',
    mux_session: 'loader-x-svc',
    session_uuid: null,
    run_id: 'r',
    agent: 'claude-sonnet',
    harness: 'claude',
  };

  it('[WPL-1] sends the request and names the session', async () => {
    const { seen } = await serve({ 'POST /dispatch': { body: launched } });
    const { code, out } = await machine.svc(
      'dispatch',
      'work/loader',
      '--force',
      '--message',
      'hi',
      '--project-dir',
      'sub',
    );
    expect({ code, out }).toEqual({
      code: 0,
      out: 'work/loader started: claude-sonnet in loader-x-svc\nWatch it with: svc attach loader-x-svc\n',
    });
    await machine.svc('dispatch', 'work/loader', '--json');
    expect(seen.map((call) => call.body)).toEqual([
      { fiber_id: 'work/loader', force: true, user_message: 'hi', project_dir: `${machine.folder}/sub` },
      { fiber_id: 'work/loader' },
    ]);
  });

  it('says that a worker runs already', async () => {
    await serve({ 'POST /dispatch': { body: { ...launched, already_running: true } } });
    expect((await machine.svc('dispatch', 'work/loader')).out).toMatch(/^work\/loader runs already: /);
  });

  it('[RES-7] [P10] sends the resume mode, and reports that it resumed, with its warnings', async () => {
    const body = { ...launched, resumed: true, notes: ['the account is over its limit'] };
    const { seen } = await serve({ 'POST /dispatch': { body } });
    const { out } = await machine.svc('dispatch', 'work/loader', '--resume-mode', 'previous');
    expect(out).toContain('work/loader resumed: claude-sonnet in loader-x-svc\n');
    expect(out).toContain('Note: the account is over its limit\n');
    expect(seen.map((call) => call.body)).toEqual([{ fiber_id: 'work/loader', resume_mode: 'previous' }]);
    expect((await machine.svc('dispatch', 'work/loader', '--resume-mode', 'sometimes')).code).toBe(2);
    expect(seen).toHaveLength(1);
  });

  it('[WPL-1] prints a refusal and the missing input', async () => {
    const refusal = {
      dispatched: false,
      reason: 'arm_refused',
      fiber_id: 'work/loader',
      host: 'host-a',
      message: 'it has no folder',
      needs: 'project_dir',
    };
    await serve({ 'POST /dispatch': { status: 422, body: refusal } });
    expect(await machine.svc('dispatch', 'work/loader')).toEqual({
      code: 1,
      out: '',
      err: 'svc: it has no folder; name the folder with --project-dir\n',
    });
    const json = await machine.svc('dispatch', 'work/loader', '--json');
    expect({ code: json.code, body: JSON.parse(json.out) }).toEqual({ code: 1, body: refusal });
  });
});

describe('svc kill', () => {
  it('[WPL-4] stops a worker', async () => {
    const body = { killed: true, fiber_id: 'work/loader', mux_session: 'loader-x-svc' };
    await serve({ 'POST /kill': { body } });
    expect(await machine.svc('kill', 'work/loader')).toEqual({
      code: 0,
      out:
        'Stopped work/loader (loader-x-svc)\n' +
        'It is held, also when the daemon is started anew; let it go on with: svc resume work/loader\n',
      err: '',
    });
  });

  it('counts an ended worker as stopped, but refuses a fiber that does not exist', async () => {
    const server = await serve({ 'POST /kill': { status: 404, body: { error: 'no_worker' } } });
    expect(await machine.svc('kill', 'a')).toEqual({ code: 0, out: 'No worker runs for a\n', err: '' });
    await server.close();
    await serve({ 'POST /kill': { status: 404, body: { error: 'fiber_not_found', message: 'no fiber a' } } });
    expect(await machine.svc('kill', 'a')).toEqual({ code: 1, out: '', err: 'svc: no fiber a\n' });
  });
});

describe('the session to attach to', () => {
  const loader = runningRow();
  const other = runningRow({ fiber_id: 'old/loader', uid: null, mux_session: 'loader-2-svc' });

  it.each([
    ['the canonical id', 'work/loader'],
    ['the uid', loader.uid!],
    ['the session', loader.mux_session!],
  ])('is found by %s', (_, name) => {
    expect(chooseSession([other, loader], name)).toBe(loader.mux_session);
  });

  it('is found by the last part of a unique id', () => {
    expect(chooseSession([loader], 'loader')).toBe(loader.mux_session);
    expect(() => chooseSession([loader, other], 'loader')).toThrow(
      /loader names 2 running fibers: .*give a uid/,
    );
  });

  it.each([
    ['loader', ['host-b', 'host-c']],
    ['work/loader', ['host-b']],
    ['old/loader', ['host-c']],
    ['nobody', []],
  ])('%s of other hosts runs on %j', (name, hosts) => {
    const origins = {
      'host-a': { read: { running: [loader] } },
      'host-b': { read: { running: [loader] } },
      'host-c': { read: { running: [other] } },
      'host-d': { read: null },
    };
    expect(hostsThatRun(name, 'host-a', origins).map(({ host }) => host)).toEqual(hosts);
  });

  it('does not exist for a fiber that does not run, or that runs in the app', () => {
    expect(() => chooseSession([loader], 'loade')).toThrow('svc ps lists those that run');
    expect(() => chooseSession([runningRow({ mux_session: null })], 'work/loader')).toThrow(
      'has no terminal',
    );
  });
});
