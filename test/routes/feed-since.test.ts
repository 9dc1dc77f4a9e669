import { basename } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ComponentView } from '../../src/contract/component.ts';
import type { FiberRow } from '../../src/contract/fiber.ts';
import { Feed } from '../../src/dispatch/feed.ts';
import { Pieces } from '../../src/http/pieces.ts';
import type { Reply } from '../../src/http/reply.ts';
import { createFeedCache, FeedCache } from '../../src/routes/feed-cache.ts';
import { FeedWindow } from '../../src/routes/feed-window.ts';
import { fiberDocument } from '../fixtures/fibers/fiber-document.ts';
import { InProcessPoller } from './in-process-callers.ts';
import { runningPoller, type ServedRoutes, serveRoutes } from './served-routes.ts';

type Whole = { tag: string | null; whole: true; state: string; generated_at: number; fibers: FiberRow[] };
type Delta = { tag: string; state: string; generated_at: number; rows: FiberRow[]; removed: string[] };
type Answer = Whole | Delta;

const HOST = 'host-a';
const VARIANTS = ['all', 'svc'] as const;
type Variant = (typeof VARIANTS)[number];

/** A document of this path; `host` is whose it is. */
function documentAt(path: string, host: string | null, name = 'a') {
  return fiberDocument({
    ...{ path, id: basename(path, '.md'), store: path.slice(0, 2), name },
    ...(host === null ? {} : { svc: { kind: 'oneshot' as const, host } }),
  });
}

/** What a client keeps, by the rules that `ops/http.md` gives it. */
class Copy {
  tag: string | null = null;
  state = '';
  generated_at = 0;
  rows = new Map<string, FiberRow>();

  take(answer: Answer): void {
    ({ tag: this.tag, state: this.state, generated_at: this.generated_at } = answer);
    if ('whole' in answer) this.rows = new Map(answer.fibers.map((row) => [row.path, row]));
    else {
      for (const path of answer.removed) this.rows.delete(path);
      for (const row of answer.rows) this.rows.set(row.path, row);
    }
  }

  body(): unknown {
    const { state, generated_at } = this;
    const order = (row: FiberRow) => [row.id, row.store, row.path];
    const fibers = [...this.rows.values()].sort((a, b) => {
      const at = order(a).findIndex((part, nth) => part !== order(b)[nth]);
      return at < 0 ? 0 : order(a)[at]! < order(b)[at]! ? -1 : 1;
    });
    return { host: HOST, state, generated_at, fibers };
  }

  clone(): Copy {
    return Object.assign(new Copy(), { ...this, rows: new Map(this.rows) });
  }
}

function parse(reply: Reply): Answer {
  if ('pieces' in reply && reply.pieces instanceof Pieces) return JSON.parse(String(reply.pieces.joined()));
  if ('bytes' in reply) return JSON.parse(Buffer.from(reply.bytes).toString());
  throw new Error('an answer without a body');
}

/** A feed, the poller that has it, and the main thread that hears of it. */
function setUp() {
  const feed = new Feed({ host: HOST, nonce: 'n', now: 0 });
  const poller = new InProcessPoller();
  poller.answers.feed = ({ svc }: { svc: boolean }) => {
    const { etag, bytes } = feed.encode({ svc });
    return { value: { etag, state: feed.state }, bulk: bytes };
  };
  poller.answers.feed_changes = ({ svc, since }: { svc: boolean; since: string }) => {
    const { value, bytes } = feed.changesSince(since, svc ? 'svc' : 'all');
    return { value, bulk: bytes };
  };
  return { feed, poller, asked: (name: string) => poller.asked.filter((call) => call.name === name).length };
}

const paths = ['/s/a.md', '/s/a/a.md', '/s/b/b.md', '/s/b/c.md', '/t/a.md', '/t/z.md'];
const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('set' as const),
        path: fc.constantFrom(...paths),
        host: fc.constantFrom(HOST, 'host-b', null),
        name: fc.constantFrom('a', 'b', 'ü"c'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('delete' as const), path: fc.constantFrom(...paths) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('state' as const),
        state: fc.constantFrom('cold' as const, 'partial' as const, 'fresh' as const, 'fresh' as const),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('notice' as const), lost: fc.nat(3).map((n) => n === 0) }),
    },
    { weight: 3, arbitrary: fc.constant({ do: 'read' as const }) },
  ),
  { maxLength: 60 },
);

