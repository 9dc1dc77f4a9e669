import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rearmed } from '../../../src/lifecycle/rearm.ts';
import { planConclude } from '../../../src/lifecycle/run-transitions.ts';
import { fiberDocument } from '../../fixtures/fibers/fiber-document.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

const DAY = 24 * 60 * 60_000;
let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const restart = async () => {
  daemon = world.boot({ released: true });
  await round();
};
const ROLE = { kind: 'standing', schedule: '"0 8 * * *"', auto_accept: 'true' };
const SINCE = { 'created-at': '2026-01-05T07:00:00.000Z' };
const acceptances = () => world.ledger.filter(({ kind }) => kind === 'accepted');
const writeOutcome = (path: string, outcome: string) => {
  world.documents.edit(path, (text) => text.replace(/^status:/m, `outcome: ${outcome}\nstatus:`));
  world.documents.list();
};

describe('a role with auto_accept', () => {
  it('[LIF-6] [STD-1] goes on by itself for three nights of the same outcome, over restarts, each occurrence once', async () => {
    const path = world.fiber('role', ROLE, SINCE);
    for (let night = 1; night <= 3; night += 1) {
      await round();
      expect(world.machine.creates).toHaveLength(night);
      expect(daemon.row('role')?.outcome).toBeUndefined();
      writeOutcome(path, 'Nothing new.');
      await world.handOff('role');
      await restart();
      await round();
      expect(daemon.row('role')).toMatchObject({ status: 'active', outcome: 'Nothing new.' });
      expect(daemon.state().standing_roles).toMatchObject([
        { state: 'armed', auto_accept: true, next_due_at: expect.any(Number) },
      ]);
      await round();
      expect(world.machine.creates).toHaveLength(night);
      expect(acceptances()).toHaveLength(night);
      world.clock.advance(DAY);
    }
    const runs = world.ledger.filter(({ kind }) => kind === 'dispatch').map(({ run_id }) => run_id);
    expect(acceptances().map(({ run_id }) => run_id)).toEqual(runs);
    await round();
    expect(daemon.row('role')?.svc?.runtime?.previous_outcome).toBe('Nothing new.');
  });

  it.each<[string, (path: string) => unknown, boolean]>([
    ['handed off without an outcome of its own', () => world.handOff('role'), false],
    [
      'died after it wrote one',
      (path) => {
        writeOutcome(path, 'Half.');
        world.machine.exit(world.machine.worker('role'), { code: 1 });
      },
      true,
    ],
    [
      'was killed after it wrote one',
      (path) => {
        writeOutcome(path, 'Half.');
        return world.run(daemon.dispatcher.kills.kill('role'));
      },
      true,
    ],
  ])('[LIF-5] awaits review after a run that %s, and says so everywhere', async (_, end, has_outcome) => {
    const path = world.fiber('role', ROLE, { ...SINCE, outcome: 'Of the night before.' });
    await round();
    await end(path);
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(daemon.row('role')).toMatchObject({ status: 'closed' });
    expect(acceptances()).toEqual([]);
    expect([daemon.row('role')?.tempered, daemon.row('role')?.next_due_at]).toEqual([undefined, undefined]);
    expect(daemon.row('role')?.outcome !== undefined).toBe(has_outcome);
    expect(daemon.row('role')?.svc?.runtime?.previous_outcome).toBe('Of the night before.');
    expect(daemon.state().standing_roles).toMatchObject([{ state: 'awaiting_review', next_due_at: null }]);
    const why = await world.run(daemon.dispatcher.why('role', { look: false }));
    expect(why.first).toMatchObject({ gate: 'status', mend: expect.stringContaining('svc accept role') });
    expect(why.first?.mend).not.toContain('svc dispatch');
    world.clock.advance(3 * DAY);
    await round();
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[LIF-5] is concluded by the next daemon as by the one that saw the end', async () => {
    const path = world.fiber('role', ROLE, SINCE);
    await round();
    writeOutcome(path, 'Done.');
    world.documents.locked = true;
    world.machine.exit(world.machine.worker('role'), { code: 0 });
    await round();
    expect(acceptances()).toEqual([]);
    world.documents.locked = false;
    await restart();
    await round();
    expect(acceptances()).toHaveLength(1);
    expect(daemon.row('role')).toMatchObject({ status: 'active', outcome: 'Done.' });
    expect(daemon.state().standing_roles).toMatchObject([{ state: 'armed' }]);
    expect(world.machine.creates).toHaveLength(1);
  });

  it('[LIF-5] [LIF-6] is accepted only where its run was faultless and left an outcome, whatever the document', () => {
    const field = <const T>(...values: T[]) => fc.constantFrom(...values);
    const document = fc.record({
      status: field('open', 'active', 'closed'),
      kind: field('oneshot', 'standing', 'pinned'),
      auto_accept: field(true, false, undefined),
      outcome: field('Done.', ' ', '', undefined),
    });
    fc.assert(
      fc.property(document, fc.boolean(), ({ status, kind, auto_accept, outcome }, faultless) => {
        const svc = { kind, ...(auto_accept === undefined ? {} : { auto_accept }) };
        const given = fiberDocument({ status, svc, ...(outcome === undefined ? {} : { outcome }) });
        const plan = planConclude(given, { faultless }, 1_000);
        const accepts = faultless && kind === 'standing' && auto_accept === true && outcome === 'Done.';
        expect(plan?.set['svc.runtime.handed_off_at'] !== undefined).toBe(status === 'active' && accepts);
        expect(plan?.set.status === 'closed').toBe(status === 'active' && kind === 'standing' && !accepts);
      }),
    );
  });
});

describe('a role that is armed while its worker still runs', () => {
  it('[LIF-6] has a later death recorded as a death', async () => {
    const path = world.fiber('role', { kind: 'standing', schedule: '"0 8 * * *"' }, SINCE);
    await round();
    world.documents.edit(path, (text) => text.replace('status: active', 'status: closed'));
    world.documents.list();
    world.clock.advance(60_000);
    const row = world.documents.index.get('role');
    const facts = { this_host: 'host-a', new_uid: 'x', running: true };
    const edit = rearmed(row, { set: {}, unset: ['closed-at'] }, facts, world.clock.now());
    expect(edit.set).toEqual({ status: 'active' });
    expect(
      rearmed(row, { set: {}, unset: [] }, { ...facts, running: false }, world.clock.now()).set,
    ).toHaveProperty(['svc.runtime.handed_off_at']);
    world.documents.edit(path, (text) => text.replace('status: closed', 'status: active'));
    world.documents.list();
    world.machine.exit(world.machine.worker('role'), { code: 1 });
    for (let turn = 0; turn < 2; turn += 1) await round();
    expect(world.ledger.filter(({ kind }) => kind === 'ended').map(({ reason }) => reason)).toEqual([
      'exited',
    ]);
  });
});
