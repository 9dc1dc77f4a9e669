import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Meeting } from '../../src/contract/http/meeting.ts';
import { FIBER, REFUSED } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

const MEETING: Meeting = {
  ...{ state: 'starting', mode: 'phone', title: 'Weekly', started_at: 1, tail: [] },
  ...{ transcript: '/data/meetings/weekly.txt', mirror_host: null, fiber: FIBER.id, joined: true },
  ...{ phone: true, launch: '01K0', mux_session: 'recorder-meeting', error: null },
};

let served: ServedRoutes;
afterEach(() => served.stop());

it('[MTG-2] answers a join whose delivery is refused with its status, its code as error, and the recording', async () => {
  served = await serveRoutes();
  const { audio, poller } = served.callers;
  poller.answers.fiber = () => ({ fiber: FIBER });
  poller.answers.dispatch = () => REFUSED;
  audio.answers.start_meeting = () => ({ meeting: MEETING, scribe_transcript: null });
  const answer = await served.post('/api/v1/meeting/join', {
    fiber_id: FIBER.id,
    meeting: { mode: 'phone' },
  });
  expect(answer.status).toBe(422);
  expect(answer.json).toEqual({
    ...REFUSED,
    ...{ error: REFUSED.reason, delivered: false, delivery: 'dispatch' },
    ...{ recording: true, meeting: MEETING },
  });
});

it('[RCP-5] says of a mark that the session of its scribe on another host refused it', async () => {
  served = await serveRoutes();
  const { audio, fleet } = served.callers;
  const receipt = {
    ...{ message_id: 'm', address: 'svc://host-b/claude/s-1', status: 'rejected', transport: 'none', at: 1 },
    ...{ reason: 'session_unavailable', detail: 'its conversation cannot be resumed any more' },
  };
  audio.answers.mark_meeting = () => ({
    ...{ line: '# mark 10:00:00 agreed', meeting: { ...MEETING, state: 'live' } },
    place: { owner: 'host-b', fiber_uid: FIBER.uid },
  });
  const session = { harness: 'claude', native_id: 's-1' };
  fleet.answers.scribe = () => ({ scribe: { host: 'host-b', fiber: FIBER.id, uid: FIBER.uid, session } });
  fleet.answers.write_to_host = () => ({ status: 200, body: receipt });
  const { status, json } = await served.post('/api/v1/meeting/mark', { text: 'agreed' });
  expect([status, json.undelivered]).toEqual([200, receipt.detail]);
});

it('says of a mark that waits for its scribe that this daemon alone remembers to tell it', async () => {
  served = await serveRoutes();
  const { audio, poller, fleet } = served.callers;
  audio.answers.mark_meeting = () => ({
    ...{ line: '# mark 10:00:00 agreed', meeting: { ...MEETING, fiber: null, joined: false } },
    place: { owner: null, fiber_uid: null },
  });
  poller.answers.fiber_of_meeting = () => ({ fiber: null });
  fleet.answers.scribe = () => ({ scribe: null });
  const { status, json } = await served.post('/api/v1/meeting/mark', { text: 'agreed' });
  expect([status, json.undelivered]).toEqual([
    200,
    expect.stringContaining('unless this daemon ends before'),
  ]);
});

it('answers a mark that is written though the host of its scribe hangs, and tells that scribe once', async () => {
  served = await serveRoutes();
  const { audio, fleet } = served.callers;
  served.context.clock.after = (_, run) => systemClock.after(1, run);
  audio.answers.mark_meeting = () => ({
    ...{ line: '# mark 10:00:00 agreed', meeting: { ...MEETING, state: 'live' } },
    place: { owner: 'host-b', fiber_uid: FIBER.uid },
  });
  const session = { harness: 'claude', native_id: 's-1' };
  fleet.answers.scribe = () => ({ scribe: { host: 'host-b', fiber: FIBER.id, uid: FIBER.uid, session } });
  const hanging = Promise.withResolvers<{ status: number; body: unknown }>();
  let writes = 0;
  fleet.answers.write_to_host = () => {
    writes += 1;
    return hanging.promise;
  };
  const { status, json } = await served.post('/api/v1/meeting/mark', { text: 'agreed' });
  expect([status, json.line]).toEqual([200, '# mark 10:00:00 agreed']);
  expect(json.undelivered).toContain('has not answered yet');
  hanging.resolve({ status: 200, body: {} });
  await served.get('/api/v1/version');
  expect(writes).toBe(1);
});
