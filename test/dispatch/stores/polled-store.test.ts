import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type { FiberDocument } from '../../../src/contract/fiber.ts';
import { PolledStore, ticksBetween } from '../../../src/dispatch/stores/polled-store.ts';
import { StorePoll, type StoreReader } from '../../../src/dispatch/stores/store-poll.ts';
import { initStore, type Store } from '../../../src/fibers/store.ts';
import { StoreIndex } from '../../../src/fibers/store-index.ts';
import { readDocuments, sweepStore } from '../../../src/fibers/sweep.ts';
import { type OnHint, type StoreWatch, watchStore } from '../../../src/fibers/watch.ts';
import type { Disks, Proof } from '../../../src/platform/disks.ts';
import { answeringDisks } from '../../kit/answering-disks.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { pause, until } from '../../kit/until.ts';

const EVERY = 4;
const textOf = (name: string) => `---\nname: ${name}\n---\n`;

/** One polled store on a real file system, whose listings are counted. */
class Bed {
  readonly scratch: ScratchFolder = scratchFolder();
  readonly store: Store = initStore(this.scratch.mkdir('notes'));
  readonly base = join(this.store.root, '.fibers');
  readonly index = new StoreIndex();
  /** What hints led to. */
  readonly followed: { went: boolean; listing: boolean }[] = [];
  readonly disks: { proof: Proof; reportsChanges: boolean } = { proof: 'answers', reportsChanges: true };
  listings = 0;
  failing = false;
  watched: StoreWatch | null = null;
  readonly polled: PolledStore;

  constructor(watch: typeof watchStore = watchStore, clock: Clock = systemClock) {
    const pool: StoreReader = {
      run: async (job, _input, options) => {
        if (job === 'read_documents')
          return { value: {} as never, bulk: readDocuments(this.store.root, options!.bulk!) };
        this.listings += 1;
        if (this.failing) throw new Error('the disk is asleep');
        return { value: {} as never, bulk: sweepStore(this.store.root, options!.bulk!) };
      },
    };
    const disks: Pick<Disks, 'prove' | 'answering' | 'isSilent' | 'reportsChanges'> = {
      ...answeringDisks,
      prove: async () => this.disks.proof,
      reportsChanges: () => this.disks.reportsChanges,
    };
    const { root } = this.store;
    this.polled = new PolledStore({
      ...{ index: this.index, disks, clock, logger: silentLogger, deadline_ms: 10_000, interval_ms: 30_000 },
      poll: new StorePoll({ root, pool, disks, clock, logger: silentLogger }),
      documents: {
        refresh: (path) => this.index.refresh(path, (file) => this.#read(file)),
        readRow: (path) => this.#read(path),
        hasFolder: (folder) => this.store.hasFolder(folder),
      },
      watch: (onHint) => {
        this.watched = watch(onHint);
        return this.watched;
      },
      ticksBetween: () => EVERY,
      onNew() {},
      onFollowed: (_moved, followed) => this.followed.push(followed),
    });
  }

  /** Writes a document; answers its path. */
  write(id: string, name = basename(id)): string {
    const path = join(this.base, id, `${basename(id)}.md`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, textOf(name));
    return path;
  }

  tick(whole = false): Promise<boolean> {
    return this.polled.tick({ whole });
  }

  /** Ticks until every folder is watched and a listing has begun after that. */
  async settle(): Promise<void> {
    await this.tick();
    await until('all watches', () => this.watched?.complete);
    await this.tick();
    this.listings = 0;
  }

  nameOf(path: string): string | undefined {
    return this.index.getPath(path)?.name;
  }

  /** The rows, as a new listing of the store gives them. */
  get onDisk(): Record<string, string> {
    return Object.fromEntries(this.store.list().documents.map((row) => [row.id, row.name]));
  }

  get rows(): Record<string, string> {
    return Object.fromEntries([...this.index.rows()].map((row) => [row.id, row.name]));
  }

  #read(path: string): FiberDocument | null {
    try {
      const { body: _body, fault: _fault, ...row } = this.store.readPath(path);
      return row;
    } catch (error) {
      if ((error as { code?: string }).code === 'fiber_not_found') return null;
      throw error;
    }
  }

  remove(): void {
    this.polled.close();
    this.scratch.remove();
  }
}

let bed: Bed;
afterEach(() => bed.remove());

