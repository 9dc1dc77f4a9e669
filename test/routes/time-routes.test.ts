import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { type AskedLife, lifeTag } from '../../src/contract/ledger-tags.ts';
import { FIBER } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
});
afterEach(() => served.stop());

const stamps = { events: 'e1', sessions: 's1', commits: 'c1', messages: 'm1' };
const finished = (etag: string, body: object) => ({
  value: { etag },
  bulk: Buffer.from(JSON.stringify(body)),
});
/** The same from the thread that sends it in pieces, all of them for the first time. */
const inPieces = (etag: string, body: object) => {
  const { bulk } = finished(etag, body);
  const pieces = [
    { id: null, skip: 0, length: 10 },
    { id: 1, skip: 0, length: bulk.length - 10 },
  ];
  return { value: { etag, epoch: 'e', pieces }, bulk };
};
const ACTIVITY = {
  host: 'host-a',
  from_ms: 120_000,
  to_ms: 180_000,
  buckets: [{ m: 120_000, s: null, cwd: '/w', k: 'agent', n: 3 }],
};
const asked = () => served.callers.ledgers.asked.map(({ name, input }) => [name, input]);

describe('GET /activity', () => {
  const PATH = '/api/v1/activity?from_ms=60001&to_ms=239999';

  it('[TMP-1] [REC-9] rounds the window inward to whole minutes and passes the bytes on', async () => {
    served.callers.ledgers.answers.activity = () => inPieces('W/"x"', ACTIVITY);
    const answer = await served.get(PATH);
    expect(answer).toMatchObject({ status: 200, json: ACTIVITY, headers: { etag: 'W/"x"' } });
    expect(asked()).toEqual([
      ['activity', { host: 'host-a', from_ms: 120_000, to_ms: 180_000, known: null }],
    ]);
    await served.get('/api/v1/activity?from_ms=60001&to_ms=60002');
    expect(asked()[1]).toEqual([
      'activity',
      { host: 'host-a', from_ms: 120_000, to_ms: 120_000, known: { epoch: 'e', ids: [1] } },
    ]);
  });

  it.each(['', '?from_ms=1', '?to_ms=1', '?from_ms=-1&to_ms=5', '?from_ms=x&to_ms=5', '?from_ms=9&to_ms=5'])(
    '[TMP-1] requires both ends of the window: %s',
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

  it('[TMP-1] answers 304 without a call while no file changed, and calls again after a change', async () => {
    const { ledgers } = served.callers;
    ledgers.answers.activity = () => inPieces('W/"a.120000.180000.e1"', ACTIVITY);
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

  it('trusts no tag of a ledgers thread that is down', async () => {
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

  it('[TMP-3] [TMP-4] returns the commits and every push of this host', async () => {
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

  it('[TMP-5] [ERR-6] requires the uid of a fiber, and accepts any origin', async () => {
    served.callers.ledgers.answers.sent_files = () => finished('W/"f"', { host: 'host-a', sent_files: [] });
    expect(await served.get('/api/v1/sent-files')).toMatchObject({
      status: 400,
      json: { message: expect.stringContaining('must be given: the uid of a fiber') },
    });
    expect((await served.get('/api/v1/sent-files?uid=01K&origin=host-z')).status).toBe(200);
    expect(asked()).toEqual([['sent_files', { host: 'host-a', uid: '01K' }]]);
  });

  it('[TMP-5] answers 304 to clients with the current list', async () => {
    served.callers.ledgers.notify(stamps);
    const headers = { 'If-None-Match': 'W/"f.=01K.e1.s1"' };
    expect(await served.get('/api/v1/sent-files?uid=01K', headers)).toMatchObject({ status: 304 });
    expect(asked()).toEqual([]);
  });

  it.each(['activity?from_ms=0&to_ms=60000', 'sessions?', 'commits?', 'sent-files/all?'])(
    '[RTE-3] does not answer for another host: %s',
    async (path) => {
      expect(await served.get(`/api/v1/${path}&origin=host-z`)).toMatchObject({
        status: 404,
        json: { error: 'unknown_host', origin: 'host-z' },
      });
    },
  );
});

describe('GET /fiber-life', () => {
  const CLOSED = {
    ...FIBER,
    status: 'closed' as const,
    tempered: true,
    closed_at: '2026-03-07T12:00:00.000Z',
  };
  const closing = { status: 'closed', tempered: true, closed_at: CLOSED.closed_at };
  const PATH = `/api/v1/fiber-life?uid=${CLOSED.uid}`;
  const LIFE = {
    ...{ host: 'host-a', uid: CLOSED.uid, earlier: 3 },
    entries: [{ at: 1, kind: 'accepted', session: null, exact: false }],
  };

  it('asks for the newest entries of a fiber or those before a time, and tells what its document says', async () => {
    const { ledgers, poller } = served.callers;
    poller.answers.fiber = () => ({ fiber: CLOSED });
    ledgers.answers.fiber_life = () => finished('W/"x"', LIFE);
    expect(await served.get(PATH)).toMatchObject({ status: 200, json: LIFE, headers: { etag: 'W/"x"' } });
    await served.get(`${PATH}&limit=1000&before_ms=12.5&origin=host-z`);
    expect(asked()).toEqual([
      ['fiber_life', { host: 'host-a', uid: CLOSED.uid, limit: 200, closing }],
      ['fiber_life', { host: 'host-a', uid: CLOSED.uid, limit: 1_000, before_ms: 12.5, closing }],
    ]);
  });

  it('tells the past of a fiber that was removed, and of none under a name that is no uid', async () => {
    const { ledgers, poller } = served.callers;
    ledgers.answers.fiber_life = () => finished('W/"x"', LIFE);
    poller.answers.fiber = () => {
      throw new CodedError('fiber_not_found', 'no such fiber');
    };
    expect(await served.get(PATH)).toMatchObject({ status: 200 });
    poller.answers.fiber = () => ({ fiber: CLOSED });
    expect(await served.get('/api/v1/fiber-life?uid=work')).toMatchObject({ status: 200 });
    expect(asked().map(([, input]) => input)).toEqual([
      expect.objectContaining({ uid: CLOSED.uid, closing: null }),
      expect.objectContaining({ uid: 'work', closing: null }),
    ]);
  });

  it('names the component that does not answer', async () => {
    served.callers.poller.up = false;
    expect(await served.get(PATH)).toMatchObject({
      status: 503,
      json: { error: 'component_unavailable', component: 'poller' },
    });
  });

  it('answers 304 to who has it, until a ledger or the document changes', async () => {
    const { ledgers, poller } = served.callers;
    let [fiber, current] = [CLOSED, stamps];
    poller.answers.fiber = () => ({ fiber });
    ledgers.answers.fiber_life = ({ host: _host, ...input }: AskedLife & { host: string }) =>
      finished(lifeTag(input, current), LIFE);
    ledgers.notify(stamps);
    const { etag } = (await served.get(PATH)).headers;
    const since = { 'If-None-Match': etag! };
    expect((await served.get(PATH, since)).status).toBe(304);
    expect(asked()).toHaveLength(1);
    expect((await served.get(`${PATH}&limit=7`, since)).status).toBe(200);
    fiber = { ...CLOSED, tempered: false };
    expect((await served.get(PATH, since)).status).toBe(200);
    fiber = CLOSED;
    current = { ...stamps, commits: 'c2' };
    ledgers.notify(current);
    expect(await served.get(PATH, since)).toMatchObject({ status: 200 });
    expect(asked()).toHaveLength(4);
  });

  it.each(['', '?uid=', '?uid=u&limit=0', '?uid=u&limit=1001', '?uid=u&limit=x', '?uid=u&before_ms=now'])(
    'refuses what it cannot read: %s',
    async (query) => {
      expect(await served.get(`/api/v1/fiber-life${query}`)).toMatchObject({
        status: 400,
        json: { error: 'invalid_request' },
      });
      expect(asked()).toEqual([]);
    },
  );
});
