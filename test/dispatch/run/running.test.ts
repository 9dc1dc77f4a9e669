import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '../../../src/base/clock.ts';
import { createDeferred } from '../../../src/base/deferred.ts';
import { resumeIncident } from '../../../src/dispatch/requests/resume-incident.ts';
import { perform } from '../../../src/dispatch/world/write.ts';
import { type Daemon, FakeWorld, HOST, LEARNING } from '../world/fake-world.ts';

const MINUTE = 60_000;
let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const kill = (id: string) => world.run(daemon.dispatcher.kills.kill(id));
const restart = (options = {}) => {
  daemon = world.boot(options);
  return round();
};

describe('a running worker', () => {
  it('[P6] is shown from what is seen each pass: its end frees the row and starts it again', async () => {
    world.fiber('a');
    await round();
    const first = world.machine.worker('a');
    world.machine.exit(first, { code: 1 });
    await world.run(daemon.dispatcher.reconcile());
    expect(daemon.row('a')?.runtime).toBeUndefined();
    await round();
    expect([world.machine.creates.length, world.machine.living.length]).toEqual([2, 1]);
  });

  it('[P3] has ended when its process has, although its session is still listed, and is not adopted again', async () => {
    world.fiber('a');
    await round();
    const worker = world.machine.worker('a');
    world.machine.openPane(worker);
    world.machine.exit(worker, { code: 1 });
    for (let turn = 0; turn < 3; turn += 1) await world.run(daemon.dispatcher.reconcile());
    expect(daemon.state().running).toEqual([]);
    await restart();
    expect(daemon.state().running).toEqual([]);
  });

  it('[P4] is not ended, killed or started again while tmux and the kernel do not answer', async () => {
    world.fiber('a');
    world.fiber('b', {}, { status: 'open' });
    await round();
    world.documents.edit(world.documents.index.get('b').path, (text) => text.replace('open', 'active'));
    world.machine.listing = 'unknown';
    world.machine.kernel = 'silent';
    for (let turn = 0; turn < 5; turn += 1) {
      await round();
      world.clock.advance(5 * MINUTE);
    }
    expect(daemon.row('a')?.runtime?.state).toBe('unknown');
    expect([world.machine.creates.length, world.machine.kills.length, world.machine.ended.length]).toEqual([
      1, 0, 0,
    ]);
    world.machine.listing = 'normal';
    world.machine.kernel = 'answers';
    await round();
    expect(daemon.row('a')?.runtime?.state).toBe('starting');
    expect(world.machine.creates).toHaveLength(2);
  });

  it('[P4] that vanished without a word while tmux does not answer is unknown until tmux does', async () => {
    world.fiber('a');
    await round();
    world.machine.vanish(world.machine.worker('a'));
    world.machine.listing = 'unknown';
    await round();
    expect(daemon.row('a')?.runtime?.state).toBe('unknown');
    world.machine.listing = 'normal';
    world.machine.server = 'down';
    await round();
    expect(daemon.state().pending_launch).toMatchObject([{ reason: 'server_lost' }]);
  });

  it('[P1] is adopted by the next daemon, and the quarantine does not hold it', async () => {
    world.fiber('a');
    world.fiber('b', {}, { status: 'open' });
    await round();
    world.documents.edit(world.documents.index.get('b').path, (text) => text.replace('open', 'active'));
    await restart();
    expect(daemon.row('a')?.runtime?.state).toBe('starting');
    expect(daemon.state().pending_launch).toMatchObject([{ fiber_id: 'b', reason: 'boot_quarantine' }]);
    world.machine.exit(world.machine.worker('a'), { code: 1 });
    await round();
    await round();
    expect(world.machine.living.map((worker) => worker.session.name[0])).toEqual(['a']);
    expect(world.machine.creates).toHaveLength(2);
  });

  it('is known before a request is served, even the first one after a start', async () => {
    const path = world.fiber('a');
    await round();
    daemon = world.boot({ released: true });
    // The session has the old leaf in its name, so its name alone would not stop a second one.
    world.documents.files.set(
      path.replaceAll('/a', '/renamed').replace('a.md', 'renamed.md'),
      world.documents.files.get(path)!,
    );
    world.documents.remove(path);
    world.documents.list();
    const reply = await world.run(daemon.dispatcher.dispatch({ fiber_id: 'renamed' }));
    expect(reply).toMatchObject({ dispatched: true, already_running: true });
    expect(world.machine.creates).toHaveLength(1);
    daemon = world.boot();
    world.machine.listing = 'unknown';
    await expect(world.run(daemon.dispatcher.dispatch({ fiber_id: 'renamed' }))).rejects.toMatchObject({
      code: 'mux_unavailable',
    });
  });

  it('[DSP-10] is no session that has only the name of a worker, which is told with the command that ends it', async () => {
    world.fiber('mine', {}, { status: 'open' });
    world.fiber('theirs', { host: 'host-b' });
    const uid = (id: string) => world.documents.index.get(id).uid;
    world.machine.others = [
      world.machine.session(`mine-${uid('mine')}-svc`),
      world.machine.session(`theirs-${uid('theirs')}-svc`),
      world.machine.session('resume-00000000-0000-4000-8000-000000000000'),
      world.machine.session('svc-anchor'),
    ];
    await round();
    expect(daemon.state().running).toEqual([]);
    const told = (name: string) => ({
      mux_session: name,
      message: expect.stringContaining('not ours'),
      command: `tmux kill-session -t '=${name}'`,
    });
    const name = `mine-${uid('mine')}-svc`;
    expect(daemon.state().not_ours).toEqual([expect.objectContaining({ fiber_id: 'mine', ...told(name) })]);
    expect(daemon.row('mine')?.not_ours).toEqual([told(name)]);
    expect(await world.run(daemon.dispatcher.dispatch({ fiber_id: 'mine' }))).toMatchObject({
      dispatched: true,
    });
    await round();
    expect(world.machine.others.map((one) => one.name)[0]).toBe(`${name}-not-ours`);
    expect(daemon.row('mine')?.not_ours).toEqual([told(`${name}-not-ours`)]);
    await kill('mine');
    expect(world.machine.others).toHaveLength(4);
    world.machine.others = [];
    await round();
    expect([daemon.row('mine')?.not_ours, daemon.state().not_ours]).toEqual([undefined, []]);
  });

  it('whose document is deleted goes on, is listed, and can be killed by its old id', async () => {
    const path = world.fiber('a');
    await round();
    world.documents.remove(path);
    await round();
    expect(daemon.state().running).toMatchObject([{ fiber_id: 'a' }]);
    expect(await kill('a')).toMatchObject({ killed: true });
    expect([world.machine.living.length, daemon.state().running.length]).toEqual([0, 0]);
  });

  it('follows its document into another folder, for every read and the next daemon', async () => {
    const path = world.fiber('a');
    await round();
    const moved = path.replace('/a/a.md', '/b/c/c.md');
    world.documents.files.set(moved, world.documents.files.get(path) ?? '');
    world.documents.remove(path);
    world.documents.list();
    daemon.rows.documentsMoved([path, moved]);
    const expectMoved = () => {
      expect(daemon.row('b/c')).toMatchObject({ runtime: { state: 'starting' } });
      expect(daemon.state().running.map(({ fiber_id }) => fiber_id)).toEqual(['b/c']);
    };
    expectMoved();
    daemon = world.boot();
    await round();
    expectMoved();
    expect(await kill('b/c')).toMatchObject({ killed: true });
    expect(world.ledger.at(-1)).toMatchObject({ fiber: 'b/c', kind: 'ended', reason: 'kill' });
  });

  it('is named in an incident by where its document lies now', async () => {
    const path = world.fiber('a');
    await round();
    world.machine.loseServer({ told: false });
    await round();
    world.documents.files.set(path.replaceAll('a/a.md', 'b/b.md'), world.documents.files.get(path) ?? '');
    world.documents.remove(path);
    await round();
    expect(daemon.state().incidents).toMatchObject([{ fibers: [{ fiber_id: 'b' }] }]);
  });

  it('that closes its fiber is not started again', async () => {
    const path = world.fiber('a');
    await round();
    world.documents.edit(path, (text) => text.replace('status: active', 'status: closed'));
    await round();
    expect(daemon.row('a')).toMatchObject({ status: 'closed', runtime: { state: 'starting' } });
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await round();
    await round();
    expect([world.machine.creates.length, daemon.row('a')?.runtime]).toEqual([1, undefined]);
  });

  it('keeps its run when its document is edited by hand, also into one that cannot be read', async () => {
    const path = world.fiber('a');
    await round();
    world.documents.edit(path, (text) => text.replace('name: a', 'name: other'));
    await round();
    expect(daemon.row('a')).toMatchObject({ name: 'other', runtime: { state: 'starting' } });
    world.documents.edit(path, (text) => text.replace('status: active', 'status: [active'));
    await round();
    expect(daemon.state().running).toHaveLength(1);
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await round();
    expect([daemon.state().running.length, world.machine.creates.length]).toEqual([0, 1]);
  });

  it('is shown on its own document and not on a copy of it', async () => {
    const path = world.fiber('a');
    await round();
    world.documents.files.set(
      path.replaceAll('/a', '/copy').replace('a.md', 'copy.md'),
      world.documents.files.get(path)!,
    );
    await round();
    expect(daemon.row('a')?.runtime).toBeDefined();
    expect(daemon.row('copy')?.runtime).toBeUndefined();
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[LIF-7] [RES-2] that handed off is followed by a fresh one that is told of the session before', async () => {
    world.fiber('a');
    await round();
    await world.handOff('a');
    await round();
    await round();
    expect(world.machine.creates).toHaveLength(2);
    expect(daemon.memory.breaker.tripped(daemon.row('a')?.uid ?? '', world.clock.now())).toBeNull();
  });

  it('[EVT-4] has its end in the sessions ledger, with the reason and the moment, whoever ended it', async () => {
    for (const name of ['a', 'b', 'c']) world.fiber(name);
    await round();
    world.clock.advance(60_000);
    await world.handOff('a');
    await kill('b');
    world.machine.exit(world.machine.worker('c'), { code: 1 });
    await round();
    const ends = world.ledger.filter(({ kind }) => kind === 'ended');
    expect(ends.map(({ fiber, reason }) => [fiber, reason]).sort()).toEqual([
      ['a', 'handoff'],
      ['b', 'kill'],
      ['c', 'exited'],
    ]);
    for (const end of ends) {
      const begun = world.ledger.find(({ kind, run_id }) => kind === 'dispatch' && run_id === end.run_id)!;
      const { uid, session, mux, harness, agent, host } = begun;
      expect(end).toMatchObject({ uid, session, mux, harness, agent, host });
      expect(end.at - begun.at).toBeGreaterThanOrEqual(59_000);
    }
  });

  it('whose agent program is missing is a refusal with a cooldown, not a loop of deaths', async () => {
    world.fiber('a');
    await round();
    world.machine.exit(world.machine.worker('a'), { reason: 'agent_missing' });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(daemon.row('a')?.blocked?.reason).toBe('agent_unavailable');
    expect(world.machine.creates).toHaveLength(1);
  });
});