describe('a new fiber is found by a look, without a listing', () => {
  const settled = async () => {
    bed = new Bed();
    bed.write('a');
    await bed.settle();
  };

  it('when its document is written long after its folder', async () => {
    await settled();
    mkdirSync(join(bed.base, 'late'));
    await until('the watch of the folder', () => bed.watched!.watched === 3);
    await pause(200);
    const path = bed.write('late');
    await until('the new fiber', () => bed.nameOf(path) === 'late');
    expect(bed.listings).toBe(0);
  });

  it('when it is nested in a tree that was just made, whenever each document is written', async () => {
    await settled();
    for (const wait of [0, 5, 20, 60]) {
      const ids = ['x', 'x/y', 'x/y/z'].map((id) => `a/t${wait}/${id}`);
      mkdirSync(join(bed.base, ids[2]!), { recursive: true });
      for (const id of ids.toReversed()) {
        await pause(wait);
        bed.write(id);
      }
      await until('all of them', () => ids.every((id) => bed.rows[id] !== undefined));
      const last = bed.write(`${ids[2]}/more`);
      await until('one below them', () => bed.nameOf(last));
    }
    expect(bed.listings).toBe(0);
  });

  it('when a whole tree is moved into the store', async () => {
    await settled();
    const outside = bed.scratch.mkdir('outside');
    mkdirSync(join(outside, 'in'));
    writeFileSync(join(outside, 'in/in.md'), textOf('in'));
    writeFileSync(join(outside, 'outside.md'), textOf('outside'));
    renameSync(outside, join(bed.base, 'outside'));
    await until('both', () => bed.rows['outside/in'] && bed.rows.outside);
    const path = join(bed.base, 'outside/in/in.md');
    writeFileSync(path, textOf('edited'));
    await until('an edit in it', () => bed.nameOf(path) === 'edited');
    expect(bed.listings).toBe(0);
  });

  it('when its folder is removed and made again, or takes the place of another', async () => {
    await settled();
    const [first, second] = [bed.write('one/deep', 'first'), bed.write('two/deep', 'second')];
    await until('both', () => bed.nameOf(first) && bed.nameOf(second));
    rmSync(join(bed.base, 'one'), { recursive: true });
    bed.write('one/deep', 'made again');
    await until('the new one', () => bed.nameOf(first) === 'made again');
    renameSync(join(bed.base, 'one'), join(bed.base, 'gone'));
    renameSync(join(bed.base, 'two'), join(bed.base, 'one'));
    await until('the swap', () => bed.nameOf(first) === 'second' && bed.nameOf(second) === undefined);
    await until('the moved one', () => bed.rows['gone/deep'] === 'made again');
    bed.write('one/deep', 'edited there');
    await until('an edit of it', () => bed.nameOf(first) === 'edited there');
    expect(bed.rows).toEqual(bed.onDisk);
    expect(bed.listings).toBe(0);
  });

  it('and with all below it is dropped when its folder goes', async () => {
    await settled();
    for (const id of ['p', 'p/q', 'p/q/r']) bed.write(id);
    await until('all of them', () => Object.keys(bed.rows).length === 4);
    rmSync(join(bed.base, 'p'), { recursive: true });
    await until('their end', () => Object.keys(bed.rows).length === 1);
    expect(bed.followed.some(({ went }) => went)).toBe(true);
    expect(bed.listings).toBe(0);
  });

  it('unless more come at once than are looked at alone: then a listing is asked for', async () => {
    await settled();
    for (let index = 0; index < 100; index += 1) bed.write(`many-${index}`);
    await until('the wish', () => bed.followed.some(({ listing }) => listing));
    await bed.tick();
    expect(bed.listings).toBe(1);
    expect(bed.rows).toEqual(bed.onDisk);
  });
});

