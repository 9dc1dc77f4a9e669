import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { toldRow } from '../fleet/told-feeds.ts';
import { lentRows } from '../kit/lent-rows.ts';
import { FIBER, POLLER_STATE } from './samples.ts';
import { runningPoller, type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
beforeEach(async () => {
  served = await serveRoutes();
});
afterEach(() => served.stop());

const STAMPS = { events: 'e1', sessions: 's1', commits: 'c1', messages: 'm1' };
const FRESH = { state: 'fresh', last_ok_at: null, error: null, build: 'abc1234' };
const finished = (etag: string, body: object) => ({
  value: { etag },
  bulk: Buffer.from(JSON.stringify(body)),
});
const composite = (read: object, head: object = {}) => ({
  ...head,
  host: 'host-a',
  origins: { 'host-a': { ...FRESH, read } },
});
const silent = (component: string, head: object = {}) => ({
  ...head,
  host: 'host-a',
  origins: {
    'host-a': {
      state: 'no_answer',
      last_ok_at: null,
      error: {
        code: 'component_unavailable',
        message: `the ${component} is starting again; ask again in a moment`,
      },
      build: 'abc1234',
      read: null,
    },
  },
});

describe('GET /fibers/composite', () => {
  const PATH = '/api/v1/fibers/composite';
  const FEED = { host: 'host-a', state: 'fresh', generated_at: 7, fibers: [FIBER] };

  let etag: string;

  beforeEach(() => {
    const { poller } = served.callers;
    etag = '"v1"';
    poller.answers.feed = () => ({
      value: { etag, state: 'fresh' },
      bulk: Buffer.from(JSON.stringify(FEED)),
    });
    poller.notify('"v1"');
  });

  it('[RPL-2] [RTE-7] has the rows of the feed of this host, and says that they are fresh', async () => {
    const single = await served.get('/api/v1/fibers');
    const all = await served.get(PATH);
    expect(all).toMatchObject({ status: 200, headers: { etag: 'W/"v1"' } });
    expect(all.json).toEqual(composite({ ...single.json, tag: 'v1', whole: true }, { tag: 'v1' }));
    expect((await served.get(`${PATH}?since=`)).body).toBe(all.body);
    expect(served.callers.poller.asked).toHaveLength(1);
  });

  it('[RPL-2] tells what changed after a tag, in the very delta of the feed', async () => {
    const { poller } = served.callers;
    poller.answers.feed_changes = () => {
      const row = Buffer.from(JSON.stringify({ ...FIBER, name: 'Changed' }));
      const change = { path: FIBER.path, bytes: row.length, own: true, was_own: true };
      return {
        value: {
          etags: { all: '"v2"', svc: '"v2"' },
          state: 'fresh',
          generated_at: { all: 8, svc: 8 },
          changes: [change],
        },
        bulk: row,
      };
    };
    const delta = await served.get('/api/v1/fibers?since=v0');
    expect(delta.json).toMatchObject({ tag: 'v2', rows: [{ name: 'Changed' }] });
    const all = await served.get(`${PATH}?since=v0`);
    expect(all.json).toEqual(composite(delta.json, { tag: 'v2' }));
    expect(all.headers).not.toHaveProperty('etag');
  });

  it('[RPL-2] answers 304 to who has the present tag, whatever it asks, until the feed changes', async () => {
    const { poller } = served.callers;
    for (const path of [PATH, `${PATH}?since=v1`])
      expect(await served.get(path, { 'If-None-Match': 'W/"v1"' })).toMatchObject({
        status: 304,
        body: '',
        headers: { etag: 'W/"v1"' },
      });
    expect(poller.asked).toEqual([]);
    etag = '"v2"';
    poller.notify(etag);
    expect((await served.get(PATH, { 'If-None-Match': 'W/"v1"' })).status).toBe(200);
  });

  it('[RPL-2] is without a tag while no store was listed yet', async () => {
    const { poller } = served.callers;
    const cold = { ...FEED, state: 'cold', fibers: [] };
    poller.answers.feed = () => ({
      value: { etag: null, state: 'cold' },
      bulk: Buffer.from(JSON.stringify(cold)),
    });
    poller.notify(null);
    const all = await served.get(PATH);
    expect(all.json).toEqual(composite({ ...cold, tag: null, whole: true }, { tag: null }));
    expect(all.headers).not.toHaveProperty('etag');
  });

  it('[RPL-2] names this host as one without an answer while its poller is down, and shows no old rows', async () => {
    const { poller } = served.callers;
    expect((await served.get(PATH)).status).toBe(200);
    poller.up = false;
    served.become({ components: [runningPoller('restarting')] });
    for (const path of [PATH, `${PATH}?since=v1`])
      expect(await served.get(path, { 'If-None-Match': 'W/"v1"' })).toMatchObject({
        status: 200,
        json: silent('poller', { tag: null }),
      });
    poller.up = true;
    served.become({ components: [runningPoller('running', 1)] });
    expect((await served.get(PATH)).json.origins).toMatchObject({ 'host-a': FRESH });
  });

  describe('with other hosts', () => {
    const HEAD = { host: 'host-b', state: 'fresh', generated_at: 1 };
    const WHOLE = { tag: 'b', whole: true, ...HEAD, fibers: [] };
    const B = { state: 'fresh', last_ok_at: 5, error: null, build: 'b1', read: WHOLE };
    const others = (tag: string, read: object) => {
      const { read: _, ...origin } = B;
      const bulk = Buffer.from(JSON.stringify(read));
      return { value: { tag, reads: [{ name: 'host-b', ...origin, length: bulk.length }] }, bulk };
    };
    /** The whole copy, told or as the caller has it. */
    const copies = (tag: string, rows: Told[] | 'same' | 'left out') => {
      const { read: _, ...origin } = B;
      const [begin = '', end = ''] = JSON.stringify({ ...WHOLE, fibers: [null] }).split('null');
      const copy = rows === 'same' ? { copy: rows } : { copy: 'told', around: [begin, end] };
      const parts = typeof rows === 'string' ? [] : [lentRows(rows.map((row) => JSON.stringify(row)).join())];
      return { value: { tag, reads: [{ name: 'host-b', ...origin, ...copy }] }, bulk: null, parts };
    };
    const hostB = async () =>
      ((await served.get(PATH)).json.origins as Record<string, { read: { fibers: object[] } }>)['host-b']!;
    type Told = ReturnType<typeof toldRow>;
    const ALL_ROWS = ['x', 'y', 'z'].map((id) => toldRow(id));
    const asked = () => served.callers.fleet.asked.map(({ input }) => input);

    beforeEach(() => {
      const { fleet } = served.callers;
      fleet.publish({ 'host-b': 'http://b', 'host-a': 'http://itself' });
      fleet.answers.feeds = ({ since }: { since: string }) =>
        since.startsWith('n-')
          ? others('n-2', { ...HEAD, tag: 'b', removed: [since], rows: [] })
          : { value: { tag: 'n-2', reads: null }, bulk: null };
      fleet.answers.feed_copies = () => copies('n-2', []);
      fleet.notify('n-2');
    });

    it('[RPL-2] [RTE-7] has their copies beside the rows of this host, and one tag for all', async () => {
      const all = await served.get(PATH);
      expect(all).toMatchObject({ status: 200, headers: { etag: 'W/"v1~n-2"' } });
      expect(all.json).toMatchObject({ tag: 'v1~n-2', host: 'host-a' });
      expect(all.json.origins).toEqual({ 'host-a': expect.objectContaining(FRESH), 'host-b': B });
      expect((await served.get(PATH)).body).toBe(all.body);
      expect(asked()).toEqual([{ had: '' }]);
    });

    it('[RPL-2] tells what changed after a tag of all, and after one of this host alone', async () => {
      const { origins } = (await served.get(`${PATH}?since=v1~n-1`)).json;
      expect(origins).toMatchObject({
        'host-a': { read: { tag: 'v1' } },
        'host-b': { read: { removed: ['n-1'] } },
      });
      expect((await served.get(`${PATH}?since=v1`)).json.origins).toMatchObject({ 'host-b': B });
      expect(asked()).toEqual([{ since: 'n-1' }, { had: '' }]);
    });

    it('[RPL-2] has all of their copies for a tag that nobody knows any more', async () => {
      expect((await served.get(`${PATH}?since=v1~m-7`)).json.origins).toMatchObject({ 'host-b': B });
      expect(asked()).toEqual([{ since: 'm-7' }, { had: '' }]);
    });

    it('[RPL-2] asks only for the copies that changed since they came', async () => {
      const { fleet } = served.callers;
      const [x, y, z] = ALL_ROWS as [Told, Told, Told];
      const read = async (tag: string) => {
        if (tag !== 'n-2') fleet.notify(tag);
        return (await hostB()).read.fibers;
      };
      fleet.answers.feed_copies = () => copies('n-2', [x, y]);
      expect(await read('n-2')).toEqual([x, y]);
      fleet.answers.feed_copies = () => copies('n-3', [y, z]);
      expect(await read('n-3')).toEqual([y, z]);
      fleet.answers.feed_copies = () => copies('n-4', 'same');
      expect(await read('n-4')).toEqual([y, z]);
      expect(asked()).toEqual([{ had: '' }, { had: 'n-2' }, { had: 'n-3' }]);
    });

    it('[RPL-2] asks for all of it again where bytes were left out', async () => {
      const { fleet } = served.callers;
      fleet.answers.feed_copies = () => copies('n-2', ALL_ROWS.slice(0, 1));
      expect((await served.get(PATH)).status).toBe(200);
      fleet.answers.feed_copies = () => copies('n-3', 'left out');
      fleet.notify('n-3');
      expect(await hostB()).toMatchObject({ error: { code: 'internal' } });
      fleet.answers.feed_copies = () => copies('n-3', ALL_ROWS);
      expect((await hostB()).read.fibers).toEqual(ALL_ROWS);
      expect(asked().at(-1)).toEqual({ had: '' });
    });

    it('[RPL-2] answers 304 while neither this host nor another one has changed', async () => {
      const known = { 'If-None-Match': 'W/"v1~n-2"' };
      expect(await served.get(`${PATH}?since=x`, known)).toMatchObject({
        status: 304,
        headers: { etag: 'W/"v1~n-2"' },
      });
      expect(asked()).toEqual([]);
      expect((await served.get(PATH, { 'If-None-Match': 'W/"v1"' })).status).toBe(200);
      served.callers.fleet.answers.feed_copies = () => copies('n-3', []);
      served.callers.fleet.notify('n-3');
      expect((await served.get(PATH, known)).status).toBe(200);
      served.callers.fleet.notify(null);
      served.callers.fleet.publish({});
      expect((await served.get(PATH, { 'If-None-Match': 'W/"v1"' })).status).toBe(304);
    });

    it('[RTE-7] names them as ones without an answer while the fleet is down, without a tag', async () => {
      served.callers.fleet.up = false;
      served.become({ components: [{ ...runningPoller('restarting'), name: 'fleet' }] });
      const all = await served.get(PATH, { 'If-None-Match': 'W/"v1~n-2", W/"v1"' });
      expect(all).toMatchObject({ status: 200, json: { tag: null } });
      expect(all.json.origins).toMatchObject({
        'host-a': FRESH,
        'host-b': { state: 'no_answer', error: { code: 'component_unavailable' }, read: null },
      });
      expect(all.headers).not.toHaveProperty('etag');
      served.callers.fleet.up = true;
      served.callers.fleet.notify('m-1');
      expect((await served.get(PATH)).json.origins).toMatchObject({ 'host-b': B });
    });

    it('[RTE-7] has them also while the poller of this host is down', async () => {
      served.callers.poller.up = false;
      served.become({ components: [runningPoller('restarting')] });
      const all = await served.get(PATH);
      expect(all.json).toMatchObject({ tag: null });
      expect(all.json.origins).toMatchObject({ 'host-a': { state: 'no_answer' }, 'host-b': B });
    });
  });
});

describe('POST /remotes/:name/reset', () => {
  const reset = (body: object = {}) => served.post('/api/v1/remotes/host-b/reset', body);

  it('[WPL-26] has the fleet try that remote, and says that it does', async () => {
    const { fleet } = served.callers;
    fleet.answers.reset_remote = ({ name }: { name: string }) => ({ name, reset: true });
    expect(await reset()).toMatchObject({ status: 200, json: { name: 'host-b', reset: true } });
    expect(fleet.asked.at(-1)).toEqual({ name: 'reset_remote', input: { name: 'host-b' } });
  });

  it.each([
    ['breaker_not_tripped', 409],
    ['unknown_host', 404],
  ])('[ERR-16] refuses with %s', async (code, status) => {
    served.callers.fleet.answers.reset_remote = () => {
      throw new CodedError(code, 'no', { details: { origin: 'host-b' } });
    };
    expect(await reset()).toMatchObject({ status, json: { error: code, origin: 'host-b' } });
  });
});

describe('GET /state/composite', () => {
  const PATH = '/api/v1/state/composite';

  it('[RPL-20] is the state of this host and its part beside others, and 304 while nothing but its time is new', async () => {
    const { poller } = served.callers;
    poller.answers.state = () => POLLER_STATE;
    const single = await served.get('/api/v1/state');
    const all = await served.get(PATH);
    const { origins, ...own } = all.json;
    expect(own).toEqual({ ...single.json, generated_at: expect.any(Number) });
    expect({ host: own.host, origins }).toEqual(composite(own));
    const { etag } = all.headers;
    expect(etag).toMatch(/^W\/"/);
    const since = { 'If-None-Match': etag! };
    expect(await served.get(PATH, since)).toMatchObject({ status: 304, body: '' });
    poller.answers.state = () => ({ ...POLLER_STATE, workers: { count: 1, resting: 0, most: null } });
    expect((await served.get(PATH, since)).status).toBe(200);
  });

  it('[RPL-20] [TMP-8] holds what other hosts told last of theirs, under one tag with that of this host', async () => {
    const { poller, fleet } = served.callers;
    poller.answers.state = () => POLLER_STATE;
    fleet.publish({ 'host-b': 'http://b' });
    const theirs = { ...(await served.get('/api/v1/state')).json, host: 'host-b' };
    const origin = { state: 'stale', last_ok_at: 5, error: null, build: null };
    const answer = (digest: string) => () => {
      const bulk = Buffer.from(JSON.stringify(theirs));
      return { value: { reads: [{ name: 'host-b', ...origin, digest, length: bulk.length }] }, bulk };
    };
    fleet.answers.remote_reads = answer('d-1');
    const all = await served.get(PATH);
    expect(all.json.origins).toMatchObject({ 'host-a': FRESH, 'host-b': { ...origin, read: theirs } });
    const asked = fleet.asked.find(({ name }) => name === 'remote_reads');
    expect(asked).toMatchObject({ input: { asked: { feed: 'state' } } });
    const since = { 'If-None-Match': all.headers.etag! };
    expect((await served.get(PATH, since)).status).toBe(304);
    fleet.answers.remote_reads = answer('d-2');
    expect((await served.get(PATH, since)).status).toBe(200);
    poller.up = false;
    expect((await served.get(PATH)).json.origins).toMatchObject({
      'host-a': { state: 'no_answer' },
      'host-b': { state: 'stale', read: { host: 'host-b' } },
    });
  });

  it('[TMP-8] [RPL-20] holds the last word of other hosts, with the reason, where their thread gives none in time', async () => {
    const { poller, fleet } = served.callers;
    poller.answers.state = () => POLLER_STATE;
    fleet.publish({ 'host-b': 'http://b' });
    const bulk = Buffer.from(JSON.stringify({ ...(await served.get('/api/v1/state')).json, host: 'host-b' }));
    const origin = { state: 'fresh', last_ok_at: 5, error: null, build: 'b1' };
    const read = { name: 'host-b', ...origin, digest: 'd-1', length: bulk.length };
    fleet.answers.remote_reads = () => ({ value: { reads: [read] }, bulk });
    expect((await served.get(PATH)).json.origins).toMatchObject({ 'host-b': origin });
    fleet.answers.remote_reads = () => {
      throw new CodedError('deadline_exceeded', 'later');
    };
    fleet.publish({ 'host-b': 'http://b', 'host-c': 'http://c' });
    expect((await served.get(PATH)).json.origins).toMatchObject({
      'host-a': FRESH,
      'host-b': { ...origin, error: { code: 'deadline_exceeded' }, read: { host: 'host-b' } },
      'host-c': { state: 'no_answer', error: { code: 'deadline_exceeded' }, read: null },
    });
  });

  it('[RPL-20] [RTE-7] says so where this host cannot tell its state', async () => {
    served.callers.poller.up = false;
    const all = await served.get(PATH);
    expect(all).toMatchObject({ status: 200, json: silent('poller') });
    expect(all.headers).not.toHaveProperty('etag');
  });
});

describe('the composites of the ledgers', () => {
  const WINDOW = '?from_ms=60001&to_ms=239999';
  type Call = 'activity' | 'sessions_body' | 'commits' | 'sent_files';
  const SENT = { at: 1, session: null, mux: null, cwd: null, harness: null, fiber: null, uid: null };
  const LEDGERS: { path: string; query: string; call: Call; tag: string; body: object }[] = [
    {
      path: '/activity',
      query: WINDOW,
      call: 'activity',
      tag: 'a.120000.180000.e1',
      body: { host: 'host-a', from_ms: 120_000, to_ms: 180_000, buckets: [] },
    },
    {
      path: '/sessions',
      query: '',
      call: 'sessions_body',
      tag: 's.-.s1',
      body: { host: 'host-a', sessions: [] },
    },
    {
      path: '/sessions',
      query: '?uid=01K',
      call: 'sessions_body',
      tag: 's.=01K.s1',
      body: { host: 'host-a', sessions: [] },
    },
    { path: '/commits', query: '', call: 'commits', tag: 'c.c1', body: { host: 'host-a', commits: [] } },
    {
      path: '/sent-files/all',
      query: '',
      call: 'sent_files',
      tag: 'f.-.e1.s1',
      body: { host: 'host-a', sent_files: [{ ...SENT, files: ['/tmp/a.png'] }] },
    },
  ];

  it.each(LEDGERS)(
    '[TMP-6] [TMP-8] $path $query has the rows of the single read, and a tag over them',
    async (one) => {
      const { ledgers } = served.callers;
      let answer = finished(`W/"${one.tag}"`, one.body);
      ledgers.answers[one.call] = () =>
        one.call === 'activity'
          ? {
              value: {
                etag: answer.value.etag,
                epoch: 'e',
                pieces: [{ id: null, skip: 0, length: answer.bulk.length }],
              },
              bulk: answer.bulk,
            }
          : answer;
      ledgers.notify(STAMPS);
      const single = await served.get(`/api/v1${one.path}${one.query}`);
      const path = `/api/v1${one.path}/composite${one.query}`;
      const all = await served.get(path);
      const etag = `W/"abc1234.${one.tag}"`;
      expect(single.json).toEqual(one.body);
      expect(all).toMatchObject({ status: 200, headers: { etag } });
      expect(all.json).toEqual(composite(single.json));
      expect(ledgers.asked).toHaveLength(1);
      expect(await served.get(path)).toMatchObject({ status: 200, body: all.body });
      expect(await served.get(path, { 'If-None-Match': etag })).toMatchObject({ status: 304, body: '' });
      expect(ledgers.asked).toHaveLength(1);
      answer = finished('W/"of-other-files"', one.body);
      ledgers.notify({ events: 'e2', sessions: 's2', commits: 'c2', messages: 'm2' });
      expect((await served.get(path, { 'If-None-Match': etag })).status).toBe(200);
    },
  );

  it.each(LEDGERS)('[TMP-6] [RTE-7] $path $query says so where this host cannot read them', async (one) => {
    served.callers.ledgers.up = false;
    const all = await served.get(`/api/v1${one.path}/composite${one.query}`, { 'If-None-Match': '"x"' });
    expect(all).toMatchObject({ status: 200, json: silent('ledgers') });
    expect(all.headers).not.toHaveProperty('etag');
  });

  describe('of several hosts', () => {
    const PATH_OF_COMMITS = '/api/v1/commits/composite';
    const THEIRS = { host: 'host-b', commits: [] };
    const OK = { state: 'fresh' as const, last_ok_at: 5, error: null, build: null };
    const REFUSED = { code: 'remote_unreachable', message: 'host-c does not answer' };
    const SILENT = { state: 'no_answer' as const, last_ok_at: null, error: REFUSED, build: null };
    let origin: typeof OK | (Omit<typeof OK, 'state'> & { state: 'stale' });
    let theirs: { digest: string; bytes: Buffer };

    beforeEach(() => {
      const { fleet, ledgers } = served.callers;
      fleet.publish({ 'host-b': 'http://b', 'host-a': 'http://self', 'host-c': 'http://c' });
      origin = OK;
      theirs = { digest: 'd1', bytes: Buffer.from(JSON.stringify(THEIRS)) };
      fleet.answers.remote_reads = ({ known }: { known: string[] }) => {
        const isKnown = known.includes(theirs.digest);
        const length = isKnown ? null : theirs.bytes.length;
        return {
          value: {
            reads: [
              { name: 'host-b', ...origin, digest: theirs.digest, length },
              { name: 'host-c', ...SILENT, digest: null, length: null },
            ],
          },
          bulk: isKnown ? null : theirs.bytes,
        };
      };
      ledgers.answers.commits = () => finished('W/"c.c1"', { host: 'host-a', commits: [] });
      ledgers.notify(STAMPS);
    });

    const asked = () => served.callers.fleet.asked.map(({ input }) => input);

    it('[TMP-6] [RTE-7] has the very bytes of each host, and how fresh they are', async () => {
      const all = await served.get(PATH_OF_COMMITS);
      expect(all.json).toEqual({
        host: 'host-a',
        origins: {
          'host-a': { ...FRESH, read: { host: 'host-a', commits: [] } },
          'host-b': { ...OK, read: THEIRS },
          'host-c': { ...SILENT, read: null },
        },
      });
      expect(await served.get(PATH_OF_COMMITS)).toMatchObject({ body: all.body });
      expect(asked()).toEqual([
        { asked: { feed: 'commits' }, known: [] },
        { asked: { feed: 'commits' }, known: ['d1'] },
      ]);
    });

    it('[TMP-8] has a weak tag over the reads of all, and answers 304 until one moves', async () => {
      const { etag } = (await served.get(PATH_OF_COMMITS)).headers;
      expect(etag).toMatch(/^W\/"abc1234\.c\.c1\./);
      const since = { 'If-None-Match': etag! };
      expect(await served.get(PATH_OF_COMMITS, since)).toMatchObject({ status: 304, body: '' });
      origin = { ...OK, last_ok_at: 60_005 };
      expect((await served.get(PATH_OF_COMMITS, since)).status).toBe(304);
      origin = { ...OK, state: 'stale' };
      expect((await served.get(PATH_OF_COMMITS, since)).status).toBe(200);
      origin = OK;
      theirs = { digest: 'd2', bytes: Buffer.from(JSON.stringify(THEIRS, null, 1)) };
      expect((await served.get(PATH_OF_COMMITS, since)).status).toBe(200);
      expect(served.callers.ledgers.asked).toHaveLength(1);
    });

    it('[TMP-6] asks other hosts for the same window, and for the same fiber', async () => {
      const { fleet, ledgers } = served.callers;
      const reads = [{ name: 'host-c', ...SILENT, digest: null, length: null }];
      fleet.answers.remote_reads = () => ({ value: { reads }, bulk: null });
      ledgers.answers.sessions_body = () => finished('W/"s.=01K.s1"', { host: 'host-a', sessions: [] });
      await served.get('/api/v1/sessions/composite?uid=01K');
      await served.get(`/api/v1/activity/composite${WINDOW}`);
      expect(asked()).toMatchObject([
        { asked: { feed: 'sessions', uid: '01K' } },
        { asked: { feed: 'activity', from_ms: 60_001, to_ms: 239_999 } },
      ]);
    });

    it('[RTE-7] tells of others where this host cannot read its own, and of itself where no other is asked', async () => {
      served.callers.ledgers.up = false;
      const others = await served.get(PATH_OF_COMMITS);
      expect(others.json.origins).toMatchObject({
        'host-a': { state: 'no_answer', read: null },
        'host-b': { ...OK, read: THEIRS },
      });
      expect(others.headers).not.toHaveProperty('etag');
      served.callers.ledgers.up = true;
      served.callers.fleet.up = false;
      const gone = { state: 'no_answer', error: { code: 'component_unavailable' }, read: null };
      expect((await served.get(PATH_OF_COMMITS)).json.origins).toMatchObject({
        'host-a': { state: 'fresh', read: { host: 'host-a' } },
        'host-b': gone,
        'host-c': gone,
      });
    });
  });

  it('[TMP-6] requires the window of the activity', async () => {
    expect(await served.get('/api/v1/activity/composite?from_ms=9&to_ms=5')).toMatchObject({
      status: 400,
      json: { error: 'invalid_request', message: expect.stringContaining('to_ms lies before') },
    });
    expect(served.callers.ledgers.asked).toEqual([]);
  });

  it('[TMP-7] has none of the files of one fiber', async () => {
    expect((await served.get('/api/v1/sent-files/composite?uid=01K')).status).toBe(404);
  });
});