describe('a kill', () => {
  it('[P5] [WPL-4] ends the worker, holds the fiber, and is success once more', async () => {
    world.fiber('a');
    await round();
    const first = await kill('a');
    expect(first).toMatchObject({ killed: true, fiber_id: 'a' });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect([world.machine.creates.length, world.machine.living.length]).toEqual([1, 0]);
    expect(daemon.row('a')?.held).toBe('killed');
    expect(await kill('a')).toEqual({ ...first, already_killed: true });
    expect(await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a' }))).toMatchObject({
      dispatched: true,
    });
    expect(daemon.row('a')?.held).toBeUndefined();
  });

  /** Somebody edits the document, and the poller has seen it. */
  const become = (path: string, from: string, to: string) => {
    world.documents.edit(path, (text) => text.replace(`status: ${from}`, `status: ${to}`));
    world.documents.list();
  };

  const armedAfterItsKill = async () => {
    const path = world.fiber('a');
    await round();
    await kill('a');
    become(path, 'active', 'closed');
    await round();
    become(path, 'closed', 'active');
  };

  it('[P5] once more also holds a fiber that somebody has armed since', async () => {
    await armedAfterItsKill();
    const rehearsed = await world.run(perform(daemon.dispatcher.kills, { fiber_id: 'a', dry_run: true }));
    expect(rehearsed.would).toContain('hold the fiber, which was armed again');
    expect(await kill('a')).toMatchObject({ already_killed: true });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(world.machine.creates.length).toBe(1);
    expect(daemon.row('a')?.held).toBe('killed');
  });

  it('once more does not hold what is closed, so that arming it later starts it', async () => {
    const path = world.fiber('a');
    await round();
    await kill('a');
    become(path, 'active', 'closed');
    await round();
    await kill('a');
    become(path, 'closed', 'active');
    await round();
    expect(world.machine.living.length).toBe(1);
  });

  it('[WPL-4] is not undone by parking the fiber and arming it in its document', async () => {
    const path = world.fiber('a');
    await round();
    await kill('a');
    become(path, 'active', 'open');
    await round();
    become(path, 'open', 'active');
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect([world.machine.living.length, daemon.row('a')?.held]).toEqual([0, 'killed']);
  });

  it('[WPL-4] [WPL-25] stands with its reason over restarts, and no release of the quarantine starts the fiber', async () => {
    world.fiber('a');
    world.fiber('b');
    await round();
    const at = world.clock.now();
    await world.run(daemon.dispatcher.kills.kill('a', 'wrong branch'));
    for (let turn = 0; turn < 3; turn += 1) {
      await restart();
      await round();
      expect(daemon.row('a')).toMatchObject({ held: 'killed', held_note: 'wrong branch' });
      expect(daemon.dispatcher.release()).toEqual({
        released: true,
        pending: 0,
        fibers: [],
        held: [{ fiber_id: 'a', reason: 'killed' }],
      });
      await round();
    }
    expect(daemon.state().pending_launch).toMatchObject([
      { fiber_id: 'a', reason: 'killed', since: at, note: 'wrong branch' },
    ]);
    const why = await world.run(daemon.dispatcher.why('a', { look: false }));
    expect(why.first).toMatchObject({
      gate: 'held',
      message: `a person stopped its worker at ${new Date(at).toISOString()}: wrong branch`,
      mend: expect.stringContaining('svc resume a'),
    });
    expect(world.machine.creates).toHaveLength(2);
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a' }));
    await restart();
    daemon.dispatcher.release();
    expect([daemon.row('a')?.held, daemon.row('a')?.runtime?.mux_session]).toEqual([
      undefined,
      expect.any(String),
    ]);
  });

  it('[P5] once more holds an armed fiber also while its store does not answer', async () => {
    await armedAfterItsKill();
    world.documents.unavailable = true;
    expect(await kill('a')).toMatchObject({ already_killed: true });
    world.documents.unavailable = false;
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(world.machine.creates.length).toBe(1);
  });

  it('of a fiber that nothing runs for says so', async () => {
    world.fiber('a', {}, { status: 'open' });
    await round();
    await expect(kill('a')).rejects.toMatchObject({ code: 'no_worker' });
  });

  it('[P13] during a launch waits for it and ends what it started', async () => {
    world.fiber('a');
    world.machine.latency_ms = 50;
    await world.run(daemon.dispatcher.reconcile());
    const [, killed] = await world.run(
      Promise.all([
        daemon.dispatcher.rounds.startDue(),
        sleep(world.clock, 10).then(() => daemon.dispatcher.kills.kill('a')),
      ]),
    );
    expect(killed).toMatchObject({ killed: true });
    await round();
    expect([world.machine.living.length, world.machine.creates.length]).toEqual([0, 1]);
  });

  it('[WPL-4] is rehearsed during a launch without waiting for it', async () => {
    world.fiber('a');
    await world.run(daemon.dispatcher.reconcile());
    const [begun, goOn] = [createDeferred<void>(), createDeferred<void>()];
    const { create } = daemon.world.mux;
    daemon.world.mux.create = async (spec) => {
      begun.resolve();
      await goOn.promise;
      return create(spec);
    };
    const launch = daemon.dispatcher.dispatch({ fiber_id: 'a' });
    await begun.promise;
    const shown = await world.run(perform(daemon.dispatcher.kills, { fiber_id: 'a', dry_run: true }));
    expect(shown.would).toContain('wait for the launch of a');
    goOn.resolve();
    await world.run(launch);
  });

  it('[P5] while the poller is still busy with other fibers keeps it from starting this one', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'last'];
    for (const name of names) world.fiber(name);
    await world.run(daemon.dispatcher.reconcile());
    // As many launches as the poller has lanes stand still, while the last fiber is started and killed by hand.
    const { create } = daemon.world.mux;
    let goOn = () => {};
    const still = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    daemon.world.mux.create = async (spec) => {
      if (!spec.name.startsWith('last')) await still;
      return create(spec);
    };
    const polling = daemon.dispatcher.rounds.startDue();
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'last' }));
    await kill('last');
    goOn();
    await world.run(polling);
    expect(world.machine.living.map((worker) => worker.session.name[0]).sort()).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ]);
    expect(daemon.row('last')?.held).toBe('killed');
  });

  it('[P4] leaves the panes that a person opened in the worker’s session', async () => {
    world.fiber('a');
    await round();
    const worker = world.machine.worker('a');
    world.machine.openPane(worker);
    world.machine.openPane(worker);
    await kill('a');
    expect([worker.alive, world.machine.kills]).toEqual([false, []]);
    expect(world.machine.list()).toMatchObject({
      sessions: [{ name: worker.session.name, panes: { length: 2 } }],
    });
    await round();
    expect(daemon.state().running).toEqual([]);
  });

  it('[P4] of a worker that has not told its process ends the first pane and leaves the others', async () => {
    world.fiber('a');
    world.machine.next = 'start_silently';
    await round();
    const worker = world.machine.worker('a');
    world.machine.openPane(worker);
    await kill('a');
    expect([worker.alive, world.machine.kills]).toEqual([false, []]);
  });

  it('[P13] ends an agent that ignores hang-ups and is recorded only while its session is ended', async () => {
    world.fiber('a');
    world.machine.next = 'start_silently';
    world.machine.hangup = 'ignored';
    await round();
    const worker = world.machine.worker('a');
    const end = daemon.world.mux.kill;
    daemon.world.mux.kill = async (session) => {
      world.machine.record(worker);
      return end(session);
    };
    expect(await kill('a')).toMatchObject({ killed: true });
    expect(worker.alive).toBe(false);
  });

  it('waits for a worker that takes a while to end', async () => {
    world.fiber('a');
    await round();
    const worker = world.machine.worker('a');
    daemon.world.processes.end = async () => {};
    daemon.world.mux.kill = async () => {
      world.clock.after(500, () => world.machine.exit(worker, { signal: 'SIGTERM' }));
      return 'killed';
    };
    expect(await kill('a')).toMatchObject({ killed: true });
    expect(daemon.state().running).toEqual([]);
  });

  it('that tmux does not confirm is an error, and the fiber stays held', async () => {
    world.fiber('a');
    await round();
    daemon.world.processes.end = async () => {};
    daemon.world.mux.kill = async () => 'unknown';
    await expect(kill('a')).rejects.toMatchObject({ code: 'mux_unavailable' });
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await round();
    await round();
    expect([world.machine.creates.length, daemon.row('a')?.held]).toEqual([1, 'killed']);
  });
});

