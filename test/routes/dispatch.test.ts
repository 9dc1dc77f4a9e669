import { afterEach, beforeEach, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { rehearsal } from '../../src/contract/http/rehearsal.ts';
import type { pollerCalls } from '../../src/contract/threads/poller.ts';
import { DISPATCHED, FIBER, REFUSED } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;

beforeEach(async () => {
  served = await serveRoutes();
});

afterEach(() => served.stop());

it('[WPL-1] launches and returns the session', async () => {
  served.callers.poller.answers.dispatch = () => DISPATCHED;
  const body = { fiber_id: FIBER.id, force: true, resume_mode: 'fresh', origin: 'elsewhere' };
  expect(await served.post('/api/v1/dispatch', body)).toMatchObject({ status: 200, json: DISPATCHED });
  expect(served.callers.poller.asked).toEqual([{ name: 'dispatch', input: body }]);
});

it('[WPL-1] sends the message to the worker that runs already, and says how far it came', async () => {
  const found = { ...DISPATCHED, already_running: true, harness: 'claude', session_uuid: 's-1' };
  const receipt = {
    ...{ message_id: 'm-1', address: 'svc://host-a/claude/s-1', status: 'queued' as const },
    ...{ transport: 'held', detail: 'its worker starts', at: 1 },
  };
  served.callers.poller.answers.dispatch = () => found;
  served.callers.messages.answers.send = () => receipt;
  const answer = await served.post('/api/v1/dispatch', { fiber_id: FIBER.id, user_message: 'Hi.' });
  expect(answer.json).toEqual({
    ...{ ...found, receipt },
    notes: ['the message waits for the worker that runs already: its worker starts'],
  });
  expect(served.callers.messages.asked).toMatchObject([
    { input: { address: receipt.address, text: 'Hi.', wake: true } },
  ]);
  const typed = { fiber_id: FIBER.id, user_message: 'a\u0003b' };
  expect(await served.post('/api/v1/dispatch', typed)).toMatchObject({
    ...{ status: 400, json: { error: 'invalid_request' } },
  });
  expect(served.callers.messages.asked).toHaveLength(1);
});

it('[WPL-1] [ERR-17] answers a refusal 422 with its own body', async () => {
  served.callers.poller.answers.dispatch = () => REFUSED;
  const refused = await served.post('/api/v1/dispatch', { fiber_id: FIBER.id });
  expect(refused.status).toBe(422);
  expect(refused.json).toEqual(REFUSED);
});

it('[CAP-7] [ERR-24] answers the failure of an app server with its code as reason, and no detail of the daemon', async () => {
  for (const [path, call] of [
    ['claim', 'claim'],
    ['kill', 'kill'],
  ] as const) {
    served.callers.poller.answers[call] = () => {
      throw new CodedError('app_server_unavailable', 'start it', { details: { sent: false } });
    };
    const answer = await served.post(`/api/v1/${path}`, { fiber_id: 'a', mux_session: 'm' });
    expect(answer.status).toBe(503);
    const code = 'app_server_unavailable';
    expect(answer.json).toEqual({ error: code, reason: code, message: 'start it' });
  }
});

it('[WPL-1] answers 404 for an unknown fiber, 502 and 504 for a failed launch', async () => {
  const codes = { fiber_not_found: 404, launch_failed: 502, deadline_exceeded: 504, mux_unavailable: 503 };
  for (const [code, status] of Object.entries(codes)) {
    served.callers.poller.answers.dispatch = () => {
      throw new CodedError(code, 'because');
    };
    const answer = await served.post('/api/v1/dispatch', { fiber_id: 'x' });
    expect(answer).toMatchObject({ status, json: { error: code, message: 'because' } });
  }
});

it('[WPL-4] kills, and answers 404 if nothing runs', async () => {
  served.callers.poller.answers.kill = () => ({ killed: true, fiber_id: FIBER.id, mux_session: 'm' });
  expect((await served.post('/api/v1/kill', { fiber_id: FIBER.id })).json).toEqual({
    killed: true,
    fiber_id: FIBER.id,
    mux_session: 'm',
  });
  served.callers.poller.answers.kill = () => {
    throw new CodedError('no_worker', 'nothing runs');
  };
  expect((await served.post('/api/v1/kill', { fiber_id: FIBER.id })).status).toBe(404);
});

it('[WPL-25] releases the quarantine with or without a body', async () => {
  served.callers.poller.answers.release_quarantine = () => ({
    released: true,
    pending: 2,
    fibers: ['a', 'b'],
    held: [],
  });
  for (const body of [undefined, {}, { origin: 'host-a' }]) {
    expect((await served.post('/api/v1/quarantine/release', body)).json).toEqual({
      released: true,
      pending: 2,
      fibers: ['a', 'b'],
      held: [],
    });
  }
});

it('[RTE-3] [WPL-25] refuses to release for an unknown host', async () => {
  const answer = await served.post('/api/v1/quarantine/release', { origin: 'host-z' });
  expect(answer).toMatchObject({ status: 404, json: { error: 'unknown_host', origin: 'host-z' } });
  expect(served.callers.poller.asked).toEqual([]);
});

it('a plain-text write has no effect', async () => {
  served.callers.poller.answers.kill = () => ({ killed: true, fiber_id: FIBER.id, mux_session: null });
  const answer = await served.post('/api/v1/kill', { fiber_id: FIBER.id }, { 'Content-Type': 'text/plain' });
  expect(answer).toMatchObject({ status: 415, json: { error: 'unsupported_media_type' } });
  expect(served.callers.poller.asked).toEqual([]);
});

const REHEARSED = rehearsal('write work/loader', { documents: [{ path: '/x.md', diff: '@@' }] });

it.each<[string, keyof typeof pollerCalls, object]>([
  ['dispatch', 'dispatch', { fiber_id: FIBER.id }],
  ['kill', 'kill', { fiber_id: FIBER.id }],
  ['fiber/create', 'create_fiber', { name: 'New' }],
  ['fiber-edit', 'edit_fiber', { fiber_id: FIBER.id, name: 'Other' }],
  ['quarantine/release', 'release_quarantine', {}],
  ['brake', 'pull_brake', { kill: true }],
  ['brake/release', 'release_brake', {}],
  ['fiber-nest', 'nest_fiber', { fiber_id: 'a', parent: null }],
  ['agents/effort', 'agent_effort', { id: 'x', effort: 'low' }],
  ['claim', 'claim', { fiber_id: 'a', mux_session: 'm' }],
  ['transition', 'transition', { fiber_id: 'a', target: 'inFlight' }],
  ['lifecycle', 'lifecycle', { action: 'pause', fiber: 'a' }],
  ['incidents/resume', 'resume_incident', { id: 'i' }],
  ['incidents/dismiss', 'dismiss_incident', {}],
])('answers a dry run of POST /%s with the rehearsal and calls nothing else', async (path, write, body) => {
  const { poller } = served.callers;
  poller.answers[write] = () => REHEARSED;
  const asked = { ...body, dry_run: true };
  const answer = await served.post(`/api/v1/${path}`, asked);
  expect(answer).toMatchObject({ status: 200, json: REHEARSED });
  expect(poller.asked).toEqual([{ name: write, input: asked }]);
});

it('[ERR-17] answers a rehearsed refusal with the status and body of the real one', async () => {
  served.callers.poller.answers.dispatch = () => REFUSED;
  const answer = await served.post('/api/v1/dispatch', { fiber_id: FIBER.id, dry_run: true });
  expect(answer).toMatchObject({ status: 422, json: REFUSED });
});

it('[ERR-17] answers rehearsed refusals of other writes in their own shapes', async () => {
  const { answers } = served.callers.poller;
  const down = { ...REFUSED, reason: 'app_server_unavailable' };
  answers.dispatch = () => down;
  expect(await served.post('/api/v1/dispatch', { fiber_id: 'a', dry_run: true })).toMatchObject({
    status: 503,
    json: down,
  });
  const { needs: _needs, ...refused } = REFUSED;
  const moved = { ...refused, target: 'inFlight', origin: 'host-a', action: 'dispatch', invoked: false };
  answers.transition = () => moved;
  const move = await served.post('/api/v1/transition', { fiber_id: 'a', target: 'inFlight', dry_run: true });
  expect(move).toMatchObject({ status: 422, json: moved });
  answers.lifecycle = () => ({ status: 1, text: 'it is no role', error: 'invalid_request' });
  const verb = await served.post('/api/v1/lifecycle', { action: 'pause', fiber: 'a', dry_run: true });
  expect([verb.status, verb.body, verb.headers['svc-error']]).toEqual([
    422,
    'svc exited 1: it is no role\n',
    'invalid_request',
  ]);
});

it('[RTE-3] puts on and releases the brake of this host alone', async () => {
  const { poller } = served.callers;
  poller.answers.pull_brake = () => ({
    stopped: true,
    changed: true,
    since: 5,
    note: null,
    running: [],
    killed: [],
    not_killed: [],
  });
  poller.answers.release_brake = () => ({ stopped: false, changed: true, held: ['a'] });
  expect((await served.post('/api/v1/brake', { note: 'x' })).json).toMatchObject({ stopped: true, since: 5 });
  expect((await served.post('/api/v1/brake/release', {})).json).toMatchObject({ held: ['a'] });
  const asked = poller.asked.length;
  for (const path of ['brake', 'brake/release'])
    expect((await served.post(`/api/v1/${path}`, { origin: 'host-z' })).status).toBe(404);
  expect(poller.asked).toHaveLength(asked);
});

it('[DSP-4] asks why without checks outside the daemon, unless the request wants them', async () => {
  const { poller } = served.callers;
  poller.answers.why = () => ({
    fiber_id: FIBER.id,
    uid: FIBER.uid,
    host: 'host-a',
    at: 1,
    verdict: 'waits',
    first: { gate: 'held', state: 'shut', reason: 'held', message: 'm', mend: 'n' },
    gates: [{ gate: 'held', state: 'shut', reason: 'held', message: 'm', mend: 'n' }],
    project_dir: null,
    workers: { count: 0, resting: 0, most: null },
    waits_since: null,
  });
  expect((await served.get('/api/v1/why?fiber=work/loader')).json).toMatchObject({ verdict: 'waits' });
  await served.get('/api/v1/why?fiber=work/loader&look=true');
  expect(poller.asked.map(({ input }) => input)).toEqual([
    { fiber: 'work/loader', look: false },
    { fiber: 'work/loader', look: true },
  ]);
  expect((await served.get('/api/v1/why')).status).toBe(400);
});
