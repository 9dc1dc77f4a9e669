import { afterEach, expect, it, vi } from 'vitest';
import { get, post } from '../../../board/src/lib/api.ts';
import * as skew from '../../../board/src/lib/skew.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

it('says that a write without an answer may have been done, and nothing of the kind of a read', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  expect(await get('/state')).toMatchObject({ code: 'no_answer', message: 'The daemon did not answer.' });
  expect(await post('/kill', {})).toMatchObject({
    code: 'no_answer',
    message: 'The daemon did not answer. It is not known whether it did this.',
  });
});

it.each([
  ['its own daemon', {}, [['older']]],
  ['another host', { 'svc-host': 'host-b' }, []],
])('takes its own daemon for older only where that has no such route: %s', async (_, headers, noticed) => {
  const notice = vi.spyOn(skew, 'noticeSkew').mockReturnValue();
  const message = 'The daemon of host-b has no route with that path.';
  const body = JSON.stringify({ error: 'not_found', message, unknown_route: true });
  const answer = { status: 404, headers: { 'content-type': 'application/json', ...headers } };
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(body, answer)));
  expect(await get('/why?fiber=a&origin=host-b')).toMatchObject({ status: 404, code: 'not_found', message });
  expect(notice.mock.calls).toEqual(noticed);
});

const json = (status: number, body: object) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
const lost = () => Promise.reject(new TypeError('Failed to fetch'));
const GOES_ON = { error: 'deadline_exceeded', message: 'It goes on.', goes_on: true };

it.each([
  ['no answer came', lost, true],
  ['it was not done in time and goes on', () => json(504, GOES_ON), true],
  ['another host did not answer', () => json(502, { error: 'remote_unreachable' }), true],
  ['it was done', () => json(200, {}), false],
  ['it was refused', () => json(409, { error: 'conflict' }), false],
  ['the daemon ended in the middle of it', () => json(504, { error: 'outcome_unknown' }), false],
])('gives a write again its id where %s: %s', async (_, first, same) => {
  const ids = idsOfWrites(first);
  const seen = { seen: 'as it was' };
  for (let times = 0; times < 3; times += 1) await post('/dispatch', { fiber_id: 'a' }, seen);
  expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(ids[1] === ids[0]).toBe(same);
  // The second one was answered.
  expect(ids[2]).not.toBe(ids[1]);
});

it.each([
  ['asks for something else', '/dispatch', { fiber_id: 'b' }, { seen: 'as it was' }],
  ['is for another route', '/kill', { fiber_id: 'a' }, { seen: 'as it was' }],
  ['is of a fiber that has changed since', '/dispatch', { fiber_id: 'a' }, { seen: 'as it became' }],
  ['does not tell what the person saw', '/dispatch', { fiber_id: 'a' }, {}],
])('gives a write a new id after one without an answer where it %s', async (_, path, body, asking) => {
  const ids = idsOfWrites(lost);
  await post('/dispatch', { fiber_id: 'a' }, { seen: 'as it was' });
  await post(path, body, asking);
  expect(ids).toHaveLength(2);
  expect(ids[1]).not.toBe(ids[0]);
});

it('gives a message its own id, and a read none', async () => {
  const ids = idsOfWrites(lost);
  await post('/deliver', { fiber_id: 'a', text: 'Go', message_id: 'm-1' });
  await get('/state');
  expect(ids).toEqual(['m-1', null]);
});

/** The ids of all requests from now on; the first is answered like this, and each other one with status 200. */
function idsOfWrites(first: () => Response | Promise<Response>): (string | null)[] {
  const ids: (string | null)[] = [];
  vi.stubGlobal('fetch', (_: string, { headers }: RequestInit) => {
    ids.push(new Headers(headers).get('idempotency-key'));
    return ids.length === 1 ? first() : json(200, {});
  });
  return ids;
}