describe('a loss of the server or of the machine', () => {
  it.each([true, false])(
    '[P2] holds every fiber and is one incident (run scripts told: %s)',
    async (told) => {
      for (const id of ['a', 'b', 'c']) world.fiber(id);
      await round();
      world.machine.loseServer({ told });
      for (let turn = 0; turn < 3; turn += 1) await round();
      expect(world.machine.creates).toHaveLength(3);
      expect(daemon.state().pending_launch.map((row) => row.reason)).toEqual(Array(3).fill('server_lost'));
      const incidents = world.logs.filter((line) => line.level >= 40);
      expect(incidents).toMatchObject([{ workers: 3, fibers: ['a', 'b', 'c'] }]);
      expect(daemon.dispatcher.release().held).toHaveLength(3);
      await restart();
      daemon.dispatcher.release();
      await round();
      expect(world.machine.living).toHaveLength(0);
      await world.run(resumeIncident(daemon, {}));
      expect(world.machine.living).toHaveLength(3);
    },
  );

  it('[P8] ends every recorded run at a new boot of the machine and starts nothing by itself', async () => {
    for (const id of ['a', 'b']) world.fiber(id);
    await round();
    world.machine.reboot();
    world.boot_id = 'boot-2';
    await restart();
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(daemon.state().running).toEqual([]);
    expect(world.machine.creates).toHaveLength(2);
    expect(daemon.state().pending_launch).toHaveLength(2);
    expect(world.logs.filter((line) => line.level >= 40)).toHaveLength(1);
  });
});

