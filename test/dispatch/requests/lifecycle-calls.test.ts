import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../../src/base/errors.ts';
import type { LifecycleRequest, TransitionTarget } from '../../../src/contract/http/lifecycle.ts';
import { LifecycleCalls } from '../../../src/dispatch/requests/lifecycle-calls.ts';
import type { ExternalCli } from '../../../src/dispatch/world/external-cli.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

const MINUTE = 60_000;
let world: FakeWorld;
let daemon: Daemon;
let calls: LifecycleCalls;
beforeEach(() => {
  world = new FakeWorld();
  world.clock.advance(Date.UTC(2026, 5, 1, 12) - world.clock.now());
  boot();
});
afterEach(() => world.dispose());

function boot(cli: Pick<ExternalCli, 'run'> | null = null): void {
  daemon = world.boot({ released: true });
  calls = new LifecycleCalls({
    world: daemon.world,
    memory: daemon.memory,
    dispatcher: daemon.dispatcher,
    look: (reference) => world.documents.index.get(reference),
    agents: () => ({
      agents: world.agents,
      names: { demo: 'demo', learning: 'learning' },
      default_id: 'demo',
      problem: null,
    }),
    cli,
    onMoved: (keys) => daemon.rows.runtimeMoved(keys),
  });
}
const round = () => world.run(daemon.round());
type Ask = LifecycleRequest extends infer R ? (R extends LifecycleRequest ? Omit<R, 'fiber'> : never) : never;
const verb = (ask: Ask, fiber = 'a') =>
  world.run(calls.lifecycle({ fiber, ...ask } as LifecycleRequest & { dry_run?: false }));
const move = (target: TransitionTarget, fiber_id = 'a') => world.run(calls.transition({ fiber_id, target }));
const stored = (id = 'a') => world.documents.row(world.documents.index.get(id).path)!;
const settle = () => world.run(Promise.resolve().then(() => daemon.round()));
const standing = { kind: 'standing', schedule: '"0 9 * * *"', tz: 'UTC' };

