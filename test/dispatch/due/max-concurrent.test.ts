import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PhaseSign } from '../../../src/dispatch/run-directory/phase-signs.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  world.most_workers = 2;
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
/** A fiber whose worker has come up, and tells of itself by its hooks. */
const works = async (name: string) => {
  world.fiber(name);
  await round();
  const run = daemon.memory.runs.all().find(({ fiber_id }) => fiber_id === name)!;
  const session = run.session_uuid ?? '';
  world.writesTranscript(run.launch_id, session);
  await round();
  return (phase: PhaseSign['phase']) => {
    const sign = { session, at: world.clock.now(), phase, said: null };
    appendFileSync(join(world.data_dir, 'runs', run.launch_id, 'phases.jsonl'), `${JSON.stringify(sign)}\n`);
  };
};
const started = () => world.machine.creates.map(({ name }) => name.split('-')[0]);
/** Ends a worker for good: its fiber is closed. */
const finish = (name: string) => {
  const path = world.documents.index.get(name).path;
  world.documents.edit(path, (text) => text.replace('status: active', 'status: closed'));
  world.machine.exit(world.machine.worker(name), { code: 0 });
};

describe('max_concurrent', () => {
  it('lets the poller run that many workers and tells the others their count and their turn', async () => {
    for (const id of ['a', 'b', 'c']) world.fiber(id);
    await round();
    expect(world.machine.living).toHaveLength(2);
    const why = await world.run(daemon.dispatcher.why('c', { look: true }));
    expect(why).toMatchObject({
      verdict: 'waits',
      first: { gate: 'max_concurrent' },
      workers: { count: 2, resting: 0, most: 2 },
      waits_since: expect.any(Number),
    });
    expect(why.first?.message).toContain('2 of at most 2 workers run');
    expect(daemon.row('c')).toMatchObject({ gate: 'max_concurrent' });
    expect(daemon.row('c')?.blocked).toBeUndefined();
    expect(daemon.state().workers).toEqual({ count: 2, resting: 0, most: 2 });
  });

  it('lets another fiber start while a worker waits for a person, and counts it again once it works', async () => {
    world.place_kept_ms = 60_000;
    world.most_workers = 1;
    daemon = world.boot({ released: true });
    const tell = await works('asks');
    world.fiber('waits');
    world.clock.advance(10_000);
    tell('waiting');
    world.clock.advance(59_000);
    await round();
    expect(started()).toEqual(['asks']);
    world.clock.advance(1_000);
    await round();
    expect(started()).toEqual(['asks', 'waits']);
    expect(daemon.state().workers).toEqual({ count: 2, resting: 1, most: 1 });
    world.fiber('third');
    tell('working');
    await round();
    expect(started()).toEqual(['asks', 'waits']);
    expect(daemon.state().workers).toEqual({ count: 2, resting: 0, most: 1 });
  });

  it('counts a worker that rests for as long as it runs where the operator wants it so', async () => {
    world.most_workers = 1;
    daemon = world.boot({ released: true });
    const tell = await works('asks');
    world.fiber('waits');
    world.clock.advance(10_000);
    tell('idle');
    world.clock.advance(3_600_000);
    await round();
    expect(started()).toEqual(['asks']);
  });

  it('[WPL-1] is passed by a forced start', async () => {
    for (const id of ['a', 'b', 'c']) world.fiber(id);
    await round();
    const waiting = ['a', 'b', 'c'].find((id) => !started().includes(id))!;
    expect(await world.run(daemon.dispatcher.dispatch({ fiber_id: waiting }))).toMatchObject({
      dispatched: true,
    });
    expect(world.machine.living).toHaveLength(3);
  });

  it('gives a free place to whoever has waited longest, also over a document that moved just now', async () => {
    world.fiber('a');
    world.fiber('b');
    await round();
    for (const id of ['z', 'y', 'x']) {
      world.clock.advance(1_000);
      world.fiber(id);
      await round();
    }
    world.clock.advance(1_000);
    const path = world.fiber('newest');
    finish('a');
    await world.run(daemon.dispatcher.reconcile());
    await world.run(daemon.dispatcher.rounds.startMoved(new Set([path])));
    finish('b');
    await round();
    expect(started().slice(2)).toEqual(['z', 'y']);
  });

  it('gives the place of a refused start to the next one in the same round', async () => {
    world.most_workers = 1;
    daemon = world.boot({ released: true });
    world.directories.set('/srv/gone', { kind: 'missing' });
    world.fiber('first', { project_dir: '/srv/gone' }, { 'updated-at': '2026-01-01T00:00:00.000Z' });
    world.fiber('second', {}, { 'updated-at': '2026-01-02T00:00:00.000Z' });
    await round();
    expect(started()).toEqual(['second']);
    expect(daemon.row('first')?.blocked?.reason).toBe('project_dir_missing');
  });

  it('is never exceeded, and everybody gets a turn in the order of waiting', async () => {
    const arrivals = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), arrivals, async (most, groups) => {
        world.dispose();
        world = new FakeWorld();
        world.most_workers = most;
        daemon = world.boot({ released: true });
        const order: string[] = [];
        for (const [turn, size] of groups.entries()) {
          world.clock.advance(1_000);
          for (let at = 0; at < size; at += 1) {
            const id = `f${turn}x${at}`;
            world.fiber(id);
            order.push(id);
          }
          await round();
          expect(world.machine.living.length).toBeLessThanOrEqual(most);
        }
        for (let left = order.length; left > 0; left -= 1) {
          const [oldest] = world.machine.living;
          if (oldest === undefined) break;
          finish(oldest.session.name.split('-')[0]!);
          world.clock.advance(1_000);
          await round();
          expect(world.machine.living.length).toBeLessThanOrEqual(most);
        }
        expect(started()).toEqual(order);
      }),
      { numRuns: 60 },
    );
  });
});