describe('a role', () => {
  const role = { kind: 'standing', schedule: '"0 8 * * *"' };

  it('[STD-1] [LIF-5] runs when it is due, and closes into awaiting review when its worker exits', async () => {
    world.fiber('role', role, { 'created-at': '2026-01-05T07:00:00.000Z' });
    await round();
    expect(daemon.row('role')?.runtime?.run_id).toBe(`scheduled-${Date.UTC(2026, 0, 5, 8)}`);
    world.machine.exit(world.machine.worker('role'), { code: 0 });
    await round();
    await round();
    expect(daemon.row('role')).toMatchObject({ status: 'closed', closed_at: expect.any(String) });
    expect(daemon.row('role')?.tempered).toBeUndefined();
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[STD-1] is not due before its hour, and ad hoc when it is started by hand', async () => {
    world.fiber('role', role, { 'created-at': '2026-01-05T08:30:00.000Z' });
    await round();
    expect(world.machine.creates).toEqual([]);
    expect(daemon.row('role')?.next_due_at).toBe(Date.UTC(2026, 0, 6, 8));
    const reply = await world.run(daemon.dispatcher.dispatch({ fiber_id: 'role', ad_hoc: true }));
    expect(reply).toMatchObject({ run_id: expect.stringMatching(/^adhoc-\d+$/) });
  });

  it.each(['true', 'false'])(
    '[STD-1] is due at no time while it has the verdict %s, whoever is asked',
    async (tempered) => {
      world.fiber('role', role, { 'created-at': '2026-01-05T08:30:00.000Z', tempered });
      await round();
      expect(daemon.row('role')).not.toHaveProperty('next_due_at');
      expect(daemon.state().standing_roles).toMatchObject([{ next_due_at: null }]);
      const { first } = await world.run(daemon.dispatcher.why('role', { look: true }));
      expect(first).toMatchObject({
        gate: 'due',
        message: 'it is not armed, so no time of its schedule is due',
        mend: expect.stringContaining('svc resume role'),
      });
    },
  );

  it('[STD-1] keeps its occurrence when its session could not be made', async () => {
    world.fiber('role', role);
    world.machine.next = 'refuse';
    await round();
    expect(daemon.row('role')?.blocked?.reason).toBe('mux_unavailable');
    world.clock.advance(6 * MINUTE);
    await round();
    expect(daemon.row('role')?.runtime?.run_id).toMatch(/^scheduled-/);
  });

  it.each([
    ['exits', (name: string) => world.machine.exit(world.machine.worker(name), { code: 0 })],
    ['hands off', (name: string) => world.handOff(name)],
    ['is killed', (name: string) => kill(name)],
  ])('[RES-6] that is pinned is parked again when its worker %s', async (_, end) => {
    world.fiber('pin', { kind: 'pinned' }, { status: 'open' });
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'pin' }));
    expect(daemon.row('pin')?.status).toBe('active');
    await end('pin');
    await round();
    await round();
    expect([daemon.row('pin')?.status, daemon.row('pin')?.runtime]).toEqual(['open', undefined]);
    expect(world.machine.creates).toHaveLength(1);
  });

  it('that is forced to start again is not parked or closed in between', async () => {
    world.fiber('pin', { kind: 'pinned' }, { status: 'open' });
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'pin' }));
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'pin', force: true }));
    expect(world.documents.writes).toBe(2);
    expect(daemon.row('pin')).toMatchObject({ status: 'active', runtime: { state: 'starting' } });
  });

  it('[LIF-5] whose document is locked when it ends is held, and concluded as soon as it can be', async () => {
    world.fiber('pin', { kind: 'pinned' });
    await round();
    world.documents.locked = true;
    world.machine.exit(world.machine.worker('pin'), { code: 0 });
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(daemon.row('pin')).toMatchObject({ status: 'active', held: 'not_concluded' });
    expect(daemon.state().running).toEqual([]);
    await restart({ released: true });
    expect(daemon.row('pin')?.held).toBe('not_concluded');
    world.documents.locked = false;
    await round();
    await round();
    expect([daemon.row('pin')?.status, world.machine.creates.length]).toEqual(['open', 1]);
    expect(daemon.world.runDirectories.all().every((one) => one.state === 'ended')).toBe(true);
  });
});