describe('a lifecycle verb in the poller', () => {
  it('[WPL-3] [LIF-6] accept arms a role that awaits review and stamps it in the same write, and it does not fire again', async () => {
    world.fiber('a', standing);
    await round();
    expect(world.machine.creates).toHaveLength(1);
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await round();
    expect(stored()).toMatchObject({ status: 'closed' });
    world.clock.advance(MINUTE);
    const writes = world.documents.writes;
    expect(await verb({ action: 'accept' })).toEqual({
      status: 0,
      text: 'a: ready to start, on a schedule on host-a\n',
      error: null,
    });
    expect(world.documents.writes).toBe(writes + 1);
    expect(stored().svc?.runtime?.handed_off_at).toBe(new Date(world.clock.now()).toISOString());
    await settle();
    await settle();
    expect(world.machine.creates).toHaveLength(1);
    expect(daemon.row('a')).toMatchObject({ status: 'active', next_due_at: Date.UTC(2026, 5, 2, 9) });
    world.clock.advance(Date.UTC(2026, 5, 2, 9) - world.clock.now());
    await settle();
    expect(world.machine.creates).toHaveLength(2);
  });

  it('[WPL-3] [LIF-6] accept ends the worker of a closed fiber and says so, and its rehearsal has nothing to ask', async () => {
    world.fiber('a');
    await round();
    await verb({ action: 'close', outcome: 'Done.' });
    expect(world.machine.living).toHaveLength(1);
    const shown = await world.run(calls.lifecycle({ fiber: 'a', action: 'accept', dry_run: true }));
    expect(shown).toMatchObject({ would: 'end its worker and accept a', ends: [expect.any(String)] });
    expect(shown).not.toHaveProperty('interrupts');
    expect(world.machine.living).toHaveLength(1);
    expect(await verb({ action: 'accept' })).toEqual({
      status: 0,
      text: 'a: closed, accepted, once on host-a\nIts worker was ended.\n',
      error: null,
    });
    expect(world.machine.living).toHaveLength(0);
    expect(stored()).toMatchObject({ status: 'closed', tempered: true, outcome: 'Done.' });
    await verb({ action: 'reopen' });
    await settle();
    expect(world.machine.living).toHaveLength(1);
  });

  it.each([
    ['an open fiber', false, 0, 'end its worker, which has not closed the fiber, and accept a'],
    ['a closed fiber', true, 1, 'end its worker, which is open in a terminal, and accept a'],
    [
      'an open fiber',
      false,
      1,
      'end its worker, which has not closed the fiber and is open in a terminal, and accept a',
    ],
  ])(
    '[WPL-3] the rehearsal of accept says of %s (closed: %s) with %i terminals what it cuts off',
    async (_what, closed, attached, would) => {
      world.fiber('a');
      await round();
      if (closed) await verb({ action: 'close' });
      const { session } = world.machine.worker('a');
      Object.assign(session, { attached });
      expect(await world.run(calls.lifecycle({ fiber: 'a', action: 'accept', dry_run: true }))).toMatchObject(
        { would, ends: [session.name], interrupts: [session.name] },
      );
    },
  );

  it('[WPL-3] accept leaves the worker alone where it is told to, and says how to end it', async () => {
    world.fiber('a');
    await round();
    expect(await verb({ action: 'accept', keep_worker: true })).toMatchObject({
      status: 0,
      text: 'a: closed, accepted, once on host-a\nIts worker goes on until it ends by itself; stop it with: svc kill a\n',
    });
    expect(world.machine.living).toHaveLength(1);
  });

  it('[STD-1] [LIF-6] accept of a role at work ends its worker, arms it and stamps it as served', async () => {
    world.fiber('a', standing);
    await round();
    world.clock.advance(MINUTE);
    expect((await verb({ action: 'accept' })).text).toBe(
      'a: ready to start, on a schedule on host-a\nIts worker was ended.\n',
    );
    expect(world.machine.living).toHaveLength(0);
    await settle();
    expect(world.machine.creates).toHaveLength(1);
    expect(daemon.row('a')).toMatchObject({ status: 'active', next_due_at: Date.UTC(2026, 5, 2, 9) });
  });

  it('[WPL-3] resume starts a parked fiber at once, without waiting for a listing', async () => {
    world.fiber('a', {}, { status: 'open' });
    await round();
    expect(await verb({ action: 'resume' })).toMatchObject({ status: 0 });
    await world.run(daemon.dispatcher.rounds.startMoved(new Set()));
    await settle();
    expect(world.machine.living).toHaveLength(1);
  });

  it('[P5] resume lifts what a kill left behind', async () => {
    world.fiber('a');
    await round();
    await world.run(daemon.dispatcher.kills.kill('a'));
    await round();
    expect(world.machine.living).toHaveLength(0);
    expect(await verb({ action: 'resume' })).toMatchObject({ status: 0 });
    await settle();
    expect(world.machine.living).toHaveLength(1);
  });

  it('[WPL-3] says of a fiber whose worker runs that it runs, not that it is ready to start', async () => {
    world.fiber('a');
    await round();
    const text = 'a: its worker runs, once on host-a\n';
    expect(await verb({ action: 'resume' })).toMatchObject({ status: 0, text });
    expect((await verb({ action: 'set-outcome', outcome: 'Half.' })).text).toBe(text);
    expect(world.machine.creates).toHaveLength(1);
  });

  it.each([
    [false, { notes: ['the worker that ran before was ended'] }],
    [true, {}],
  ])(
    '[WPL-1] a dispatch after pause with force %s ends the worker that still runs, and says so unasked',
    async (force, told) => {
      world.fiber('a');
      await round();
      await verb({ action: 'pause' });
      const reply = await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a', force }));
      expect(reply).toMatchObject({ dispatched: true, already_running: false, ...told });
      expect('notes' in reply).toBe('notes' in told);
      expect(world.machine.living).toHaveLength(1);
    },
  );

  it('pause leaves the worker alone and says so; its end starts no other', async () => {
    world.fiber('a');
    await round();
    expect((await verb({ action: 'pause' })).text).toBe(
      'a: draft, once on host-a\nIts worker goes on until it ends by itself; stop it with: svc kill a\n',
    );
    expect(world.machine.living).toHaveLength(1);
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await settle();
    expect(stored().status).toBe('open');
    expect(world.machine.creates).toHaveLength(1);
  });

  it('pause with kill ends the worker, and a resume after it is a launch of its own', async () => {
    world.fiber('a');
    await round();
    expect(await verb({ action: 'pause', kill: true })).toEqual({
      status: 0,
      text: 'a: draft, once on host-a\nIts worker was ended.\n',
      error: null,
    });
    expect(world.machine.living).toHaveLength(0);
    expect(await verb({ action: 'pause', kill: true })).toMatchObject({ status: 0 });
    await verb({ action: 'resume' });
    await settle();
    expect(world.machine.living).toHaveLength(1);
  });

  it('[WPL-3] [ERR-18] a refusal is an answer with the sentence and the code, and writes nothing', async () => {
    world.fiber('a');
    await round();
    const writes = world.documents.writes;
    world.directories.set('/nowhere', { kind: 'missing' });
    const asks: [Ask, string][] = [
      [{ action: 'set-agent', agent: 'nobody' }, 'agent_unknown'],
      [{ action: 'set-agent', agent: 'demo', effort: 'huge' }, 'effort_unknown'],
      [{ action: 'install', project_dir: 'relative' }, 'invalid_request'],
      [{ action: 'install', project_dir: '/nowhere' }, 'project_dir_missing'],
      [{ action: 'repeat', schedule: 'often' }, 'invalid_request'],
    ];
    for (const [ask, error] of asks) expect(await verb(ask)).toMatchObject({ status: 1, error });
    expect(await verb({ action: 'resume' }, 'nobody')).toMatchObject({ status: 1, error: 'fiber_not_found' });
    expect(world.documents.writes).toBe(writes);
  });

  it('[WPL-3] [P5] refuses a folder in which no worker would be started, and says why', async () => {
    world.fiber('a');
    await round();
    const writes = world.documents.writes;
    world.directories.set('/links/fibers', { kind: 'in_store' });
    world.directories.set('/net/gone', { kind: 'silent', after_ms: 5_000, place: '/srv' });
    world.directories.set('/root/own', { kind: 'unreadable', detail: 'EACCES' });
    const asks: [string, string, string][] = [
      ['/links/fibers', 'project_dir_in_store', 'choose the project’s own folder'],
      [
        '/net/gone',
        'project_dir_unreachable',
        'did not answer within 5 s; check that its disk is mounted. It is retried automatically',
      ],
      ['/root/own', 'project_dir_unreachable', 'cannot be read (EACCES)'],
    ];
    for (const [project_dir, error, sentence] of asks)
      expect(await verb({ action: 'install', project_dir })).toMatchObject({
        status: 1,
        error,
        text: expect.stringContaining(sentence),
      });
    expect(world.documents.writes).toBe(writes);
  });

  it('[WPL-3] leaves the worker alone where its document cannot be written, as its dry run says', async () => {
    const path = world.fiber('a');
    await round();
    world.documents.edit(path, (text) => text.replace('svc:', 'svc: [\nx: }'));
    const close = { action: 'close', fiber: 'a', kill: true } as const;
    const shown = await world.run(calls.lifecycle({ ...close, dry_run: true }));
    expect(shown).toMatchObject({ status: 1, error: 'invalid_document' });
    expect(await world.run(calls.lifecycle(close))).toEqual(shown);
    await expect(move('composted')).rejects.toMatchObject({ code: 'invalid_document' });
    expect(world.machine.living).toHaveLength(1);
    expect(daemon.memory.runs.size).toBe(1);
  });

  it('works while tmux does not answer', async () => {
    world.fiber('a');
    world.machine.listing = 'unknown';
    await round();
    expect(await verb({ action: 'pause' })).toMatchObject({ status: 0 });
    expect(stored().status).toBe('open');
  });

  it('takes verbs of one fiber in the order they came', async () => {
    world.fiber('a');
    await round();
    const orders = (['pause', 'resume', 'close', 'reopen', 'pause'] as const).map((action) =>
      calls.lifecycle({ fiber: 'a', action }),
    );
    await world.run(Promise.all(orders));
    expect(stored().status).toBe('open');
  });

  it('[WPL-3] runs an external CLI in place of the bundled one, and takes in what it wrote', async () => {
    const path = world.fiber('a', {}, { status: 'open' });
    const asked: LifecycleRequest[] = [];
    boot({
      async run(request) {
        asked.push(request);
        if (request.action === 'accept') return { status: 2, text: 'no such option', error: 'refused' };
        if (request.action === 'close') throw new CodedError('cli_timed_out', 'too slow');
        world.documents.edit(path, (text) => text.replace('status: open', 'status: active'));
        return { status: 0, text: 'resumed\n', error: null };
      },
    });
    await round();
    expect(await verb({ action: 'resume' })).toEqual({ status: 0, text: 'resumed\n', error: null });
    expect(asked).toEqual([{ fiber: 'a', action: 'resume' }]);
    await settle();
    expect(daemon.row('a')).toMatchObject({ status: 'active' });
    expect(await verb({ action: 'accept' })).toEqual({ status: 2, text: 'no such option', error: 'refused' });
    await expect(verb({ action: 'close' })).rejects.toMatchObject({ code: 'cli_timed_out' });
  });
});

