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