describe('the loop breaker', () => {
  it('[P26] pauses after five quick deaths, over a restart, and shows the last screen', async () => {
    world.fiber('a');
    for (let death = 1; death <= 5; death += 1) {
      await round();
      world.machine.exit(world.machine.worker('a'), { code: 1, screen: `death ${death}\n\n\n` });
      await world.run(daemon.dispatcher.reconcile());
      if (death === 3) daemon = world.boot({ released: true });
    }
    await round();
    const blocked = { reason: 'loop_breaker', screen: 'death 5', retry_at: expect.any(Number) };
    expect(daemon.row('a')?.blocked).toMatchObject(blocked);
    expect(world.machine.creates).toHaveLength(5);
    await restart({ released: true });
    expect(daemon.row('a')?.blocked).toMatchObject(blocked);
    world.clock.advance(11 * MINUTE);
    await round();
    expect(world.machine.creates).toHaveLength(6);
    expect(daemon.row('a')?.blocked).toBeUndefined();
  });
});

describe('the boot quarantine', () => {
  it('holds what was not running, lets a forced dispatch pass, and ends when it is released', async () => {
    world.fiber('a');
    world.fiber('b');
    await restart();
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(world.machine.creates).toEqual([]);
    expect(daemon.state()).toMatchObject({
      boot_quarantine: { active: true, held: 2, released_at: null },
      pending_launch: [{ fiber_id: 'a' }, { fiber_id: 'b' }],
    });
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a', force: true }));
    await round();
    expect(world.machine.creates).toHaveLength(1);
    expect(daemon.dispatcher.release()).toEqual({ released: true, pending: 1, fibers: ['b'], held: [] });
    await round();
    expect(world.machine.creates).toHaveLength(2);
    expect(daemon.state().boot_quarantine).toMatchObject({ active: false, held: 0 });
  });
});

