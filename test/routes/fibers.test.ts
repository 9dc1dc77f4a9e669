import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDeferred } from '../../src/base/deferred.ts';
import { CodedError } from '../../src/base/errors.ts';
import { FIBER } from './samples.ts';
import { runningPoller, type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
let etag: string | null;

beforeEach(async () => {
  etag = '"v1"';
  served = await serveRoutes();
  served.callers.poller.answers.feed = (input: { svc: boolean; body: boolean }) => ({
    value: {
      etag: etag === null ? null : etag.replace('v', input.body ? 'b' : input.svc ? 's' : 'v'),
      state: 'fresh',
    },
    bulk: Buffer.from(
      JSON.stringify({
        host: 'host-a',
        state: 'fresh',
        generated_at: served.callers.poller.asked.length,
        fibers: [],
      }),
    ),
  });
});

afterEach(() => served.stop());

function feedCalls(): unknown[] {
  return served.callers.poller.asked.filter((call) => call.name === 'feed').map((call) => call.input);
}

describe('GET /fibers', () => {
  it('[RPL-1] asks the poller once for each version and serves the cached bytes after that', async () => {
    served.callers.poller.notify('"v1"');
    const first = await served.get('/api/v1/fibers');
    const second = await served.get('/api/v1/fibers');
    expect(first).toMatchObject({ status: 200, headers: { etag: '"v1"', 'cache-control': 'no-cache' } });
    expect(second.body).toBe(first.body);
    expect(feedCalls()).toEqual([{ svc: false, body: false }]);
    await served.get('/api/v1/fibers?svc=true');
    expect(feedCalls()).toHaveLength(2);
  });

  it('[RPL-1] answers 304 from the tag alone, without a call', async () => {
    served.callers.poller.notify('"v1"', '"s1"');
    expect(await served.get('/api/v1/fibers', { 'If-None-Match': '"v1"' })).toMatchObject({
      status: 304,
      body: '',
      headers: { etag: '"v1"' },
    });
    expect((await served.get('/api/v1/fibers?svc=1', { 'If-None-Match': 'W/"s1"' })).status).toBe(304);
    expect(feedCalls()).toEqual([]);
    expect((await served.get('/api/v1/fibers?svc=1', { 'If-None-Match': '"v1"' })).status).toBe(200);
  });

  it('[RPL-1] fetches again after the poller reports a change of the feed', async () => {
    served.callers.poller.notify('"v1"');
    await served.get('/api/v1/fibers');
    etag = '"v2"';
    served.callers.poller.notify('"v2"');
    const moved = await served.get('/api/v1/fibers', { 'If-None-Match': '"v1"' });
    expect(moved).toMatchObject({ status: 200, headers: { etag: '"v2"' } });
    expect(feedCalls()).toHaveLength(2);
  });

  it('[RPL-1] has no tag while cold', async () => {
    etag = null;
    served.callers.poller.notify(null);
    const cold = await served.get('/api/v1/fibers', { 'If-None-Match': '*' });
    expect(cold.status).toBe(200);
    expect(cold.headers).not.toHaveProperty('etag');
    await served.get('/api/v1/fibers');
    expect(feedCalls()).toHaveLength(2);
  });

  it('calls once for all waiting clients, but never answers a later client with an older feed', async () => {
    const gate = createDeferred<void>();
    const answer = served.callers.poller.answers.feed!;
    served.callers.poller.answers.feed = async (input: never) => {
      const value = answer(input);
      await gate.promise;
      return value;
    };
    served.callers.poller.notify('"v1"');
    let arrived = 0;
    const { ready_ms } = served.context;
    // The kernel asks for each request whether the daemon is ready.
    served.context.ready_ms = () => {
      arrived += 1;
      return ready_ms();
    };
    const early = [served.get('/api/v1/fibers'), served.get('/api/v1/fibers'), served.get('/api/v1/fibers')];
    await expect.poll(() => arrived).toBe(3);
    expect(feedCalls()).toHaveLength(1);
    etag = '"v2"';
    served.callers.poller.notify('"v2"');
    const late = served.get('/api/v1/fibers');
    await expect.poll(feedCalls).toHaveLength(2);
    gate.resolve();
    expect(new Set((await Promise.all(early)).map((reply) => reply.headers.etag))).toEqual(new Set(['"v1"']));
    expect((await late).headers.etag).toBe('"v2"');
    expect((await served.get('/api/v1/fibers')).headers.etag).toBe('"v2"');
    expect(feedCalls()).toHaveLength(2);
  });

  it('takes the tag from an answer if no notice has arrived', async () => {
    await served.get('/api/v1/fibers');
    expect((await served.get('/api/v1/fibers', { 'If-None-Match': '"v1"' })).status).toBe(304);
    expect(feedCalls()).toHaveLength(1);
  });

  it('never shows a cached feed of a poller that died', async () => {
    const { poller } = served.callers;
    poller.notify('"v1"');
    await served.get('/api/v1/fibers');
    poller.up = false;
    served.become({ components: [runningPoller('restarting')] });
    for (const headers of [{}, { 'If-None-Match': '"v1"' }]) {
      const down = await served.get('/api/v1/fibers', headers as Record<string, string>);
      expect(down).toMatchObject({
        status: 503,
        json: { error: 'component_unavailable', component: 'poller' },
      });
    }
    poller.up = true;
    served.become({ components: [runningPoller('running', 1)] });
    expect((await served.get('/api/v1/fibers')).status).toBe(200);
  });

  it('always asks the poller for bodies, with a separate tag', async () => {
    served.callers.poller.notify('"v1"');
    const full = await served.get('/api/v1/fibers?body=true');
    expect(full.headers.etag).toBe('"b1"');
    expect((await served.get('/api/v1/fibers?body=true', { 'If-None-Match': '"b1"' })).status).toBe(304);
    expect(feedCalls()).toEqual([
      { svc: false, body: true },
      { svc: false, body: true },
    ]);
  });

  it('refuses flags that are neither true nor false', async () => {
    const wrong = await served.get('/api/v1/fibers?svc=maybe');
    expect(wrong).toMatchObject({
      status: 400,
      json: { error: 'invalid_request', issues: [{ path: 'svc' }] },
    });
  });
});

describe('GET /fibers/*id', () => {
  it('[RPL-3] returns one fiber by an id with slashes, from any origin', async () => {
    served.callers.poller.answers.fiber = () => ({ fiber: FIBER });
    for (const path of [
      'work/loader',
      'work%2Floader',
      'work/loader?origin=host-a',
      'work/loader?origin=elsewhere',
    ]) {
      const answer = await served.get(`/api/v1/fibers/${path}`);
      expect(answer, path).toMatchObject({ status: 200, json: { fiber: { id: FIBER.id, body: 'Do it.' } } });
    }
    expect(new Set(served.callers.poller.asked.map((call) => JSON.stringify(call.input)))).toEqual(
      new Set(['{"id":"work/loader"}']),
    );
  });

  it('[RPL-3] distinguishes an unknown fiber from an ambiguous one', async () => {
    served.callers.poller.answers.fiber = ({ id }: { id: string }) => {
      throw id === 'twice'
        ? new CodedError('ambiguous_fiber', 'two stores have it', { details: { stores: ['/a', '/b'] } })
        : new CodedError('fiber_not_found', `no fiber ${id}`);
    };
    expect(await served.get('/api/v1/fibers/none')).toMatchObject({
      status: 404,
      json: { error: 'fiber_not_found', message: 'no fiber none' },
    });
    expect(await served.get('/api/v1/fibers/twice')).toMatchObject({
      status: 409,
      json: { error: 'ambiguous_fiber', stores: ['/a', '/b'] },
    });
  });
});

describe('document writes', () => {
  it('[WPL-13] creates a fiber and answers 201', async () => {
    served.callers.poller.answers.create_fiber = () => ({ fiber: FIBER });
    const created = await served.post('/api/v1/fiber/create', { name: ' Rewrite ', tags: ['a'] });
    expect(created).toMatchObject({ status: 201, json: { fiber: { id: FIBER.id } } });
    expect(served.callers.poller.asked).toEqual([
      { name: 'create_fiber', input: { name: 'Rewrite', tags: ['a'] } },
    ]);
  });

  it('[WPL-11] edits a fiber, and reports a conflict', async () => {
    served.callers.poller.answers.edit_fiber = () => ({ fiber: FIBER });
    expect((await served.post('/api/v1/fiber-edit', { fiber_id: FIBER.id, status: 'closed' })).status).toBe(
      200,
    );
    served.callers.poller.answers.edit_fiber = () => {
      throw new CodedError('conflict', 'The document changed.', {
        details: { conflict: true, digest: 'd2' },
      });
    };
    expect(
      await served.post('/api/v1/fiber-edit', { fiber_id: FIBER.id, expected_digest: 'd1' }),
    ).toMatchObject({
      status: 409,
      json: { error: 'conflict', conflict: true, digest: 'd2' },
    });
  });

  it('refuses an invalid body before the poller is called', async () => {
    const wrong = await served.post('/api/v1/fiber/create', { name: '', status: 'done' });
    expect(wrong).toMatchObject({
      status: 400,
      json: { error: 'invalid_request', issues: [{ path: 'name' }, { path: 'status' }] },
    });
    expect(served.callers.poller.asked).toEqual([]);
  });
});