describe('a move between columns', () => {
  it.each<[TransitionTarget, string, object]>([
    ['drafts', 'pause', { status: 'open' }],
    ['awaitingReview', 'close', { status: 'closed' }],
    ['tempered', 'accept', { status: 'closed', tempered: true }],
    ['composted', 'compost', { status: 'closed', tempered: false }],
  ])('[WPL-2] to %s ends a running worker, which is not started again', async (target, action, document) => {
    world.fiber('a');
    await round();
    expect(await move(target)).toEqual({ fiber_id: 'a', target, origin: 'host-a', action, invoked: true });
    expect(world.machine.living).toHaveLength(0);
    expect(stored()).toMatchObject(document);
    await settle();
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[WPL-2] [LIF-3] to inFlight starts a worker by force, and is nothing where one works', async () => {
    world.fiber('a', {}, { status: 'closed', 'closed-at': '2026-01-02T00:00:00.000Z' });
    await round();
    expect(await move('inFlight')).toMatchObject({ action: 'dispatch', invoked: true });
    expect(world.machine.living).toHaveLength(1);
    expect(stored().status).toBe('active');
    expect(await move('inFlight')).toMatchObject({ action: 'none', invoked: true });
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[WPL-2] tempered accepts the work of a role at work: its worker ends, it is armed and stamped, and waits', async () => {
    world.fiber('a', standing);
    await round();
    world.clock.advance(MINUTE);
    expect(await move('tempered')).toMatchObject({ action: 'accept' });
    expect(world.machine.living).toHaveLength(0);
    expect(stored()).toMatchObject({ status: 'active' });
    expect(Date.parse(stored().svc?.runtime?.handed_off_at ?? '')).toBeGreaterThan(
      Date.parse(stored().svc?.runtime?.dispatched_at ?? ''),
    );
    await settle();
    expect(world.machine.creates).toHaveLength(1);
    expect(daemon.row('a')).toMatchObject({ next_due_at: Date.UTC(2026, 5, 2, 9) });
  });

  it('[WPL-2] a launch that is refused leaves the fiber in its column and says what is needed', async () => {
    world.fiber('a', {}, { status: 'open' });
    world.directories.set('/srv/dev', { kind: 'missing' });
    await round();
    expect(await move('inFlight')).toMatchObject({
      invoked: false,
      dispatched: false,
      action: 'dispatch',
      reason: 'arm_refused',
      needs: 'project_dir',
    });
    expect(stored().status).toBe('open');
  });

  it('[WPL-2] writes nothing when the worker cannot be seen to end', async () => {
    world.fiber('a');
    await round();
    daemon.world.processes.end = async () => {};
    daemon.world.mux.kill = async () => 'unknown';
    await expect(move('composted')).rejects.toMatchObject({ code: 'mux_unavailable' });
    expect(stored().status).toBe('active');
  });
});

