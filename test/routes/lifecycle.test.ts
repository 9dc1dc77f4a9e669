import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { FIBER, REFUSED } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
});
afterEach(() => served.stop());
const lifecycle = (body: unknown) => served.post('/api/v1/lifecycle', body);

describe('POST /lifecycle', () => {
  it('[WPL-3] answers 200 with the text of the command', async () => {
    served.callers.poller.answers.lifecycle = () => ({
      status: 0,
      text: 'a: ready to start, on a schedule on host-a\n',
      error: null,
    });
    const body = { fiber: FIBER.id, action: 'accept', outcome: 'Done.', origin: 'elsewhere' };
    expect(await lifecycle(body)).toMatchObject({
      status: 200,
      body: 'a: ready to start, on a schedule on host-a\n',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    });
    expect(served.callers.poller.asked).toEqual([{ name: 'lifecycle', input: body }]);
  });

  it('[WPL-3] [ERR-1] [ERR-18] answers a refusal 422 as text, with its code in a header', async () => {
    served.callers.poller.answers.lifecycle = () => ({
      status: 1,
      text: 'it has no svc block',
      error: 'invalid_request',
    });
    expect(await lifecycle({ fiber: 'a', action: 'resume' })).toMatchObject({
      status: 422,
      body: 'svc exited 1: it has no svc block\n',
      headers: { 'content-type': 'text/plain; charset=utf-8', 'svc-error': 'invalid_request' },
    });
  });

  it.each([
    [{ fiber: 'a', action: 'explode' }, 'unknown action "explode"'],
    [{ fiber: 'a', action: 'close' }, 'unknown action "close"; send it to POST /transition'],
    [{ fiber: 'a', action: 'reopen' }, 'unknown action "reopen"; send it to POST /transition'],
    [{ fiber: 'a', action: 'constructor' }, 'unknown action "constructor"'],
    [{ fiber: 'a', action: 7 }, 'unknown action 7'],
    [{ fiber: 'a' }, '"action" is missing'],
    [{ action: 'pause' }, '"fiber" is missing'],
    [{ fiber: 'a', action: 'repeat' }, '"schedule" is missing'],
    [{ fiber: 'a', action: 'set-agent' }, '"agent" is missing'],
    [{ fiber: 'a', action: 'set-outcome' }, '"outcome" is missing'],
    [{ fiber: 'a', action: 'set-outcome', outcome: ' ' }, '"outcome" of set-outcome is empty'],
    [{ fiber: 'a', action: 'pause', force: true }, 'pause has no field "force"'],
    [{ fiber: 'a', action: 'install', surface: 'web' }, '"surface" of install'],
  ])('[ERR-1] [ERR-2] answers 400 as text for %j', async (body, sentence) => {
    const answer = await lifecycle(body);
    expect(answer).toMatchObject({ status: 400, headers: { 'content-type': 'text/plain; charset=utf-8' } });
    expect(answer.body).toContain(sentence);
    expect(served.callers.poller.asked).toEqual([]);
  });

  it.each([
    ['cli_unavailable', 503],
    ['cli_timed_out', 504],
  ])('[WPL-3] shows %s as %d', async (code, status) => {
    served.callers.poller.answers.lifecycle = () => {
      throw new CodedError(code, 'because');
    };
    expect(await lifecycle({ fiber: 'a', action: 'resume' })).toMatchObject({
      status,
      json: { error: code },
    });
  });
});

it('[WPL-3] POST /lifecycle takes the eleven actions of the contract', async () => {
  const fields = { schedule: '@daily', model: 'm', agent: 'g', outcome: 'o' };
  const needs: Record<string, (keyof typeof fields)[]> = {
    ...{ install: [], pin: [], repeat: ['schedule'], reshape: [], pause: [], resume: [], accept: [] },
    ...{ 'set-model': ['model'], 'set-agent': ['agent'], 'set-outcome': ['outcome'], uninstall: [] },
  };
  served.callers.poller.answers.lifecycle = () => ({ status: 0, text: 'ok\n', error: null });
  expect(Object.keys(needs)).toHaveLength(11);
  for (const [action, names] of Object.entries(needs)) {
    const body = { fiber: 'a', action, ...Object.fromEntries(names.map((name) => [name, fields[name]])) };
    expect([action, (await lifecycle(body)).status]).toEqual([action, 200]);
  }
});