describe('a watched store', () => {
  it('[DSP-1] is listed at every n-th tick, and at once when that is asked for', async () => {
    bed = new Bed();
    bed.write('a');
    await bed.settle();
    const listings = [];
    for (let tick = 0; tick < 2 * EVERY; tick += 1) {
      await bed.tick();
      listings.push(bed.listings);
    }
    expect(listings).toEqual([0, 0, 0, 1, 1, 1, 1, 2]);
    await bed.tick(true);
    expect(bed.listings).toBe(3);
  });

  it.each([
    ['whose disk is of another machine', watchStore, false],
    ['whose watches have reached their limit', (hint: OnHint) => watchStore(hint, { maxWatches: 2 }), true],
  ])('[DSP-1] %s is listed at every tick', async (_what, watch, reportsChanges) => {
    bed = new Bed(watch);
    bed.disks.reportsChanges = reportsChanges;
    for (const id of ['a', 'b']) bed.write(id);
    for (let tick = 1; tick <= 3; tick += 1) {
      await bed.tick();
      await pause(20);
      expect(bed.listings).toBe(tick);
    }
  });

  it('[DSP-1] is stale once two intervals have passed without a listing that came through, and fresh after one', async () => {
    let late_ms = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + late_ms };
    bed = new Bed(watchStore, clock);
    bed.write('a');
    await bed.settle();
    const { last_ok_at } = bed.polled.health;
    expect(bed.polled.health).toMatchObject({ state: 'ok', error: null });
    late_ms = 60_000;
    expect(bed.polled.health).toMatchObject({ state: 'ok', error: null });
    late_ms = 70_000;
    expect(bed.polled.health).toMatchObject({
      ...{ state: 'stale', last_ok_at },
      error: 'its last listing has not come to its end; it goes on by itself',
    });
    await bed.tick();
    expect(bed.polled.health).toMatchObject({ state: 'ok', error: null });
  });

  it('[DSP-1] is listed until a listing comes through, and says that its rows are old', async () => {
    bed = new Bed();
    bed.write('a');
    await bed.settle();
    bed.disks.proof = 'silent';
    expect(await bed.tick()).toBe(false);
    expect(bed.polled.health.state).toBe('stale');
    bed.disks.proof = 'answers';
    expect(await bed.tick()).toBe(true);
    expect([bed.listings, bed.polled.health.state]).toEqual([1, 'ok']);
  });

  it('[DSP-1] keeps its rows while it is gone as a whole, and is watched again when it is back', async () => {
    bed = new Bed();
    const path = bed.write('a/b');
    bed.write('a');
    await bed.settle();
    renameSync(bed.base, `${bed.base}.away`);
    await until('the wish', () => bed.followed.some(({ listing }) => listing));
    expect([await bed.tick(), bed.polled.health.state, bed.index.size]).toEqual([false, 'stale', 2]);
    for (const id of ['a', 'a/b']) bed.write(id, 'made again');
    await until('a listing', () => bed.tick());
    await until('all watches', () => bed.watched?.watched === 3);
    expect(bed.nameOf(path)).toBe('made again');
    bed.write('a/b', 'edited');
    await until('an edit', () => bed.nameOf(path) === 'edited');
  });

  it('[DSP-1] is shown as old at the next tick after its root was moved, and asks for a listing soon after it is back', async () => {
    bed = new Bed();
    bed.write('a');
    await bed.settle();
    renameSync(bed.store.root, `${bed.store.root}.away`);
    expect([await bed.tick(), bed.polled.health.state]).toEqual([false, 'stale']);
    bed.followed.length = 0;
    renameSync(`${bed.store.root}.away`, bed.store.root);
    await until('the wish', () => bed.followed.some(({ listing }) => listing));
    expect([await bed.tick(), bed.polled.health.state]).toEqual([true, 'ok']);
  });

  it('[DSP-1] is listed at the next tick where a change came while it was gone for a moment', async () => {
    let hints = 0;
    bed = new Bed((onHint) =>
      watchStore((...hint) => {
        hints += 1;
        onHint(...hint);
      }),
    );
    const path = bed.write('a');
    await bed.settle();
    const away = `${bed.store.root}.away`;
    renameSync(bed.store.root, away);
    writeFileSync(join(away, '.fibers/a/a.md'), textOf('edited'));
    await until('the hint', () => hints > 0);
    await pause(100);
    renameSync(away, bed.store.root);
    expect(bed.nameOf(path)).toBe('a');
    expect([await bed.tick(), bed.nameOf(path)]).toEqual([true, 'edited']);
  });

  it('reads at every tick what no watch of its folders reports: links, files with two names', async () => {
    bed = new Bed();
    const outside = join(bed.scratch.path, 'outside.md');
    const [linked, named] = [bed.write('linked'), bed.write('named')];
    writeFileSync(join(bed.base, 'linked/target.txt'), textOf('target'));
    rmSync(linked);
    mkdirSync(join(bed.base, 'linked/deep'));
    renameSync(join(bed.base, 'linked/target.txt'), join(bed.base, 'linked/deep/target.txt'));
    symlinkSync('deep/target.txt', linked);
    linkSync(named, outside);
    await bed.settle();
    await bed.tick(true);
    bed.listings = 0;
    writeFileSync(join(bed.base, 'linked/deep/target.txt'), textOf('another target'));
    writeFileSync(outside, textOf('another name'));
    await bed.tick();
    await until('the link', () => bed.nameOf(linked) === 'another target');
    await until('the other name', () => bed.nameOf(named) === 'another name');
    expect(bed.listings).toBe(0);
  });

  it('is listed when a document that could not be read can be read again', async () => {
    bed = new Bed();
    const path = bed.write('a');
    rmSync(path);
    symlinkSync('nowhere.md', path);
    await bed.settle();
    await bed.tick(true);
    expect(bed.polled.health.error).toContain(path);
    const { error } = bed.index.getPath(path)!;
    bed.listings = 0;
    await bed.tick();
    await pause(50);
    expect([bed.listings, bed.index.getPath(path)?.error]).toEqual([0, error]);
    rmSync(path);
    bed.write('a', 'mended');
    await until('the wish', () => bed.followed.some(({ listing }) => listing));
    await bed.tick();
    expect([bed.nameOf(path), bed.polled.health.error]).toEqual(['mended', null]);
  });

  it('is listed after a burst that may have overflowed the queue of the kernel', async () => {
    bed = new Bed();
    for (const id of ['a', 'b']) bed.write(id);
    await bed.settle();
    const queue = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
    // Two files in turn, since the kernel merges equal events that follow each other.
    for (let event = 0; event < queue; event += 1)
      writeFileSync(join(bed.base, event % 2 === 0 ? 'a/x' : 'b/x'), '');
    const path = bed.write('a', 'edited in the burst');
    await pause(50);
    await bed.tick();
    expect(bed.listings).toBe(1);
    expect(bed.nameOf(path)).toBe('edited in the burst');
  });

  it('with more folders is listed less often, up to a tenth of the ticks', () => {
    expect([1, 10_000, 10_001, 35_000, 100_000, 1_000_000].map(ticksBetween)).toEqual([1, 1, 2, 4, 10, 10]);
  });
});

