import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeferred } from '../../../src/base/deferred.ts';
import type { DirectoryLook } from '../../../src/dispatch/world/world.ts';
import type { Proof } from '../../../src/platform/disks.ts';
import { until } from '../../kit/until.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

const MINUTE = 60_000;
let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const dispatch = (fiber_id: string, more = {}) =>
  world.run(daemon.dispatcher.dispatch({ fiber_id, ...more }));

describe('a launch', () => {
  it('[LIF-1] [DSP-2] [DSP-9] starts a worker for an eligible fiber and marks the document', async () => {
    world.fiber('work/loader');
    await round();
    expect(world.machine.creates).toHaveLength(1);
    expect(world.machine.creates[0]?.name).toMatch(/^loader-01K[0-9]+-svc$/);
    const row = daemon.row('work/loader');
    expect(row?.runtime).toMatchObject({ state: 'starting', phase: 'unknown', last_activity_at: null });
    expect(row?.svc?.runtime).toMatchObject({
      dispatched_at: new Date(row?.runtime?.started_at ?? 0).toISOString(),
      run_id: row?.runtime?.run_id,
      session_uuid: row?.runtime?.session_uuid,
    });
    expect(world.ledger).toMatchObject([{ fiber: 'work/loader', kind: 'dispatch', by_request: false }]);
  });

  it('[DSP-2] is for every active fiber, one with a verdict from an earlier run too', async () => {
    world.fiber('a', {}, { tempered: 'true' });
    await round();
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[EVT-4] is recorded as asked for where it was, also by the daemon of after a restart', async () => {
    world.fiber('a', {}, { status: 'open' });
    await dispatch('a');
    expect(world.ledger).toMatchObject([{ kind: 'dispatch', by_request: true }]);
    daemon = world.boot();
    await world.run(daemon.dispatcher.reconcile());
    expect(daemon.memory.runs.all()).toMatchObject([{ by_request: true }]);
  });

  it('[P13] is one for 50 parallel dispatches and polls of one fiber', async () => {
    world.fiber('a');
    world.machine.latency_ms = 40;
    const asked = Array.from({ length: 50 }, (_, turn) =>
      turn % 5 === 0
        ? daemon.round().then(() => null)
        : daemon.dispatcher.dispatch({ fiber_id: 'a' }).then((reply) => reply),
    );
    const replies = (await world.run(Promise.all(asked))).filter((reply) => reply !== null);
    expect(world.machine.creates).toHaveLength(1);
    expect(new Set(replies.map((reply) => 'run_id' in reply && reply.run_id)).size).toBe(1);
    expect(replies.filter((reply) => reply.dispatched && !reply.already_running).length).toBeLessThan(2);
  });

  it('[P13] has its claim and its way back on disk before the document is marked or a session made', async () => {
    world.fiber('a');
    world.crashIn(1_000);
    const { create } = daemon.world.mux;
    let claimed: unknown;
    daemon.world.mux.create = (spec) => {
      claimed = daemon.world.runDirectories.all();
      return create(spec);
    };
    await round();
    expect(claimed).toMatchObject([
      { fiber: 'a', state: 'claimed', undo: { unset: expect.arrayContaining(['svc.runtime.run_id']) } },
    ]);
  });

  it('[DSP-4] [P32] looks at the project_dir of the fiber it is about to start and of no other', async () => {
    world.fiber('started', { project_dir: '/srv/one' });
    world.fiber('closed', { project_dir: '/srv/two' }, { status: 'closed' });
    world.fiber('foreign', { project_dir: '/srv/three', host: 'host-b' });
    world.fiber(
      'later',
      { project_dir: '/srv/four', kind: 'standing', schedule: '"0 0 1 1 *"' },
      {
        'created-at': '2026-01-05T08:00:00.000Z',
      },
    );
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(world.looked).toEqual(['/srv/one']);
  });

  it('[WPL-1] of a running fiber answers that it runs; force cuts it and starts fresh', async () => {
    world.fiber('a');
    await round();
    const first = world.machine.worker('a');
    expect(await dispatch('a')).toMatchObject({ dispatched: true, already_running: true });
    expect(world.machine.creates).toHaveLength(1);
    const forced = await dispatch('a', { force: true });
    expect(forced).toMatchObject({ dispatched: true, already_running: false });
    expect([first.alive, world.machine.living.length]).toEqual([false, 1]);
    expect(daemon.row('a')?.runtime?.run_id).toBe('run_id' in forced ? forced.run_id : '');
  });

  it('[WPL-1] of a running fiber says what the worker that runs was not given', async () => {
    world.fiber('a');
    await dispatch('a');
    expect(await dispatch('a')).not.toHaveProperty('notes');
    expect(await dispatch('a', { user_message: ' ' })).not.toHaveProperty('notes');
    expect(await dispatch('a', { user_message: 'stop', project_dir: '/srv/other' })).toMatchObject({
      already_running: true,
      notes: [
        'the worker that runs stays in its folder; to end it and start a fresh one: `svc dispatch a --project-dir /srv/other --force`',
      ],
    });
  });

  it('[WPL-1] that is forced but refused leaves the running worker alone', async () => {
    world.fiber('a');
    await round();
    world.directories.set('/nowhere', { kind: 'missing' });
    const reply = await dispatch('a', { force: true, project_dir: '/nowhere' });
    expect(reply).toMatchObject({ dispatched: false, reason: 'arm_refused', needs: 'project_dir' });
    expect(world.machine.living).toHaveLength(1);
    expect(world.documents.writes).toBe(1);
  });

  it.each([
    ['closed', { status: 'closed', tempered: 'true', 'closed-at': '2026-01-02T00:00:00.000Z' }],
    ['parked', { status: 'open' }],
  ])('[LIF-3] [LIF-4] by request arms a %s fiber in one write', async (_, top) => {
    world.fiber('a', {}, top);
    expect(await dispatch('a')).toMatchObject({ dispatched: true });
    expect(world.documents.writes).toBe(1);
    const row = daemon.row('a');
    expect([row?.status, row?.tempered, row?.closed_at]).toEqual(['active', undefined, undefined]);
  });

  it.each(['closed', 'open'])(
    '[LIF-3] [LIF-4] by request cuts the worker of a fiber that is %s, arms it, and starts fresh',
    async (status) => {
      const path = world.fiber('a');
      await round();
      const first = world.machine.worker('a');
      world.documents.edit(path, (text) => text.replace('status: active', `status: ${status}`));
      expect(await dispatch('a')).toMatchObject({ dispatched: true, already_running: false });
      expect([first.alive, world.machine.living.length]).toEqual([false, 1]);
      expect(daemon.row('a')?.status).toBe('active');
      expect(await dispatch('a')).toMatchObject({ dispatched: true, already_running: true });
    },
  );

  it('[WPL-1] saves a confirmed directory in the same write and starts the worker there', async () => {
    world.fiber('a', { project_dir: '/gone' });
    world.directories.set('/gone', { kind: 'missing' });
    expect(await dispatch('a')).toMatchObject({ reason: 'arm_refused', needs: 'project_dir' });
    expect(await dispatch('a', { project_dir: '/srv/other' })).toMatchObject({ dispatched: true });
    expect(daemon.row('a')?.svc?.project_dir).toBe('/srv/other');
    expect(world.machine.creates[0]?.cwd).toBe('/srv/other');
    expect(world.documents.writes).toBe(1);
  });

  it('keeps a project_dir that was edited on disk since the last listing', async () => {
    const path = world.fiber('a', { project_dir: '/old' });
    world.documents.edit(path, (text) => text.replace('/old', '/new'));
    await world.run(daemon.dispatcher.reconcile());
    await world.run(daemon.dispatcher.rounds.startDue());
    expect(world.machine.creates[0]?.cwd).toBe('/new');
    expect(world.documents.files.get(path)).toContain('project_dir: /new');
  });

  it('does not start what was disarmed on disk since the last listing, and refuses nothing', async () => {
    const path = world.fiber('a');
    await world.run(daemon.dispatcher.reconcile());
    world.documents.edit(path, (text) => text.replace('status: active', 'status: open'));
    await world.run(daemon.dispatcher.rounds.startDue());
    expect([world.machine.creates.length, daemon.state().blocked.length]).toEqual([0, 0]);
  });

  it('does not start what is edited while its directory is being looked at', async () => {
    const path = world.fiber('a');
    daemon.world.lookAtDirectory = async (real) => {
      world.documents.edit(path, (text) => text.replace('status: active', 'status: open'));
      return { kind: 'directory', real };
    };
    await round();
    expect([world.machine.creates.length, daemon.state().blocked.length]).toEqual([0, 0]);
    expect(world.documents.files.get(path)).toContain('status: open');
  });

  it('takes a session that is there although its start was said to have failed for what it is', async () => {
    world.fiber('a');
    world.machine.next = 'refuse_but_start';
    await round();
    expect(daemon.row('a')?.runtime?.state).toBe('starting');
    expect(daemon.row('a')?.blocked).toBeUndefined();
    expect(world.ledger).toHaveLength(1);
  });

  it('[P4] waits for an answer when tmux tells neither that a session is there nor that it is not', async () => {
    world.fiber('a');
    const { create } = daemon.world.mux;
    daemon.world.mux.create = async (spec) => {
      world.machine.next = 'refuse_but_start';
      const created = await create(spec);
      world.machine.listing = 'unknown';
      return created;
    };
    await round();
    expect(daemon.row('a')).toMatchObject({
      runtime: { state: 'claimed' },
      blocked: { reason: 'mux_unavailable' },
    });
    world.machine.listing = 'normal';
    await round();
    expect(daemon.row('a')?.runtime?.state).toBe('starting');
    expect(daemon.row('a')?.blocked).toBeUndefined();
    expect(world.machine.creates).toHaveLength(1);
  });
});