describe('a copy of the feed', () => {
  it('[RPL-1] that applies the changes since any earlier tag has exactly the rows of the feed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const { feed, poller } = setUp();
        const cache = new FeedCache(poller, HOST);
        feed.setState('fresh', 0);
        poller.notice(feed.notice());
        const bodies = new Map<string, unknown>();
        const note = (): void => {
          for (const variant of VARIANTS) {
            const { etag, bytes } = feed.encode({ svc: variant === 'svc' });
            if (etag !== null) bodies.set(etag.slice(1, -1), JSON.parse(Buffer.from(bytes).toString()));
          }
        };
        note();
        const copies: Record<Variant, Copy[]> = { all: [new Copy()], svc: [new Copy()] };
        const following: Record<Variant, Copy | null> = { all: null, svc: null };
        for (const variant of VARIANTS) {
          cache.onDelta(variant, ({ since, tag, delta }) => {
            const copy = following[variant];
            if (delta === null || copy?.tag !== since) following[variant] = null;
            else copy.take(JSON.parse(Buffer.from(delta).toString()));
            expect(following[variant]?.tag ?? tag).toBe(tag);
          });
        }
        const check = (copy: Copy): void => {
          if (copy.tag !== null) expect(copy.body()).toEqual(bodies.get(copy.tag));
        };
        const readAll = async (): Promise<void> => {
          for (const variant of VARIANTS) {
            for (const copy of [...copies[variant]]) {
              copies[variant].push(copy.clone());
              copy.take(parse(await cache.since(copy.tag ?? '', variant === 'svc')));
              check(copy);
              following[variant] ??=
                copy.tag === cache.current(variant === 'svc')?.etag.slice(1, -1) ? copy.clone() : null;
            }
            copies[variant].splice(4);
          }
        };
        let now = 0;
        for (const step of history) {
          now += 1;
          if (step.do === 'set') feed.set(documentAt(step.path, step.host, step.name), {}, now);
          else if (step.do === 'delete') feed.delete(step.path, now);
          else if (step.do === 'state') feed.setState(step.state, now);
          else if (step.do === 'notice') {
            const notice = feed.notice();
            if (!step.lost) poller.notice(notice);
          }
          note();
          if (step.do === 'read') await readAll();
          for (const variant of VARIANTS) if (following[variant] !== null) check(following[variant]);
        }
        poller.notice(feed.notice());
        await readAll();
        for (const variant of VARIANTS) {
          const { etag, bytes } = feed.encode({ svc: variant === 'svc' });
          if (etag === null) continue;
          expect(copies[variant][0]!.body()).toEqual(JSON.parse(Buffer.from(bytes).toString()));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('GET /fibers?since=', () => {
  let served: ServedRoutes;
  let feed: Feed;
  beforeEach(async () => {
    served = await serveRoutes();
    const made = setUp();
    feed = made.feed;
    Object.assign(served.callers.poller.answers, made.poller.answers);
    feed.setState('fresh', 1);
    for (let nth = 0; nth < 2_000; nth += 1)
      feed.set(documentAt(`/s/f${nth}.md`, nth % 2 === 0 ? HOST : null), {}, 1);
    tell();
  });
  afterEach(() => served.stop());

  const tell = () => served.callers.poller.notice(feed.notice());
  const since = async (tag: string, more = '') =>
    (await served.get(`/api/v1/fibers?since=${encodeURIComponent(tag)}${more}`)).json as unknown as Answer;
  const asked = (name: string) => served.callers.poller.asked.filter((call) => call.name === name).length;
  const rename = (path: string, name: string, host: string | null = HOST) => {
    feed.set(documentAt(path, host, name), {}, 2);
    tell();
  };

  it('[RPL-1] starts with the whole feed and its tag, and then costs the bytes of what changed', async () => {
    const whole = (await since('')) as Whole;
    expect(whole).toMatchObject({ whole: true, host: HOST, state: 'fresh', tag: expect.any(String) });
    expect(whole.fibers).toHaveLength(2_000);
    rename('/s/f8.md', 'first');
    rename('/s/f8.md', 'second');
    feed.delete('/s/f9.md', 3);
    tell();
    const answer = await served.get(`/api/v1/fibers?since=${whole.tag}`);
    expect(answer.json).toMatchObject({
      host: HOST,
      state: 'fresh',
      generated_at: 3,
      rows: [{ path: '/s/f8.md', name: 'second' }],
      removed: ['/s/f9.md'],
    });
    expect(answer.headers).not.toHaveProperty('etag');
    expect(answer.body.length).toBeLessThan(1_000);
    expect([asked('feed'), asked('feed_changes')]).toEqual([1, 0]);
    expect(await since((answer.json as Delta).tag)).toMatchObject({
      tag: (answer.json as Delta).tag,
      rows: [],
      removed: [],
    });
  });

  it('[RPL-1] accepts the tag as in ETag, strong or weak', async () => {
    const { etag } = (await served.get('/api/v1/fibers')).headers;
    rename('/s/f8.md', 'b');
    for (const tag of [etag!, `W/${etag}`, etag!.slice(1, -1)])
      expect(await since(tag)).toMatchObject({ rows: [{ name: 'b' }] });
  });

  it('[RPL-1] reports a row that leaves the svc variant as removed there, and as changed in the other', async () => {
    const all = (await since('')) as Whole;
    const svc = (await since('', '&svc=true')) as Whole;
    expect(svc.fibers).toHaveLength(1_000);
    rename('/s/f8.md', 'away', 'host-b');
    expect(await since(svc.tag!, '&svc=true')).toMatchObject({ rows: [], removed: ['/s/f8.md'] });
    expect(await since(all.tag!)).toMatchObject({ rows: [{ name: 'away' }], removed: [] });
    rename('/s/f9.md', 'not ours', null);
    expect(await since(svc.tag!, '&svc=true')).toMatchObject({ rows: [], removed: ['/s/f8.md'] });
  });

  it('reports a change of the state although no row changed', async () => {
    const { tag } = await since('');
    feed.setState('partial', 7);
    tell();
    expect(await since(tag!)).toMatchObject({ state: 'partial', generated_at: 7, rows: [], removed: [] });
  });

  it('asks the poller for changes since a tag older than the cached notices', async () => {
    const { tag } = await since('');
    for (let nth = 0; nth < 1_500; nth += 1) rename(`/s/f${nth % 600}.md`, `round ${nth}`);
    const answer = (await since(tag!)) as Delta;
    expect(asked('feed_changes')).toBe(1);
    expect(answer.rows).toHaveLength(600);
    expect(answer.tag).toBe(feed.etags().all!.slice(1, -1));
  });

  it('answers the whole feed if too much changed, and once the removals are forgotten', async () => {
    const { tag } = await since('');
    for (let nth = 0; nth < 1_001; nth += 1) feed.set(documentAt(`/s/f${nth}.md`, HOST, 'b'), {}, 2);
    tell();
    const moved = (await since(tag!)) as Whole;
    expect(moved.whole).toBe(true);
    for (let nth = 0; nth < 1_001; nth += 1) feed.delete(`/s/f${nth}.md`, 3);
    for (let nth = 1_990; nth < 2_000; nth += 1) feed.set(documentAt(`/s/f${nth}.md`, HOST, 'c'), {}, 4);
    tell();
    expect(await since(moved.tag!)).toMatchObject({ whole: true, tag: feed.etags().all!.slice(1, -1) });
    const { tag: now } = await since('');
    rename('/s/f1990.md', 'd');
    expect(await since(now!)).toMatchObject({ rows: [{ name: 'd' }] });
  });

  it.each(['x', '"', 'other-all-1', 'n-all-', 'n-all-1e3', 'n-all-99999', 'n-svc-1'])(
    'answers the whole feed for %s, which is not one of its tags',
    async (tag) => {
      expect(await since(tag)).toMatchObject({ whole: true });
    },
  );

  it('has no tag while the feed is cold, and is whole when it is fresh again', async () => {
    const { tag } = await since('');
    feed.setState('cold', 2);
    tell();
    expect(await since(tag!)).toMatchObject({ whole: true, tag: null, state: 'cold' });
    feed.setState('fresh', 3);
    tell();
    expect(await since('')).toMatchObject({ whole: true, tag: expect.any(String) });
  });

  it('answers with no cached change of a poller that died', async () => {
    const { tag } = await since('');
    rename('/s/f8.md', 'b');
    served.callers.poller.up = false;
    served.become({ components: [runningPoller('restarting')] });
    expect((await served.get(`/api/v1/fibers?since=${tag}`)).status).toBe(503);
  });

  it('is refused together with bodies, with the fix', async () => {
    expect(await served.get('/api/v1/fibers?since=x&body=true')).toMatchObject({
      status: 400,
      json: { error: 'invalid_request', message: expect.stringContaining('leave body out') },
    });
  });
});

it('keeps a bounded number of notices, also of those that bring no row', () => {
  const { feed } = setUp();
  const window = new FeedWindow();
  const etags: string[] = [];
  for (let nth = 0; nth < 1_002; nth += 1) {
    feed.setState(nth % 2 === 0 ? 'fresh' : 'partial', nth);
    const { value, bytes } = feed.notice();
    window.push(value, bytes);
    etags.push(value.etags.all!);
  }
  expect(window.since(etags[0]!, 'all')).toBeNull();
  expect(window.since(etags[1]!, 'all')).toMatchObject({ etag: etags.at(-1), rows: [] });
});

it('forgets the feed of a poller that ends, also of one that ends before it is ready', () => {
  const poller = new InProcessPoller();
  let view: ComponentView = {
    ...{ name: 'poller', state: 'starting', restarts: 0 },
    ...{ started_at: null, last_error: null },
  };
  let changed = () => {};
  const cache = createFeedCache(poller, {
    host: HOST,
    components: () => [view],
    onChanged: (run) => {
      changed = run;
    },
  });
  const become = (change: Partial<ComponentView>) => {
    view = { ...view, ...change };
    changed();
  };
  const told: (string | null)[] = [];
  cache.onDelta('all', ({ tag }) => told.push(tag));
  poller.notify('"one"');
  become({ state: 'running' });
  changed();
  expect(cache.current(false)?.etag).toBe('"one"');
  become({ state: 'restarting', last_error: 'it died' });
  expect(cache.current(false)).toBeNull();
  // The next life tells of its feed with its first tick, and ends before it is ready.
  view = { ...view, restarts: 1 };
  poller.notify('"two"');
  expect(cache.current(false)?.etag).toBe('"two"');
  become({ state: 'restarting' });
  expect(cache.current(false)).toBeNull();
  poller.notify('"three"');
  become({ state: 'failed' });
  expect(cache.current(false)).toBeNull();
  expect(told).toEqual(['one', null, 'two', null, 'three', null]);
});