describe('a start', () => {
  it('[P9] without a transcript is blocked with its screen also where the clock was set back meanwhile', async () => {
    world.fiber('a');
    await round();
    world.machine.screen = 'Do you trust this folder?';
    world.clock.jumpTo(world.clock.now() - 3 * 3_600_000);
    world.clock.advance(91_000);
    await round();
    expect(daemon.row('a')?.blocked).toMatchObject({ reason: 'startup_unconfirmed' });
  });

  it('[P9] without a transcript is blocked with its screen, until the transcript comes', async () => {
    world.fiber('a');
    await round();
    world.machine.screen = 'Do you trust this folder?\n\n\n';
    world.clock.advance(91_000);
    await round();
    expect(daemon.row('a')).toMatchObject({
      runtime: { state: 'starting', phase: 'unknown' },
      blocked: { reason: 'startup_unconfirmed', screen: 'Do you trust this folder?', retry_at: null },
    });
    expect(world.machine.creates).toHaveLength(1);
    const run = daemon.memory.runs.all()[0]!;
    world.writesTranscript(run.launch_id, run.session_uuid ?? '');
    await round();
    expect(daemon.row('a')?.blocked).toBeUndefined();
    expect(daemon.row('a')?.runtime).toMatchObject({
      state: 'running',
      phase: 'working',
      last_activity_at: world.clock.now(),
    });
    world.clock.advance(5 * MINUTE);
    await round();
    expect(daemon.row('a')?.runtime).toMatchObject({ state: 'running', phase: 'unknown' });
  });

  it('[P9] is blocked with the screen of now: a late dialog and the one after it are shown', async () => {
    world.fiber('a');
    await round();
    world.machine.screen = '\n\n';
    world.clock.advance(91_000);
    await round();
    const blank = daemon.row('a')?.blocked;
    expect(blank).toMatchObject({ reason: 'startup_unconfirmed', screen: '' });
    for (const dialog of ['Do you trust this folder?', 'Bypass all permissions?']) {
      world.machine.screen = dialog;
      world.clock.advance(5000);
      await round();
      expect(daemon.row('a')?.blocked).toEqual({ ...blank, screen: dialog });
    }
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[WRK-3] [EVT-4] of a harness that assigns its own session id teaches it to document and ledger', async () => {
    world.fiber('a', { agent: 'learning' });
    await round();
    expect(daemon.row('a')?.svc?.runtime?.session_uuid).toBeUndefined();
    const run = daemon.memory.runs.all()[0]!;
    world.writesTranscript(run.launch_id, 'learned-1');
    world.documents.locked = true;
    await round();
    expect(daemon.row('a')?.runtime).toMatchObject({ state: 'starting', session_uuid: null });
    world.documents.locked = false;
    await round();
    expect(daemon.row('a')?.svc?.runtime?.session_uuid).toBe('learned-1');
    expect(world.ledger).toMatchObject([
      { kind: 'dispatch', session: null },
      { kind: 'learned', session: 'learned-1', run_id: run.run_id, host: HOST },
    ]);
  });

  it('is looked after although the agent of another worker was taken out of the registry', async () => {
    world.fiber('a', { agent: LEARNING.id });
    world.fiber('b');
    await round();
    world.agents = world.agents.filter((agent) => agent.id !== LEARNING.id);
    const run = daemon.memory.runs.all().find((one) => one.fiber_id === 'b')!;
    world.writesTranscript(run.launch_id, run.session_uuid ?? '');
    await round();
    expect(daemon.row('b')?.runtime?.state).toBe('running');
  });
});

it('removes the directories of old runs and keeps those that may be alive', async () => {
  world.fiber('a');
  world.fiber('b');
  await round();
  world.machine.exit(world.machine.worker('a'), { code: 0 });
  await world.run(daemon.dispatcher.reconcile());
  expect(daemon.world.runDirectories.prune(world.clock.now())).toBe(0);
  expect(daemon.world.runDirectories.prune(world.clock.now() + 15 * 24 * 60 * MINUTE)).toBe(1);
  expect(daemon.world.runDirectories.all()).toMatchObject([{ fiber: 'b', state: 'spawned' }]);
});
