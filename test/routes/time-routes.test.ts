import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
});
afterEach(() => served.stop());

const stamps = { events: 'e1', sessions: 's1', commits: 'c1' };
const finished = (etag: string, body: object) => ({
  value: { etag },
  bulk: Buffer.from(JSON.stringify(body)),
});
const ACTIVITY = {
  host: 'host-a',
  from_ms: 120_000,
  to_ms: 180_000,
  buckets: [{ m: 120_000, s: null, cwd: '/w', k: 'agent', n: 3 }],
};
const asked = () => served.callers.ledgers.asked.map(({ name, input }) => [name, input]);

describe('GET /activity', () => {
  const PATH = '/api/v1/activity?from_ms=60001&to_ms=239999';

  it('[TMP-1] [REC-9] rounds the window inward to whole minutes and hands the bytes over', async () => {
    served.callers.ledgers.answers.activity = () => finished('W/"x"', ACTIVITY);
    const answer = await served.get(PATH);
    expect(answer).toMatchObject({ status: 200, json: ACTIVITY, headers: { etag: 'W/"x"' } });
    await served.get('/api/v1/activity?from_ms=60001&to_ms=60002');
    expect(asked()).toEqual([
      ['activity', { host: 'host-a', from_ms: 120_000, to_ms: 180_000 }],
      ['activity', { host: 'host-a', from_ms: 120_000, to_ms: 120_000 }],
    ]);
  });

  it.each(['', '?from_ms=1', '?to_ms=1', '?from_ms=-1&to_ms=5', '?from_ms=x&to_ms=5', '?from_ms=9&to_ms=5'])(
    '[TMP-1] needs both ends of the window: %s',
    async (query) => {
      expect(await served.get(`/api/v1/activity${query}`)).toMatchObject({
        status: 400,
        json: {
          error: 'invalid_request',
          message: expect.stringMatching(/milliseconds since 1970|to_ms lies/),
        },
      });
      expect(asked()).toEqual([]);
    },
  );

  it('[TMP-1] answers 304 by itself while no file moved, and asks again once one did', async () => {
    const { ledgers } = served.callers;
    ledgers.answers.activity = () => finished('W/"a.120000.180000.e1"', ACTIVITY);
    ledgers.notify(stamps);
    const etag = 'W/"a.120000.180000.e1"';
    expect(await served.get(PATH)).toMatchObject({ status: 200, headers: { etag } });
    expect(await served.get(PATH)).toMatchObject({ status: 200, json: ACTIVITY });
    expect(await served.get(PATH, { 'If-None-Match': etag })).toMatchObject({ status: 304, body: '' });
    expect(asked()).toHaveLength(1);
    ledgers.notify({ ...stamps, events: 'e2' });
    expect(await served.get(PATH, { 'If-None-Match': 'W/"a.120000.180000.e0"' })).toMatchObject({
      status: 200,
    });
    expect(asked()).toHaveLength(2);
  });

  it('trusts no tag of a ledgers thread that is gone', async () => {
    const { ledgers } = served.callers;
    ledgers.notify(stamps);
    served.become({
      components: [{ name: 'ledgers', state: 'restarting', restarts: 1, started_at: 1, last_error: null }],
    });
    ledgers.up = false;
    expect(await served.get(PATH, { 'If-None-Match': 'W/"a.120000.180000.e1"' })).toMatchObject({
      status: 503,
    });
  });
});

describe('the other time routes', () => {
  it('[TMP-2] narrows the sessions to one fiber', async () => {
    served.callers.ledgers.answers.sessions_body = () => finished('W/"s"', { host: 'host-a', sessions: [] });
    await served.get('/api/v1/sessions?uid=01K');
    expect((await served.get('/api/v1/sessions')).json).toEqual({ host: 'host-a', sessions: [] });
    expect(asked()).toEqual([
      ['sessions_body', { host: 'host-a', uid: '01K' }],
      ['sessions_body', { host: 'host-a' }],
    ]);
  });

  it('[TMP-3] [TMP-4] gives the commits and every push of this host', async () => {
    const { answers } = served.callers.ledgers;
    answers.commits = () => finished('W/"c"', { host: 'host-a', commits: [] });
    answers.sent_files = () => finished('W/"f"', { host: 'host-a', sent_files: [] });
    expect((await served.get('/api/v1/commits')).json).toEqual({ host: 'host-a', commits: [] });
    expect((await served.get('/api/v1/sent-files/all')).json).toEqual({ host: 'host-a', sent_files: [] });
    expect(asked()).toEqual([
      ['commits', { host: 'host-a' }],
      ['sent_files', { host: 'host-a' }],
    ]);
  });

  it('[TMP-5] [ERR-6] needs the uid of a fiber, and takes any origin', async () => {
    served.callers.ledgers.answers.sent_files = () => finished('W/"f"', { host: 'host-a', sent_files: [] });
    expect(await served.get('/api/v1/sent-files')).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('must be given: the uid of a fiber') },
    });
    expect((await served.get('/api/v1/sent-files?uid=01K&origin=host-z')).status).toBe(200);
    expect(asked()).toEqual([['sent_files', { host: 'host-a', uid: '01K' }]]);
  });

  it('[TMP-5] answers 304 to who has the present trail', async () => {
    served.callers.ledgers.notify(stamps);
    const headers = { 'If-None-Match': 'W/"f.=01K.e1.s1"' };
    expect(await served.get('/api/v1/sent-files?uid=01K', headers)).toMatchObject({ status: 304 });
    expect(asked()).toEqual([]);
  });

  it.each(['activity?from_ms=0&to_ms=60000', 'sessions?', 'commits?', 'sent-files/all?'])(
    '[RTE-3] answers for no other host: %s',
    async (path) => {
      expect(await served.get(`/api/v1/${path}&origin=host-z`)).toMatchObject({
        status: 404,
        json: { error: 'unknown_host', origin: 'host-z' },
      });
    },
  );
});