describe('standing roles', () => {
  it('[STD-1] [LIF-5] a run by hand is ad hoc, a due one scheduled, and each closes into review at its end', async () => {
    world.fiber('a', standing);
    await round();
    expect(stored().svc?.runtime?.run_id).toBe(`scheduled-${Date.UTC(2026, 0, 1, 9)}`);
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await round();
    expect(stored().status).toBe('closed');
    const at = world.clock.now();
    await world.run(daemon.dispatcher.dispatch({ fiber_id: 'a', force: true, ad_hoc: true }));
    expect(stored().svc?.runtime?.run_id).toBe(`adhoc-${at}`);
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await round();
    expect(stored().status).toBe('closed');
  });

  it('[STD-1] [P30] fires once over restarts and over a clock that jumps ahead and back', async () => {
    world.fiber('a', standing, { 'created-at': '2026-06-01T00:00:00.000Z' });
    await round();
    expect(world.machine.creates).toHaveLength(1);
    const again = async () => {
      boot();
      await settle();
      if (stored().status === 'closed') await verb({ action: 'accept' });
      await settle();
    };
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await again();
    await again();
    expect(world.machine.creates).toHaveLength(1);
    world.clock.advance(36 * 60 * MINUTE);
    await settle();
    expect(world.machine.creates).toHaveLength(2);
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await settle();
    world.clock.advance(-30 * 60 * MINUTE);
    await again();
    expect(world.machine.creates).toHaveLength(2);
    expect(daemon.row('a')?.next_due_at).toBeLessThanOrEqual(Date.UTC(2026, 5, 3, 9));
  });
});

it('[DSP-2] a oneshot that a person armed in an editor is taken up although its verdict was left in place', async () => {
  world.fiber('a', {}, { tempered: 'false' });
  await round();
  expect(world.machine.living).toHaveLength(1);
});
