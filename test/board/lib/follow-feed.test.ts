import { describe, expect, it } from 'vitest';
import { type Answer, FeedFollower, type KeptFeed, shownOf } from '../../../board/src/lib/follow-feed.ts';
import type { FiberRow, LiveMessage } from '../../../board/src/model/wire.ts';
import { delta as changesTo, compositeOf, row, whole as wholeFeed } from '../model/rows.ts';

/** A daemon and a clock that do what the test says; what the follower asks waits for its answer. */
class World {
  now = 0;
  kept: KeptFeed | null = null;
  readonly asked: (string | null)[] = [];
  readonly sockets: { message(message: LiveMessage): void; closed(): void; open: boolean }[] = [];
  #timers: { at: number; run: () => void }[] = [];
  #answer: ((answer: Answer) => void) | null = null;
  readonly follower = new FeedFollower(
    {
      ask: (since) => {
        this.asked.push(since);
        return new Promise((resolve) => {
          this.#answer = resolve;
        });
      },
      open: (on) => {
        const socket = { ...on, open: true };
        this.sockets.push(socket);
        return {
          close: () => {
            socket.open = false;
          },
        };
      },
      keep: (kept) => {
        this.kept = kept;
      },
      kept: () => Promise.resolve(this.kept),
      now: () => this.now,
      after: (ms, run) => {
        const timer = { at: this.now + ms, run };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((one) => one !== timer);
        };
      },
    },
    () => undefined,
  );

  get kind(): string {
    return this.follower.followed.contact.kind;
  }

  get names(): string[] {
    return [...(this.follower.followed.copy?.rows.values() ?? [])].map(({ name }) => name);
  }

  get waiting(): number[] {
    return this.#timers.map(({ at }) => at - this.now);
  }

  async answer(answer: Answer): Promise<void> {
    const resolve = this.#answer;
    if (resolve === null) throw new Error('nothing was asked');
    this.#answer = null;
    resolve(answer);
    await Promise.resolve();
    await Promise.resolve();
  }

  pass(ms: number): void {
    this.now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.now);
    this.#timers = this.#timers.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
  }

  /** Time passes, and the daemon sends its sign of life every second. */
  hearFor(ms: number): void {
    for (let passed = 0; passed < ms; passed += 1_000) {
      this.pass(1_000);
      this.sockets.at(-1)?.message({ feed: 'fibers', tag: this.follower.followed.copy?.tag ?? null });
    }
  }
}

const whole = (fibers: FiberRow[], tag: string): Answer => ({
  kind: 'feed',
  feed: wholeFeed(fibers, { tag }),
});
const changes = (rows: FiberRow[], tag: string) => changesTo(rows, [], tag);
const delta = (rows: FiberRow[], tag: string): Answer => ({
  kind: 'feed',
  feed: compositeOf({ 'host-a': changes(rows, tag) }, tag),
});

async function livingWorld(): Promise<World> {
  const world = new World();
  void world.follower.ask();
  await world.answer(whole([row({ name: 'one' })], 't-1'));
  world.sockets[0]!.message({ feed: 'fibers', tag: 't-1' });
  return world;
}

