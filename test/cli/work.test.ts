import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chooseSession, hostsThatRun } from '../../src/cli/verbs/attach/choose-worker.ts';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { State } from '../../src/contract/http/state.ts';
import { fiberAnswer, OWN_LEASE, runningRow, stateAnswer, versionAnswer } from './answers.ts';
import { type Answers, createMachine, type Machine, serveDaemon } from './kit.ts';

let machine: Machine;

beforeEach(() => {
  machine = createMachine();
});
afterEach(() => machine.remove());

const serve = (answers: Answers) => serveDaemon(machine, answers);

describe('svc status', () => {
  const answers = (state: State, fibers: readonly FiberRow[] = []): Answers => ({
    'GET /version': { body: versionAnswer() },
    'GET /state': { body: state },
    'GET /fibers': { body: { fibers } },
  });

  it('[OPF-4] names an operator file that is not valid, in one whole sentence', async () => {
    const error =
      '/etc/svc/agents.json is not valid at agents.0.harness: unknown; correct it, or remove the file';
    const path = '/etc/svc/agents.json';
    await serve(answers(stateAnswer({ operator_file_errors: [{ file: 'agents', path, error }] })));
    expect((await machine.svc('status')).out).toContain(
      `fault\tagents.json\t${error}\t\tsvc daemon status\n`,
    );
    expect((await machine.svc('daemon', 'status')).out).toContain(
      `\nOperator files with an error, not used as they are now\n${error}\n`,
    );
  });

  it('[OPR-2] shows on one page what needs a person, what runs, what cannot start and what comes next', async () => {
    const { fiber_id: _, uid: __, store: ___, ...runtime } = runningRow();
    const svc = { kind: 'oneshot' as const, host: 'host-a' };
    const blocked = {
      reason: 'project_dir_missing',
      message: 'the project folder /srv/gone is not a directory; make it or name another',
      attempts: 3,
      first_attempted_at: 1,
      attempted_at: 2,
      retry_at: Date.now() + 125_000,
    };
    const rows = [
      fiberAnswer({ id: 'work/loader', runtime }),
      fiberAnswer({ id: 'work/stuck', svc, project_dir: '/srv/gone', blocked }),
      fiberAnswer({ id: 'work/held', svc, held: 'boot_quarantine', gate: 'held' }),
      fiberAnswer({ id: 'work/killed', svc, held: 'killed', held_note: 'wrong branch', gate: 'held' }),
      fiberAnswer({
        id: 'roles/daily',
        svc: { ...svc, kind: 'standing' },
        next_due_at: Date.now() + 10 * 86_400_000,
      }),
    ];
    await serve(
      answers(
        stateAnswer({
          running: [runningRow()],
          pending_launch: [
            {
              ...{ uid: null, store: '/srv/notes', fiber_id: 'work/killed', note: 'wrong branch' },
              ...{ since: Date.now() - 60_000, reason: 'killed' },
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
              ended_reason: 'agent_missing',
              effort: 'high',
              prompt_file: '/data/runs/r/prompt.md',
              text_file: '/data/runs/r/text.md',
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
        rows,
      ),
    );
    const { code, out } = await machine.svc('status');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^needs you\ta capture\tpi made no fiber of it: the program of its agent was not found; .*\tsvc daemon status\n/,
    );
    expect(out).toContain('working\twork/loader\tclaude-sonnet\t3 min\t-\t\n');
    expect(out).toContain(
      'cannot start\twork/stuck\tfolder /srv/gone is not a directory\t\tsvc reshape work/stuck --project-dir <folder>\n',
    );
    expect(out).toContain('cannot start\twork/held\theld since the restart\t\tsvc daemon release\n');
    expect(out).toContain(
      'cannot start\twork/killed\tstopped by you: wrong branch\t1 min\tsvc resume work/killed\n',
    );
    expect(out).toContain('fault\t/srv/a\tit did not answer\t\tsvc daemon status\n');
    expect(out).toContain('fault\ttmux\tdoes not answer: timed out\t\tsvc doctor\n');
    expect(out).toMatch(/next\troles\/daily\t/);

    const daemon = (await machine.svc('daemon', 'status')).out;
    expect(daemon).toMatch(/^daemon +pid /);
    expect(daemon).toMatch(/\/srv\/a\tstale\t2\tnever\tit did not answer\n/);
    expect(daemon).toMatch(
      /capture-1\tpi\t.*\tended \(the program of its agent was not found\)\t\/data\/runs\/r\/text\.md\nTo try it again: svc capture - --project-dir \/srv\/dev --agent pi --store \/srv\/notes --effort high --surface cli < \/data\/runs\/r\/text\.md\nOr take it off the list: svc incident dismiss r\n/,
    );
    expect(daemon).toContain('tmux does not answer: timed out; see: svc doctor');
  });

  it('leaves out what there is nothing of', async () => {
    const health = { ...stateAnswer().poll_health, stores: [] };
    await serve(answers(stateAnswer({ poll_health: health }), [fiberAnswer({ status: 'open' })]));
    expect((await machine.svc('status')).out.split('\n').map((line) => line.split('\t')[0])).toEqual([
      'fault',
      'host',
      '',
    ]);
    const daemon = (await machine.svc('daemon', 'status')).out;
    expect(daemon).toContain('No store is watched');
    for (const title of ['Captures', 'Incidents']) expect(daemon).not.toContain(title);
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
    expect(out).toMatch(/blocked +claude is not on the PATH; tried 2 times, not again by itself\n/);
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
  it('[DSP-6] lists the workers, and who works in the same folder, as a table or as JSON', async () => {
    const app = runningRow({
      fiber_id: 'talk',
      surface: 'app',
      mux_session: null,
      state: 'starting',
      last_activity_at: null,
    });
    const loader = fiberAnswer({ id: 'work/loader', shares_folder_with: ['talk', 'parser'] });
    await serve({
      'GET /state': { body: stateAnswer({ running: [runningRow(), app] }) },
      'GET /fibers': { body: { fibers: [loader, fiberAnswer({ id: 'talk' })] } },
    });
    const { out } = await machine.svc('ps');
    expect(out).toContain('talk\tclaude-sonnet\tstarting\t3 min\t-\t-\t-\n');
    expect(out).toMatch(/^work\/loader\t.*\ttalk, parser$/m);
    expect((await machine.svc('ps', '--verbose')).out).toContain(
      'talk\tclaude-sonnet\tstarting\t3 min\t-\t-\t-\t(app)\n',
    );
    expect(JSON.parse((await machine.svc('ps', '--json')).out)).toEqual(
      [runningRow(), app].map((row) => ({
        ...row,
        started_at: expect.any(Number),
        last_activity_at: row.last_activity_at === null ? null : expect.any(Number),
      })),
    );
  });

  it('[CAP-1] lists a capture that has no fiber yet, as a table or as JSON', async () => {
    const capture = {
      ...{
        surface: 'cli',
        mux_session: 'capture-01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z',
        session_uuid: null,
        run_id: 'r',
      },
      ...{
        agent: 'claude-sonnet',
        harness: 'claude',
        project_dir: '/srv',
        store: '/srv/notes',
        effort: null,
      },
      ...{
        captured_at: 1,
        ended_at: null,
        ended_reason: null,
        prompt_file: '/p',
        text_file: null,
      },
    };
    const ended = { ...capture, state: 'ended' };
    const body = stateAnswer({ captures: [{ ...capture, state: 'running' }, ended] } as never);
    await serve({ 'GET /state': { body }, 'GET /fibers': { body: { fibers: [] } } });
    expect((await machine.svc('ps')).out).toMatch(/^capture-01K5A5ZK\t.*no fiber yet/m);
    expect(JSON.parse((await machine.svc('ps', '--json')).out)).toEqual([
      { ...capture, state: 'running', fiber_id: null },
    ]);
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
      '--yes',
      '--message',
      'hi',
      '--project-dir',
      'sub',
    );
    expect({ code, out }).toEqual({
      code: 0,
      out: 'work/loader started: claude-sonnet\nWatch it with: svc attach work/loader\n',
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

  it('[WPL-1] says what became of the message to a worker that runs already', async () => {
    const receipt = { message_id: 'm', address: 'svc://host-a/claude/s', at: 1, detail: 'it ended' };
    const answer = async (status: string, note: string) => {
      const told = { receipt: { ...receipt, status, transport: 'none' }, notes: [note] };
      await serve({ 'POST /dispatch': { body: { ...launched, already_running: true, ...told } } });
      return machine.svc('dispatch', 'work/loader', '--message', 'hi');
    };
    expect(await answer('submitted', 'the message was sent')).toMatchObject({
      ...{ code: 0, out: expect.stringContaining('Note: the message was sent\n') },
    });
    expect(await answer('rejected', 'it was not told the message')).toMatchObject({
      ...{ code: 1, out: expect.stringContaining('Note: it was not told the message\n') },
    });
  });

  it('[RES-7] [P10] sends the resume mode, and reports that it resumed, with its warnings', async () => {
    const body = { ...launched, resumed: true, notes: ['the account is over its limit'] };
    const { seen } = await serve({ 'POST /dispatch': { body } });
    const { out } = await machine.svc('dispatch', 'work/loader', '--resume-mode', 'previous');
    expect(out).toContain('work/loader resumed: claude-sonnet\n');
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
    expect(await machine.svc('kill', 'work/loader', '--yes')).toEqual({
      code: 0,
      out:
        'Stopped work/loader.\n' +
        'It is held, also when the daemon is restarted; let it go on with: svc resume work/loader\n',
      err: '',
    });
  });

  it('counts an ended worker as stopped, but refuses a fiber that does not exist', async () => {
    const server = await serve({ 'POST /kill': { status: 404, body: { error: 'no_worker' } } });
    expect(await machine.svc('kill', 'a', '--yes')).toEqual({
      code: 0,
      out: 'No worker runs for a\n',
      err: '',
    });
    await server.close();
    const late = 'The poller component did not answer kill within 30000 ms';
    await serve({
      'POST /kill': { status: 504, body: { error: 'deadline_exceeded', message: `${late}; try again` } },
    });
    expect((await machine.svc('kill', 'a', '--yes')).err).toBe(
      `svc: ${late}; whether it was done is not known; look with svc status before you do it again\n`,
    );
    await server.close();
    await serve({ 'POST /kill': { status: 404, body: { error: 'fiber_not_found', message: 'no fiber a' } } });
    expect(await machine.svc('kill', 'a', '--yes')).toEqual({ code: 1, out: '', err: 'svc: no fiber a\n' });
  });
});

describe('the session to attach to', () => {
  const typed = (name: string) => ({ name, is_called: false });
  const loader = runningRow();
  const other = runningRow({ fiber_id: 'old/loader', uid: null, mux_session: 'loader-2-svc' });

  it.each([
    ['the canonical id', 'work/loader'],
    ['the uid', loader.uid!],
    ['the session', loader.mux_session!],
  ])('is found by %s', (_, name) => {
    expect(chooseSession([other, loader], typed(name))).toBe(loader.mux_session);
  });

  it('is found by the last part of a unique id', () => {
    expect(chooseSession([loader], typed('loader'))).toBe(loader.mux_session);
    expect(chooseSession([loader, other], typed('work/lo'))).toBe(loader.mux_session);
    expect(() => chooseSession([loader, other], typed('loader'))).toThrow(
      /loader may be work\/loader or old\/loader; give more of the id, or the ULID/,
    );
    const elsewhere = { ...loader, store: '/srv/elsewhere' };
    expect(() => chooseSession([loader, elsewhere], typed('loader'))).toThrow(
      /loader may be work\/loader in .* or work\/loader in \/srv\/elsewhere; give/,
    );
  });

  it('is never that of another fiber whose id begins so, where a fiber is called as was typed', () => {
    const called = { name: 'load', is_called: true };
    expect(() => chooseSession([loader], called)).toThrow('svc why load says how to start one');
    expect(hostsThatRun(called, 'host-a', { 'host-b': { read: { running: [loader] } } })).toEqual([]);
    expect(chooseSession([loader], { name: 'loader', is_called: true })).toBe(loader.mux_session);
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
    expect(hostsThatRun(typed(name), 'host-a', origins).map(({ host }) => host)).toEqual(hosts);
  });

  it('does not exist for a fiber that does not run, or that runs in the app', () => {
    expect(() => chooseSession([loader], typed('nobody'))).toThrow('no fiber here is called so');
    expect(() => chooseSession([loader], typed('oader'))).toThrow(
      'no worker runs for oader. Did you mean loader?',
    );
    expect(() => chooseSession([runningRow({ mux_session: null })], typed('work/loader'))).toThrow(
      'has no terminal',
    );
  });
});
