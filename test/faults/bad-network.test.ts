import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { networkHindrance } from '../kit/network.ts';
import { Fleet, type Remote } from './fleet.ts';
import { Writes } from './fleet-writes.ts';

const KILLS = 3;

const hindrance = networkHindrance();
let fleet: Fleet;
/** The remote that it happens to, and the other one. */
let far: Remote;
let near: Remote;

beforeAll(async () => {
  if (hindrance !== null) return;
  fleet = await Fleet.start();
  [far, near] = fleet.remotes as [Remote, Remote];
});
beforeEach(({ skip }) => (hindrance === null ? fleet.mend() : skip(hindrance)));
afterAll(() => fleet?.dispose());

it('[RTE-2] [RTE-7] [MSG-3] writes once through a line that is slow, stalls, loses bytes and breaks, and heals without a person', async () => {
  const writes = await Writes.begin(fleet);
  await far.line.set({ delay_ms: 150 });
  await writes.further(far, 'done', 20);
  expect(await fleet.shown(far)).toMatchObject({ state: 'fresh' });

  await far.line.set({ stalls: true });
  const stalled_at = Date.now();
  await fleet.when(far, 'stale');
  expect(Date.now() - stalled_at).toBeLessThan(15_000);
  await far.line.set({});
  await writes.further(far, 'done', 20);
  await fleet.when(far, 'fresh');

  await far.line.set({ loses: true });
  await fleet.when(far, 'stale');
  expect(await fleet.shown(near)).toMatchObject({ state: 'fresh', error: null });
  await far.line.set({});
  for (let time = 0; time < 3; time += 1) {
    await far.line.cut();
    await writes.further(far, 'done', 10);
  }
  await fleet.when(far, 'fresh');
  expect(await writes.faults()).toEqual([]);
});

it('[RTE-2] [RTE-7] [MSG-3] loses nothing and writes nothing twice while the hub is killed, nor what it knew of a host', async () => {
  const writes = await Writes.begin(fleet);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await writes.further(far, 'done', 20);
    await fleet.hub.kill9();
    await fleet.hub.start();
    await fleet.when(far, 'fresh');
  }
  await fleet.hub.kill9();
  const killed_at = Date.now();
  far.link.down();
  await fleet.hub.start();
  const stale = await fleet.when(far, 'stale');
  expect(stale.last_ok_at).toBeLessThanOrEqual(killed_at);
  expect(await fleet.row(far, 'notes')).toMatchObject({ id: 'notes' });
  far.link.up();
  await writes.further(far, 'done', 20);
  await fleet.when(far, 'fresh');
  expect(await writes.faults()).toEqual([]);
});

it('[RTE-2] [RTE-7] [MSG-3] [P13] loses no write and no worker, and doubles none, while a remote is killed', async () => {
  const listeners = await far.listeners();
  const sessions = await far.daemon.home.sessions();
  const writes = await Writes.begin(fleet);
  for (let kill = 0; kill < KILLS; kill += 1) {
    await writes.further(far, 'done', 20);
    await far.daemon.kill9();
    await writes.further(far, 'maybe', 5);
    expect(await fleet.shown(near)).toMatchObject({ state: 'fresh', error: null });
    await far.daemon.start();
    await fleet.when(far, 'fresh');
  }
  await writes.further(far, 'done', 20);
  expect(await writes.faults()).toEqual([]);
  expect(await far.listeners()).toEqual(listeners);
  expect(await far.daemon.home.sessions()).toEqual(sessions);
});
