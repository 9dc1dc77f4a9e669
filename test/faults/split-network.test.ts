import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { networkHindrance } from '../kit/network.ts';
import { until } from '../kit/until.ts';
import { Fleet, type Remote } from './fleet.ts';
import { Writes } from './fleet-writes.ts';

/** `ssh` gives a connection up within a minute. */
const SSH_ENDS_MS = 75_000;
/** Of the age that is shown, in milliseconds: what is asked now and then may have been asked so long before. */
const AGE_ERROR_MS = 8_000;

const hindrance = networkHindrance();
let fleet: Fleet;
/** The remote whose link is taken down, and the other one. */
let far: Remote;
let near: Remote;

beforeAll(async () => {
  if (hindrance !== null) return;
  fleet = await Fleet.start();
  [far, near] = fleet.remotes as [Remote, Remote];
});
beforeEach(({ skip }) => (hindrance === null ? fleet.mend() : skip(hindrance)));
afterAll(() => fleet?.dispose());

it('[RPL-2] [RTE-7] shows a host behind a cut link with the age of its rows within 15 s, and heals without a person', async () => {
  const before = await fleet.when(far, 'fresh');
  far.link.down();
  const cut_at = Date.now();
  const stale = await fleet.when(far, 'stale');
  expect(Date.now() - cut_at).toBeLessThan(15_000);
  expect(stale.error?.code).toBe('remote_unreachable');
  expect(stale.read).toEqual(before.read);
  expect(Math.abs(cut_at - stale.last_ok_at!)).toBeLessThan(AGE_ERROR_MS);
  expect(await fleet.standing(far)).toMatchObject({ state: 'stale', last_ok_at: stale.last_ok_at });
  expect(await fleet.shown(near)).toMatchObject({ state: 'fresh', error: null });
  await until('the breaker', async () => (await fleet.standing(far))?.breaker === 'tripped');

  // That host is well, and works on.
  const outcome = `Done at ${cut_at}.`;
  const edited = await far.daemon.http.post('/fiber-edit', { fiber_id: 'apart', outcome });
  expect(edited.status).toBe(200);
  expect((await fleet.row(far, 'apart'))?.outcome).not.toBe(outcome);
  far.link.up();
  await fleet.when(far, 'fresh');
  await until('the news', async () => (await fleet.row(far, 'apart'))?.outcome === outcome);
  expect(await fleet.standing(far)).toMatchObject({ error: null, breaker: 'closed' });
});

it('[RTE-2] [MSG-3] [RCP-5] writes once, or says that it may have failed, through a link that is cut until ssh gives up', async () => {
  const writes = await Writes.begin(fleet);
  await writes.further(far, 'done', 20);
  far.link.down();
  await writes.further(near, 'done', 50);
  await writes.further(far, 'maybe', 2, SSH_ENDS_MS);
  await writes.further(far, 'not_done', 3);
  expect(await fleet.shown(near)).toMatchObject({ state: 'fresh', error: null });
  far.link.up();
  await writes.further(far, 'done', 20, SSH_ENDS_MS);
  await fleet.when(far, 'fresh');
  expect(await writes.faults()).toEqual([]);
});

it('[RTE-2] [MSG-3] writes once, and loses nothing, through a link that comes and goes', async () => {
  const writes = await Writes.begin(fleet);
  for (let time = 0; time < 3; time += 1) {
    await writes.further(far, 'done', 20);
    far.link.down();
    await writes.further(near, 'done', 40);
    far.link.up();
  }
  await writes.further(far, 'done', 20);
  expect(await writes.faults()).toEqual([]);
});
