import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { namedHost } from '../../src/http/request-input.ts';
import type { Route, Routing } from '../../src/http/routing.ts';
import { ask } from './raw-exchange.ts';
import { getRow, json, postRow, type Served, serve } from './served.ts';

/** Where no daemon answers. */
const NOBODY = { url: 'http://127.0.0.1:1' };

let served: Served;
/** What the kernel asked, oldest first. */
let asked: [Routing, string | undefined][];
/** Whether each of them may have an effect. */
let writes: (boolean | undefined)[];
const route: Route = (routing, named, _hops, has_effect) => {
  asked.push([routing, named]);
  writes.push(has_effect);
  if (named === 'here') return { kind: 'local' };
  if (named === 'nowhere')
    return { kind: 'refused', code: 'unknown_host', message: 'No such host.', details: { origin: named } };
  return { kind: 'remote', host: named ?? '', address: NOBODY };
};

const query = z.object({ count: z.coerce.number(), origin: z.string().optional() });
const body = z.object({ count: z.number(), origin: z.string().optional() });
const told = (request: { query: unknown; body: unknown }) => json(request.query ?? request.body);

beforeEach(async () => {
  asked = [];
  writes = [];
  served = await serve(
    [
      getRow('/owner', told, { query, routing: 'owner' }),
      getRow('/holder', told, {
        query: z.object({ count: z.coerce.number(), host: z.string().optional() }),
        routing: { param: 'host' },
        remote: ({ query: read }, host, hops) => json({ host, read, hops }),
        shared: true,
      }),
      getRow('/local', told, { query, routing: 'local' }),
      postRow('/write', told, { body, routing: 'host' }),
      postRow('/bytes', () => json('taken'), { body: 'bytes', routing: 'owner' }),
    ],
    { route },
  );
});
afterEach(() => served.server.stop());

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await ask({ port: served.port }, 'GET', path, { headers });
  return [answer.status, JSON.parse(answer.body)];
}

async function post(path: string, value: string) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await ask({ port: served.port }, 'POST', path, { headers, body: value });
  return [answer.status, JSON.parse(answer.body)];
}

describe('a request that names a host', () => {
  it('[RTE-1] is routed once, by the query of a GET and by the JSON body of a write', async () => {
    expect(await get('/owner?count=1&origin=here')).toEqual([200, { count: 1, origin: 'here' }]);
    expect(await post('/write', '{"count":1,"origin":"here"}')).toMatchObject([200, { count: 1 }]);
    expect(asked).toEqual([
      ['owner', 'here'],
      ['host', 'here'],
    ]);
    expect(writes).toEqual([false, true]);
  });

  it('[RTE-3] is refused where its query names the origin that a write has in its body, and where its query is malformed', async () => {
    for (const origin of ['here', 'there', '']) {
      const answer = await post(`/write?origin=${origin}`, '{"count":1}');
      expect(answer).toMatchObject([400, { error: 'invalid_request' }]);
      expect(answer[1]).toMatchObject({ message: expect.stringContaining('put "origin" into the body') });
    }
    expect(await post('/write?%zz', '{"count":1}')).toMatchObject([400, { error: 'invalid_request' }]);
    expect((await post('/write?other=1', '{"count":1}'))[0]).toBe(200);
  });

  it('[RTE-2] [RTE-3] is routed before its query or body is checked', async () => {
    const elsewhere = [503, { error: 'remote_unreachable', origin: 'there' }];
    expect(await get('/owner?count=none&origin=there')).toMatchObject(elsewhere);
    expect(await post('/write', '{"count":"none","origin":"there"}')).toMatchObject(elsewhere);
    const refused = [404, { error: 'unknown_host', origin: 'nowhere', message: 'No such host.' }];
    expect(await get('/owner?count=none&origin=nowhere')).toMatchObject(refused);
    expect(await post('/write', '{"origin":"nowhere"}')).toMatchObject(refused);
    expect(await get('/owner?count=none&origin=here')).toMatchObject([400, { error: 'invalid_request' }]);
  });

  it('[RTE-2] is routed each time, also where its query is the one before', async () => {
    for (let times = 0; times < 3; times += 1) await get('/owner?count=1&origin=here');
    expect(asked).toHaveLength(3);
  });

  it('[RTE-4] is answered by its row’s handler for other hosts', async () => {
    expect(await get('/holder?count=1&host=there')).toEqual([
      200,
      { host: 'there', read: { count: 1, host: 'there' }, hops: [] },
    ]);
    expect(await get('/holder?count=1&host=here')).toEqual([200, { count: 1, host: 'here' }]);
    expect(await get('/holder?count=none&host=there')).toMatchObject([400, { error: 'invalid_request' }]);
  });

  it('[RTE-4] shares no answer with what came another way', async () => {
    const way = (hops: string) => get('/holder?count=1&host=there', hops === '' ? {} : { 'svc-hops': hops });
    const answers = await Promise.all(['', 'a', 'a, b'].map(way));
    expect(answers.map(([, body]) => body.hops)).toEqual([[], ['a'], ['a', 'b']]);
  });

  it('[RTE-6] is answered here by a local row, and a request that names no host by every row', async () => {
    expect((await get('/local?count=1&origin=there'))[0]).toBe(200);
    expect((await get('/owner?count=1'))[0]).toBe(200);
    expect((await post('/write', '{"count":1}'))[0]).toBe(200);
    expect((await post('/bytes', '{"of":"there"}'))[0]).toBe(200);
    expect(asked).toEqual([]);
  });
});

it.each([[null], [5], ['there'], [['there']], [{ origin: 5 }], [{ origin: null }], [{ origin: ['there'] }]])(
  'reads no host from %j',
  (input) => {
    expect(namedHost('owner', input)).toBeUndefined();
  },
);

it('ignores a host that an input inherits', () => {
  expect(namedHost('owner', Object.create({ origin: 'there' }))).toBeUndefined();
  expect(namedHost({ param: 'constructor' }, {})).toBeUndefined();
});