describe('following the feed', () => {
  it('reads it whole once, then takes changes from the socket', async () => {
    const world = await livingWorld();
    expect(world.kind).toBe('live');
    world.sockets[0]!.message({ feed: 'fibers', since: 't-1', ...changes([row({ name: 'two' })], 't-2') });
    expect(world.names).toEqual(['two']);
    expect(world.asked).toEqual([null]);
  });

  it('shows the first rows of many until it has read all, and keeps those that did not change', async () => {
    const world = new World();
    void world.follower.ask();
    const first = row({ name: 'one' });
    await world.answer({ kind: 'feed', feed: wholeFeed([first], { tag: null, of: 2 }) });
    expect(world).toMatchObject({ kind: 'polling', names: [], sockets: [] });
    const shown = shownOf(world.follower.followed);
    expect([...(shown?.rows.values() ?? [])]).toEqual([expect.objectContaining({ name: 'one' })]);
    world.pass(100);
    expect(world.asked).toEqual([null, '']);
    await world.answer(whole([{ ...first }, row({ path: '/s/two/two.md', name: 'two' })], 't-1'));
    expect(world.names).toEqual(['one', 'two']);
    const { copy, first: left } = world.follower.followed;
    expect(left).toBeNull();
    expect([...copy!.rows.values()][0]).toBe([...shown!.rows.values()][0]);
    expect(world.sockets).toHaveLength(1);
  });

  it('goes on with the first rows, and asks for all, while a daemon that told them is gone', async () => {
    const world = new World();
    void world.follower.ask();
    await world.answer({ kind: 'feed', feed: wholeFeed([row({ name: 'one' })], { tag: null, of: 2 }) });
    world.pass(100);
    await world.answer({ kind: 'gone' });
    expect(world).toMatchObject({ kind: 'gone', names: [] });
    expect(shownOf(world.follower.followed)?.rows.size).toBe(1);
    world.pass(1_000);
    expect(world.asked).toEqual([null, '', '']);
    await world.answer(whole([row({ name: 'one' })], 't-1'));
    expect(world.names).toEqual(['one']);
  });

  it('asks what changed after a message that does not follow, one question at a time', async () => {
    const world = await livingWorld();
    world.sockets[0]!.message({ feed: 'fibers', tag: 't-5' });
    world.sockets[0]!.message({ feed: 'fibers', tag: 't-6' });
    expect(world.asked).toEqual([null, 't-1']);
    await world.answer(delta([row({ name: 'five' })], 't-5'));
    expect(world.asked).toEqual([null, 't-1', 't-5']);
    await world.answer(delta([row({ name: 'six' })], 't-6'));
    expect(world.names).toEqual(['six']);
    world.pass(15_000);
    expect(world.asked).toEqual([null, 't-1', 't-5', 't-6']);
  });

  it('polls every five seconds while there is no socket, and tries for one each time', async () => {
    const world = await livingWorld();
    world.sockets[0]!.closed();
    expect(world.kind).toBe('polling');
    await world.answer(delta([], 't-1'));
    expect(world.sockets).toHaveLength(2);
    world.sockets[1]!.closed();
    expect(world.waiting).toEqual([5_000]);
    world.pass(5_000);
    await world.answer(delta([row({ name: 'polled' })], 't-2'));
    expect(world).toMatchObject({ kind: 'polling', names: ['polled'] });
    world.sockets[2]!.message({ feed: 'fibers', tag: 't-2' });
    expect(world.kind).toBe('live');
    expect(world.asked).toEqual([null, 't-1', 't-1']);
  });

  it('keeps what it has while the daemon is gone, and asks again after 1, 2, 4, 8 and 15 seconds', async () => {
    const world = await livingWorld();
    world.sockets[0]!.closed();
    const waits: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      await world.answer({ kind: 'gone' });
      expect(world).toMatchObject({ kind: 'gone', names: ['one'] });
      waits.push(...world.waiting);
      world.pass(world.waiting[0]!);
    }
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    await world.answer(whole([row({ name: 'back' })], 'u-1'));
    world.sockets[1]!.message({ feed: 'fibers', tag: 'u-1' });
    expect(world).toMatchObject({ kind: 'live', names: ['back'] });
    // A whole feed is never asked for again; a daemon that does not know the tag sends one.
    expect(world.asked.filter((since) => !since)).toHaveLength(1);
  });

  it('takes a copy that slept for old until it is asked anew, also while a question is under way', async () => {
    const world = await livingWorld();
    world.now += 3_600_000;
    void world.follower.ask();
    expect(world).toMatchObject({ kind: 'late', names: ['one'] });
    await world.answer({ kind: 'same' });
    expect(world.sockets[0]!.open).toBe(false);
    world.sockets[1]!.message({ feed: 'fibers', tag: 't-1' });
    expect(world.kind).toBe('live');
    world.pass(15_000);
    world.now += 3_600_000;
    void world.follower.ask();
    expect(world.kind).toBe('late');
    expect(world.asked).toEqual([null, 't-1', 't-1']);
  });

  it('lets go of a socket whose daemon does not answer, and hears it no more', async () => {
    const world = await livingWorld();
    world.pass(15_000);
    await world.answer({ kind: 'gone' });
    expect(world.sockets[0]!.open).toBe(false);
    world.sockets[0]!.message({ feed: 'fibers', since: 't-1', ...changes([row({ name: 'ghost' })], 't-2') });
    expect(world).toMatchObject({ kind: 'gone', names: ['one'] });
  });

  it('asks every second while the daemon boots', async () => {
    const world = new World();
    void world.follower.ask();
    const booting = {
      error: 'booting' as const,
      message: '',
      ready: false as const,
      boot_ms: 4_000,
      host: 'host-a',
    };
    await world.answer({ kind: 'booting', booting });
    expect(world.follower.followed.contact).toEqual({ kind: 'booting', host: 'host-a', boot_ms: 4_000 });
    expect(world.waiting).toEqual([1_000]);
    expect(world.sockets).toHaveLength(0);
  });

  it('tells what a daemon says that cannot answer, and tries again', async () => {
    const world = await livingWorld();
    void world.follower.ask();
    await world.answer({ kind: 'refused', message: 'The poller is down.' });
    expect(world.follower.followed.contact).toEqual({
      kind: 'refused',
      message: 'The poller is down.',
      retry_at: 1_000,
    });
    expect(world.waiting).toEqual([1_000]);
  });

  it('touches the clock alone where nothing has changed', async () => {
    const world = await livingWorld();
    const { followed } = world.follower;
    world.hearFor(14_000);
    expect(world.follower.followed).toBe(followed);
    world.hearFor(1_000);
    await world.answer({ kind: 'same' });
    expect(world.follower.followed).toEqual({ ...followed, heard_at: 15_000 });
    expect(world.follower.followed.copy).toBe(followed.copy);
  });

  it('shows that the daemon is silent after 2.5 s, asks once, and takes the socket for alive again with its next message', async () => {
    const world = await livingWorld();
    world.hearFor(10_000);
    expect(world.kind).toBe('live');
    for (let ms = 0; ms < 2_500; ms += 500) world.pass(500);
    expect(world.follower.followed).toMatchObject({ contact: { kind: 'late' }, heard_at: 10_000 });
    expect(world.asked).toEqual([null, 't-1']);
    world.sockets[0]!.message({ feed: 'fibers', tag: 't-1' });
    expect(world).toMatchObject({ kind: 'live', asked: [null, 't-1'] });
    expect(world.sockets[0]!.open).toBe(true);
  });

  it('takes a new socket where the daemon answers while its socket is silent', async () => {
    const world = await livingWorld();
    for (let ms = 0; ms < 2_500; ms += 500) world.pass(500);
    await world.answer({ kind: 'same' });
    expect(world.sockets.map(({ open }) => open)).toEqual([false, true]);
    expect(world.kind).toBe('polling');
  });

  it('reads what waits for it before it calls the daemon silent, where the page itself was busy', async () => {
    const world = await livingWorld();
    world.hearFor(5_000);
    await world.answer({ kind: 'same' });
    world.pass(8_000);
    expect(world.kind).toBe('live');
    world.sockets[0]!.message({ feed: 'fibers', tag: 't-1' });
    world.pass(250);
    expect(world.kind).toBe('live');
  });

  it('tells why the host that answers cannot tell its own fibers, and keeps them beside those of others', async () => {
    const world = await livingWorld();
    world.pass(15_000);
    const other = row({ origin: 'host-b', name: 'theirs' });
    const { read = null } = wholeFeed([other], { host: 'host-b', tag: 'b-1' }).origins['host-b'] ?? {};
    await world.answer({ kind: 'feed', feed: compositeOf({ 'host-a': null, 'host-b': read }, null) });
    expect(world.follower.followed.contact).toMatchObject({ kind: 'refused', message: 'host-a is down.' });
    expect(world.names).toEqual(['one', 'theirs']);
    world.pass(1_000);
    expect(world.asked).toEqual([null, 't-1', 't-1']);
  });

  it('shows no board before a host that answers has told its fibers once', async () => {
    const world = new World();
    void world.follower.ask();
    await world.answer({ kind: 'feed', feed: compositeOf({ 'host-a': null }, null) });
    expect(world.follower.followed).toMatchObject({ copy: null, contact: { kind: 'refused' } });
  });

  it('shows after a reload what it knew before its daemon was gone, as old as that is, until the daemon answers', async () => {
    const before = await livingWorld();
    before.now = 5_000;
    before.sockets[0]!.closed();
    await before.answer({ kind: 'gone' });
    const world = new World();
    world.kept = before.kept;
    world.now = 60_000;
    void world.follower.ask();
    await world.answer({ kind: 'gone' });
    expect(world).toMatchObject({ kind: 'gone', names: ['one'] });
    expect(world.follower.followed.heard_at).toBe(before.follower.followed.heard_at);
    world.pass(1_000);
    await world.answer(whole([row({ name: 'two' })], 'u-1'));
    expect(world).toMatchObject({ kind: 'polling', names: ['two'] });
  });

  it('asks nothing any more once it is stopped', async () => {
    const world = await livingWorld();
    world.follower.stop();
    expect(world).toMatchObject({ waiting: [] });
    expect(world.sockets[0]!.open).toBe(false);
    await world.follower.ask();
    expect(world.asked).toEqual([null]);
  });
});
