import { afterEach, expect, it, vi } from 'vitest';
import { get, post } from '../../../board/src/lib/api.ts';

afterEach(() => vi.unstubAllGlobals());

it('says that a write without an answer may have been done, and nothing of the kind of a read', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
  expect(await get('/state')).toMatchObject({ code: 'no_answer', message: 'The daemon did not answer.' });
  expect(await post('/kill', {})).toMatchObject({
    code: 'no_answer',
    message: 'The daemon did not answer. It is not known whether it did this.',
  });
});