describe('POST /transition', () => {
  it.each([
    [
      { action: 'close', outcome: 'Not needed.', kill: true },
      { outcome: 'Not needed.', kill: true },
    ],
    [{ action: 'reopen', store: '/s' }, { store: '/s' }],
  ])('[WPL-2] [WPL-3] takes %j and answers the text of the command', async (given, fields) => {
    served.callers.poller.answers.lifecycle = () => ({ status: 0, text: 'a: closed\n', error: null });
    const answer = await served.post('/api/v1/transition', { fiber_id: 'a', ...given });
    const { action } = given;
    expect(answer).toMatchObject({
      status: 200,
      json: { fiber_id: 'a', action, invoked: true, text: 'a: closed\n' },
    });
    expect(served.callers.poller.asked).toEqual([
      { name: 'lifecycle', input: { fiber: 'a', action, ...fields } },
    ]);
  });

  it.each([
    {},
    { target: 'drafts', action: 'close' },
    { action: 'pause' },
    { action: 'reopen', outcome: 'x' },
  ])('[WPL-2] answers 400 for %j', async (fields) => {
    const answer = await served.post('/api/v1/transition', { fiber_id: 'a', ...fields });
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(served.callers.poller.asked).toEqual([]);
  });

  const moved = { fiber_id: FIBER.id, target: 'tempered', origin: 'host-a', action: 'accept' };

  it('[WPL-2] answers what was done', async () => {
    served.callers.poller.answers.transition = () => ({ ...moved, invoked: true });
    const answer = await served.post('/api/v1/transition', { fiber_id: FIBER.id, target: 'tempered' });
    expect(answer).toMatchObject({ status: 200, json: { ...moved, invoked: true } });
  });

  it('[WPL-2] answers a refused launch 422, with the missing input', async () => {
    served.callers.poller.answers.transition = () => ({
      ...moved,
      ...REFUSED,
      target: 'inFlight',
      action: 'dispatch',
      invoked: false,
    });
    const answer = await served.post('/api/v1/transition', { fiber_id: FIBER.id, target: 'inFlight' });
    expect(answer).toMatchObject({
      status: 422,
      json: { invoked: false, dispatched: false, needs: 'project_dir' },
    });
  });

  it.each([[{ fiber_id: 'a', target: 'done' }], [{ fiber_id: '' }], [{ target: 'drafts' }]])(
    '[WPL-2] refuses %j',
    async (body) => {
      expect((await served.post('/api/v1/transition', body)).status).toBe(400);
      expect(served.callers.poller.asked).toEqual([]);
    },
  );
});

describe('POST /fiber-nest and /agents/effort', () => {
  it('[WPL-12] returns the new id', async () => {
    const nested = { fiber_id: 'a', new_id: 'b/a', rewritten: ['c'], unwritten: [] };
    served.callers.poller.answers.nest_fiber = () => nested;
    expect(await served.post('/api/v1/fiber-nest', { fiber_id: 'a', parent: 'b' })).toMatchObject({
      status: 200,
      json: nested,
    });
    expect((await served.post('/api/v1/fiber-nest', { fiber_id: 'a' })).status).toBe(400);
  });

  it('[WPL-17] is host-addressed, and answers 404 and 422 for unknown agents and efforts', async () => {
    const post = (body: unknown) => served.post('/api/v1/agents/effort', body);
    expect(await post({ id: 'a', effort: null, origin: 'host-z' })).toMatchObject({
      status: 404,
      json: { error: 'unknown_host' },
    });
    for (const [code, status] of [
      ['agent_not_found', 404],
      ['effort_unknown', 422],
    ] as const) {
      served.callers.poller.answers.agent_effort = () => {
        throw new CodedError(code, 'because');
      };
      expect(await post({ id: 'a', effort: 'high', origin: 'host-a' })).toMatchObject({
        status,
        json: { error: code, message: 'because' },
      });
    }
    expect((await post({ id: 'a' })).status).toBe(400);
  });
});