describe('a refusal', () => {
  const LOOKS: [string, string, DirectoryLook][] = [
    ['project_dir_missing', 'a directory that is not there', { kind: 'missing' }],
    ['project_dir_missing', 'a file', { kind: 'not_directory' }],
    ['project_dir_missing', 'an unreadable directory', { kind: 'unreadable', detail: 'EACCES' }],
    ['project_dir_unreachable', 'a silent disk', { kind: 'silent', after_ms: 5_000, place: '/srv' }],
    ['project_dir_in_store', 'a folder of a store', { kind: 'in_store' }],
  ];
  it.each(LOOKS)('[DSP-4] [DSP-5] is %s for %s', async (reason, _, look) => {
    world.directories.set('/srv/dev', look);
    world.fiber('a');
    await round();
    expect(daemon.row('a')?.blocked).toMatchObject({ reason, attempts: 1 });
    expect(world.machine.creates).toEqual([]);
    expect(world.documents.writes).toBe(0);
  });

  it('[DSP-5] for a silent disk is lifted when the disk answers, however long the cooldown still lasts', async () => {
    world.directories.set('/srv/dev', { kind: 'silent', after_ms: 5_000, place: '/srv' });
    world.fiber('a');
    await round();
    await round();
    expect(daemon.row('a')?.blocked).toMatchObject({ reason: 'project_dir_unreachable', attempts: 1 });
    world.directories.clear();
    await round();
    expect(daemon.row('a')?.blocked).toBeUndefined();
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[DSP-4] does not come of the disk of another fiber: who waits for one holds up nobody, and follows', async () => {
    daemon.memory.most_workers = 2;
    for (const id of ['a', 'b', 'c', 'd', 'e']) world.fiber(id, { project_dir: `/net/${id}` });
    world.fiber('well');
    const answer = createDeferred<Proof>();
    daemon.world.disks.prove = (path) => (path === '/srv/dev' ? Promise.resolve('answers') : answer.promise);
    await round();
    expect(daemon.row('well')?.runtime?.state).toBe('starting');
    expect(world.machine.creates).toHaveLength(1);
    expect(daemon.state().blocked).toEqual([]);
    answer.resolve('answers');
    await until('a start of those that waited', () => {
      world.clock.advance(1);
      return world.machine.creates.length === 2;
    });
  });

  it('[DSP-5] does not come of a look that got no turn', async () => {
    world.directories.set('/srv/dev', { kind: 'unchecked' });
    world.fiber('a');
    await round();
    expect(daemon.state().blocked).toEqual([]);
    expect(await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a' }))).toMatchObject({
      dispatched: false,
      reason: 'queue_full',
    });
    world.directories.clear();
    await round();
    expect(world.machine.creates).toHaveLength(1);
  });

  it.each([
    ['uid_missing', {}, { id: null }],
    ['project_dir_missing', { project_dir: 'relative/path' }, {}],
    ['project_dir_missing', { project_dir: '/srv/a\0b' }, {}],
    ['agent_unknown', { agent: 'nobody' }, {}],
    ['effort_unknown', { effort: 'heroic' }, {}],
  ])(
    '[DSP-5] [DSP-9] is %s by the document alone, and no directory is looked at',
    async (reason, svc, top) => {
      world.fiber('a', svc, top);
      await round();
      expect(daemon.state().blocked).toMatchObject([{ fiber_id: 'a', reason }]);
      expect(world.looked).toEqual([]);
    },
  );

  it('[DSP-5] [LIM-16] is tried again once per cooldown of 5 minutes, and a later success clears it', async () => {
    world.directories.set('/srv/dev', { kind: 'missing' });
    world.fiber('a');
    for (let turn = 0; turn < 4; turn += 1) {
      await round();
      world.clock.advance(MINUTE);
    }
    expect(world.looked).toHaveLength(1);
    world.clock.advance(2 * MINUTE);
    await round();
    expect([world.looked.length, daemon.row('a')?.blocked?.attempts]).toEqual([2, 2]);
    world.directories.clear();
    world.clock.advance(6 * MINUTE);
    await round();
    expect(daemon.row('a')?.blocked).toBeUndefined();
    expect(daemon.row('a')?.runtime).toBeDefined();
  });

  it('[DSP-5] is tried again at once after the clock was set back, for its cooldown was told by the other time', async () => {
    world.directories.set('/srv/dev', { kind: 'missing' });
    world.fiber('a');
    await round();
    world.directories.clear();
    world.clock.jumpTo(world.clock.now() - 360 * MINUTE);
    await round();
    expect(daemon.row('a')).toMatchObject({ runtime: { state: expect.any(String) } });
    expect(daemon.state().blocked).toEqual([]);
  });

  it('[ERR-17] by request has its own reason, or arm_refused where a directory fixes it', async () => {
    world.fiber('no-uid', {}, { id: null });
    world.fiber('no-dir', { project_dir: 'x' });
    world.fiber('foreign', { host: 'host-b' });
    world.documents.write('plain', 'name: plain\nstatus: active');
    world.documents.list();
    const asked = [];
    for (const id of ['no-uid', 'no-dir', 'foreign', 'plain']) asked.push(await dispatch(id));
    expect(asked.map((reply) => 'reason' in reply && [reply.reason, reply.needs])).toEqual([
      ['uid_missing', undefined],
      ['arm_refused', 'project_dir'],
      ['arm_refused', undefined],
      ['arm_refused', undefined],
    ]);
    expect(
      daemon
        .state()
        .blocked.map((row) => row.fiber_id)
        .sort(),
    ).toEqual(['no-dir', 'no-uid']);
  });

  it('is forgotten when the fiber is disarmed, taken from this host or loses its svc block', async () => {
    world.directories.set('/srv/dev', { kind: 'missing' });
    const paths = ['a', 'b', 'c'].map((id) => world.fiber(id));
    await round();
    expect(daemon.state().blocked).toHaveLength(3);
    world.documents.edit(paths[0]!, (text) => text.replace('active', 'open'));
    world.documents.edit(paths[1]!, (text) => text.replace('host-a', 'host-b'));
    world.documents.edit(paths[2]!, (text) => text.replace(/svc:[\s\S]*---/, '---'));
    await round();
    expect(daemon.state().blocked).toEqual([]);
    expect(daemon.row('c')?.blocked).toBeUndefined();
  });

  it('[DSP-9] is made for each of two documents that have one ULID, in both rows', async () => {
    const path = world.fiber('a');
    world.documents.files.set(
      path.replaceAll('/a', '/b'),
      world.documents.files.get(path)!.replace('name: a', 'name: b'),
    );
    world.documents.list();
    await round();
    expect(world.machine.creates).toEqual([]);
    expect([daemon.row('a')?.blocked?.reason, daemon.row('b')?.blocked?.reason]).toEqual([
      'ambiguous_fiber',
      'ambiguous_fiber',
    ]);
    expect(await dispatch('a')).toMatchObject({
      dispatched: false,
      reason: 'ambiguous_fiber',
      message: expect.stringMatching(/a\/a\.md and .*b\/b\.md cannot be started: they have one ULID/),
    });
  });

  it('never comes to a document that cannot be read, which is shown with its error instead', async () => {
    const path = world.fiber('a');
    world.documents.edit(path, (text) => text.replace('status: active', 'status: [active'));
    world.documents.list();
    await round();
    expect(daemon.row('a')?.error).toBeDefined();
    expect([world.machine.creates.length, daemon.state().blocked.length]).toEqual([0, 0]);
    expect(await dispatch('a')).toMatchObject({ dispatched: false, reason: 'invalid_document' });
  });

  it('writes back what the launch had marked when no session could be made', async () => {
    const path = world.fiber('a', {}, { status: 'closed', 'closed-at': '2026-01-02T00:00:00.000Z' });
    world.machine.next = 'refuse';
    expect(await dispatch('a')).toMatchObject({ dispatched: false, reason: 'mux_unavailable' });
    const text = world.documents.files.get(path);
    expect(text).toContain('status: closed');
    expect(text).toContain('closed-at: 2026-01-02T00:00:00.000Z');
    expect(text).not.toContain('runtime');
    expect(daemon.state().running).toEqual([]);
  });

  it('is made when something of ours goes wrong, instead of a launch that vanishes', async () => {
    world.fiber('a');
    daemon.world.harness.probe = () => Promise.reject(new Error('no such luck'));
    await round();
    expect(daemon.row('a')?.blocked).toMatchObject({ reason: 'launch_failed', message: 'no such luck' });
  });

  it('[DSP-9] is not made where a person goes on in the session of a worker that ended: it is renamed', async () => {
    world.fiber('a');
    const name = `a-${world.documents.index.get('a').uid}-svc`;
    await round();
    const first = world.machine.worker('a');
    // A person opened a second pane; the worker ends, the session stays.
    world.machine.openPane(first);
    world.machine.exit(first, { code: 1 });
    await round();
    expect(daemon.row('a')?.runtime?.mux_session).toBe(name);
    expect(first.session).toMatchObject({ name: `${name}-not-ours`, panes: { length: 1 } });
    expect(world.machine.kills).not.toContain(name);
  });

  it('[DSP-9] is session_name_taken where a worker of another daemon runs in the session of that name', async () => {
    world.fiber('a');
    const name = `a-${world.documents.index.get('a').uid}-svc`;
    const other = world.machine.session(name);
    const panes = other.panes.map((pane) => ({ ...pane, launch_id: '01K2Z3V4W5X6Y7Z8A9B0C1D2E3' }));
    world.machine.others = [{ ...other, panes }];
    await round();
    const command = `tmux kill-session -t '=${name}'`;
    expect(daemon.row('a')?.blocked).toMatchObject({
      reason: 'session_name_taken',
      message: expect.stringContaining(command),
      retry_at: expect.any(Number),
    });
    expect(daemon.row('a')?.not_ours).toMatchObject([{ mux_session: name, command }]);
    expect([world.machine.creates, world.machine.others[0]?.name]).toEqual([[], name]);
  });
});