describe('with watches that lose any of their events', () => {
  type Step = { kind: 'write' | 'remove' | 'move' | 'tick' | 'hint'; id: number; to: number; lost: boolean };
  const IDS = ['a', 'b', 'a/c', 'a/d', 'b/e', 'a/c/f', 'b/e/g'];
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('write', 'write', 'write', 'remove', 'move', 'tick', 'hint'),
    id: fc.nat(IDS.length - 1),
    to: fc.nat(IDS.length - 1),
    lost: fc.boolean(),
  });

  it('[DSP-1] every change is seen within the stated number of ticks', async () => {
    const model = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      let hint: OnHint = () => {};
      const silent: StoreWatch = {
        ...{ watched: 0, degraded: null, complete: true },
        ...{ add() {}, drop() {}, close() {}, lostEvents: () => false, update: async () => false },
      };
      const own = new Bed((onHint) => {
        hint = onHint;
        return silent;
      });
      try {
        let changes = 0;
        const tell = (path: string, lost: boolean) => {
          if (!lost)
            for (const folder of [path, dirname(path)]) hint(folder, folder === path && changes % 3 === 0);
        };
        const apply = async ({ kind, id, to, lost }: Step) => {
          const path = join(own.base, IDS[id]!);
          changes += 1;
          if (kind === 'tick') await own.tick();
          else if (kind === 'hint') await pause(20);
          else if (kind === 'write') own.write(IDS[id]!, `name ${changes}`);
          else if (kind === 'remove') rmSync(path, { recursive: true, force: true });
          else if (!IDS[to]!.startsWith(IDS[id]!)) {
            rmSync(join(own.base, IDS[to]!), { recursive: true, force: true });
            mkdirSync(dirname(join(own.base, IDS[to]!)), { recursive: true });
            try {
              renameSync(path, join(own.base, IDS[to]!));
            } catch {
              // There was nothing to move.
            }
            tell(join(own.base, IDS[to]!), lost);
          }
          tell(path, lost);
        };
        for (const each of steps) await apply(each);
        const before = own.listings;
        for (let tick = 0; tick < EVERY; tick += 1) await own.tick();
        expect(own.listings).toBeGreaterThan(before);
        expect(own.rows).toEqual(own.onDisk);
        await pause(30);
        expect(own.rows).toEqual(own.onDisk);
      } finally {
        own.remove();
      }
    });
    bed = new Bed();
    await fc.assert(model, { numRuns: 60 });
  }, 60_000);
});
