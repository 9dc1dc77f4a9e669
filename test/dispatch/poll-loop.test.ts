import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { Feed } from '../../src/dispatch/feed.ts';
import { PollLoop } from '../../src/dispatch/poll-loop.ts';
import { Rows } from '../../src/dispatch/rows.ts';
import { StoreDocuments } from '../../src/dispatch/stores/store-documents.ts';
import { StorePoll } from '../../src/dispatch/stores/store-poll.ts';
import { initStore } from '../../src/fibers/store.ts';
import { StoreIndex } from '../../src/fibers/store-index.ts';
import { readDocuments, sweepStore } from '../../src/fibers/sweep.ts';
import { until } from '../fixtures/mux/private-server.ts';
import { answeringDisks } from '../kit/answering-disks.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { type Daemon, FakeWorld } from './world/fake-world.ts';

/** A poll loop over a real store with real file-system hints; tmux and the processes are imagined. */
let scratch: ScratchFolder;
let imagined: FakeWorld;
let loop: PollLoop;
let daemon: Daemon;
let pruned: MockInstance;
let forgotten: MockInstance;
let moved: ReadonlySet<string>[];
let sweeps: number;
let parsed: string[];
let failing: boolean;
let hanging: boolean;
let slow: string | null;
let most_new: number;
let rounds: number;
let listedFirst: string[];
let roots: string[];
let paths: Record<string, string>;
let rows: { index: StoreIndex; feed: Feed };

beforeEach(async () => {
  scratch = scratchFolder();
  imagined = new FakeWorld();
  imagined.env = { SVC_POLL_INTERVAL_MS: '600000', SVC_LISTING_TIMEOUT_MS: '5000' };
  daemon = imagined.boot({ released: true });
  pruned = vi.spyOn(daemon.world.runDirectories, 'prune');
  forgotten = vi.spyOn(daemon.dispatcher.surfaces.cli.captures, 'removeOld');
  moved = [];
  sweeps = 0;
  parsed = [];
  failing = false;
  hanging = false;
  slow = null;
  most_new = Number.POSITIVE_INFINITY;
  rounds = 0;
  listedFirst = [];
  const root = scratch.mkdir('notes');
  const store = initStore(root);
  paths = {};
  for (const slug of ['a', 'b']) paths[slug] = (await store.create({ name: slug, slug })).path;

  const index = new StoreIndex();
  const world = { ...daemon.world, clock: systemClock };
  let onRow: (path: string) => void = () => {};
  const documents = new StoreDocuments({
    index,
    roots: [root],
    store: {},
    pool: {
      async run(job, _input, options) {
        parsed.push(job);
        return { value: {} as never, bulk: readDocuments(root, options!.bulk!) };
      },
    },
    logger: silentLogger,
    onRow: (path) => onRow(path),
    onLateRow: (path) => loop.followMoved(path),
    isSilent: () => false,
  });
  world.documents = documents;
  const feed = new Feed({ host: world.host, nonce: 'n', now: 0 });
  const own = new Rows({ world, memory: daemon.memory, index, feed, onFeedMoved: () => {} });
  onRow = (path) => own.documentsMoved([path]);
  rows = { index, feed };
  const pollOf = (at: string) =>
    new StorePoll({
      root: at,
      clock: systemClock,
      logger: silentLogger,
      disks: answeringDisks,
      pool: {
        run: async (job, _input, options) => {
          await until('an answer of the disk', () => !hanging && slow !== at);
          if (job === 'read_documents')
            return { value: {} as never, bulk: readDocuments(at, options!.bulk!) };
          sweeps += 1;
          if (failing) throw new Error('the disk is asleep');
          const table = options?.bulk ?? new Uint8Array();
          return { value: {} as never, bulk: sweepStore(at, table, Date.now(), { most_new }) };
        },
      },
    });
  const { dispatcher } = daemon;
  const startMoved = dispatcher.rounds.startMoved.bind(dispatcher.rounds);
  const startDue = dispatcher.rounds.startDue.bind(dispatcher.rounds);
  Object.assign(dispatcher.rounds, {
    startDue: () => {
      rounds += 1;
      return startDue();
    },
    startMoved: (these: ReadonlySet<string>) => {
      moved.push(these);
      return startMoved(these);
    },
  });
  roots = [root];
  loop = new PollLoop({
    ...{ world, index, documents, pollOf, dispatcher, rows: own, memory: daemon.memory },
    leases: { look: async () => {}, keep: () => {} },
    roots: () => roots,
    lookAtFiles: async () => {},
    onFirstListing: (at) => listedFirst.push(at),
  });
  await loop.start();
});
afterEach(async () => {
  await loop.stop();
  imagined.dispose();
  scratch.remove();
});

const edit = (path: string, change: (text: string) => string) => {
  writeFileSync(`${path}.new`, change(readFileSync(path, 'utf8')));
  renameSync(`${path}.new`, path);
};
const beside = (path: string, name: string) => join(path, '..', name);

describe('the poll loop', () => {
  it('[DSP-1] lists every store once a tick and shows how it went', () => {
    expect(loop.health).toMatchObject({ ticks: 1, stores: [{ state: 'ok', fibers: 2, error: null }] });
    expect(sweeps).toBe(1);
  });

  it('removes no run and no capture as it starts, when the clock of the machine may still be wrong', () => {
    expect(pruned).not.toHaveBeenCalled();
    expect(forgotten).not.toHaveBeenCalled();
  });

  it('reads a document that was edited at once, without a listing, and looks whether it is due', async () => {
    edit(paths.a!, (text) => text.replace('name: a', 'name: edited'));
    await until('the edit', () => rows.index.getPath(paths.a!)?.name === 'edited');
    await until('the look', () => moved.some((these) => these.has(paths.a!)));
    expect(new TextDecoder().decode(rows.feed.encode({ svc: false }).bytes)).toContain('edited');
    expect(sweeps).toBe(1);
  });

  it('has a document that takes the YAML library parsed in the pool, and keeps its row until then', async () => {
    edit(paths.a!, (text) => text.replace('name: a', 'name: "edit\\x65d"'));
    await until('the edit', () => rows.index.getPath(paths.a!)?.name === 'edited');
    await until('the look', () => moved.some((these) => these.has(paths.a!)));
    expect(parsed).toEqual(['read_documents']);
    expect(sweeps).toBe(1);
  });

  it('[P19] is not woken by a worker that writes beside its document all the time', async () => {
    for (let turn = 0; turn < 40; turn += 1) {
      writeFileSync(beside(paths.a!, `note-${turn % 3}.txt`), String(turn));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect([sweeps, moved.length]).toEqual([1, 0]);
  });

  it('takes up what hooks told also where the look at new workers fails', async () => {
    const { dispatcher } = daemon;
    let phases = 0;
    Object.assign(dispatcher, {
      watchStarts: () => Promise.reject(new Error('a start cannot be looked at')),
      watchPhases: async () => {
        phases += 1;
      },
    });
    await until('a look at the phases', () => phases > 0);
  });

  it('looks at a fiber that comes, moves or goes alone, before any listing', async () => {
    failing = true;
    const place = (leaf: string) => join(scratch.path, 'notes/.fibers', leaf, `${leaf}.md`);
    const text = '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\nname: new\nstatus: open\n---\n';
    mkdirSync(join(place('new'), '..'));
    writeFileSync(place('new'), text);
    await until('the new fiber', () => rows.index.getPath(place('new')));
    await until('the look', () => moved.some((these) => these.has(place('new'))));
    expect(new TextDecoder().decode(rows.feed.encode({ svc: false }).bytes)).toContain(place('new'));
    writeFileSync(join(scratch.path, 'notes/.fibers/bare.md'), text);
    await until('a bare one', () => rows.index.getPath(join(scratch.path, 'notes/.fibers/bare.md')));
    expect(rows.index.isAmbiguous(rows.index.getPath(place('new'))!)).toBe(true);
    rmSync(join(paths.b!, '..'), { recursive: true });
    await until('the end of b', () => rows.index.getPath(paths.b!) === undefined);
    expect(rows.index.size).toBe(3);
  });

  it('[DSP-1] lists a store at once where that is asked for, however short a time ago it failed', async () => {
    const root = join(scratch.path, 'notes');
    failing = true;
    expect(await loop.sweep(root)).toMatchObject({ state: 'stale', error: 'the disk is asleep' });
    const failed = sweeps;
    await loop.tick({ whole: true });
    expect(sweeps).toBe(failed);
    failing = false;
    expect(await loop.sweep(root)).toMatchObject({ store: root, state: 'ok', error: null });
    expect(sweeps).toBe(failed + 1);
    await expect(loop.sweep('/srv/other')).rejects.toMatchObject({ code: 'store_not_found' });
  });

  it('waits for nobody when the disk of a new folder does not answer', async () => {
    hanging = true;
    mkdirSync(beside(paths.a!, 'stuck'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    edit(paths.b!, (text) => text.replace('name: b', 'name: edited'));
    await until('the edit', () => rows.index.getPath(paths.b!)?.name === 'edited');
    hanging = false;
  });

  it('lists the store soon when a fiber comes or goes', async () => {
    const folder = join(paths.a!, '..', 'child');
    mkdirSync(folder);
    writeFileSync(join(folder, 'child.md'), '---\nname: child\nstatus: open\n---\n');
    await until('the new fiber', () => rows.index.getPath(join(folder, 'child.md')));
    rmSync(folder, { recursive: true });
    await until('its end', () => rows.index.getPath(join(folder, 'child.md')) === undefined);
    expect(sweeps).toBeLessThan(8);
  });

  it('does not list the store for a folder that is no fiber', async () => {
    mkdirSync(beside(paths.a!, 'data'));
    for (let turn = 0; turn < 20; turn += 1) {
      writeFileSync(beside(paths.a!, 'data/x'), String(turn));
      writeFileSync(beside(paths.a!, 'y'), String(turn));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect([sweeps, rows.index.size]).toEqual([1, 2]);
  });

  it('[DSP-7] follows the list of stores while it runs: new ones are listed, former ones are forgotten', async () => {
    const [first = ''] = roots;
    const second = initStore(scratch.mkdir('more'));
    const { path } = await second.create({ name: 'c', slug: 'c' });
    roots = [first, second.root];
    loop.takeUpStores();
    await until('the new store', () => rows.index.getPath(path));
    expect(rows.index.size).toBe(3);

    roots = [second.root];
    loop.takeUpStores();
    expect(loop.health.stores.map(({ store }) => store)).toEqual([second.root]);
    expect([...rows.index.rows()].map((row) => row.path)).toEqual([path]);
    expect(rows.feed.size).toBe(1);
    const before = sweeps;
    writeFileSync(paths.a!, `${readFileSync(paths.a!, 'utf8')}more\n`);
    await loop.tick();
    await until('a further listing', () => sweeps > before);
    expect(rows.index.size).toBe(1);

    roots = [first, second.root];
    loop.takeUpStores();
    await until('both', () => rows.index.size === 3);
  });

  it('[DSP-1] keeps the last-known rows when a listing fails, and says so', async () => {
    failing = true;
    await loop.tick();
    expect(loop.health.stores).toMatchObject([{ state: 'stale', error: 'the disk is asleep' }]);
    expect(rows.index.size).toBe(2);
    expect(rows.feed.state).toBe('partial');
  });

  it('[DSP-1] serves the other stores while one is slow to list, and this one when it is listed', async () => {
    const [first = ''] = roots;
    const second = initStore(scratch.mkdir('slow'));
    const { path } = await second.create({ name: 'c', slug: 'c' });
    slow = second.root;
    roots = [first, second.root];
    loop.takeUpStores();
    await until('a round without it', () => rounds > 1);
    expect(loop.health.stores).toMatchObject([{ state: 'ok' }, { state: 'cold' }]);
    expect(listedFirst).toEqual([first]);
    const before = { rounds, sweeps };
    slow = null;
    await until('its row', () =>
      new TextDecoder().decode(rows.feed.encode({ svc: false }).bytes).includes(path),
    );
    await until('a round with it', () => rounds > before.rounds);
    expect(listedFirst).toEqual([first, second.root]);
    expect(rows.feed.state).toBe('fresh');
  });

  it('[DSP-1] shows that the rows are not fresh at the moment when a slow listing has failed', async () => {
    const [first = ''] = roots;
    slow = first;
    void loop.tick();
    await until('a round without it', () => rounds > 1);
    expect(rows.feed.state).toBe('fresh');
    failing = true;
    slow = null;
    await until('the failure', () => loop.health.stores[0]?.state === 'stale');
    expect(rows.feed.state).toBe('partial');
  });

  describe('a held fiber that is gone', () => {
    const held = () => daemon.memory.quarantine.holdOf('01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z');
    const place = (root: string) => join(root, '.fibers/held');
    const whole = () => loop.tick({ whole: true });

    beforeEach(async () => {
      const [root = ''] = roots;
      const second = initStore(scratch.mkdir('more'));
      await second.create({ name: 'c', slug: 'c' });
      roots.push(second.root);
      mkdirSync(place(root));
      const text = '---\nid: 01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z\nname: held\nstatus: open\n---\n';
      writeFileSync(join(place(root), 'held.md'), text);
      await whole();
      const hold = { reason: 'killed' as const, at: 1, launch_id: null, store: root };
      daemon.memory.quarantine.hold('01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z', hold);
    });

    it('loses its hold with the listings that follow', async () => {
      rmSync(place(roots[0]!), { recursive: true });
      await whole();
      await whole();
      expect(held()).toBeNull();
    });

    it('keeps it when it is in another store now', async () => {
      renameSync(place(roots[0]!), place(roots[1]!));
      for (let tick = 0; tick < 3; tick += 1) await whole();
      expect(held()).toBe('killed');
    });

    it('keeps it while the folder of another store is away, and loses it when that is back', async () => {
      renameSync(roots[1]!, `${roots[1]}-away`);
      rmSync(place(roots[0]!), { recursive: true });
      for (let tick = 0; tick < 3; tick += 1) await whole();
      expect(loop.health.stores).toMatchObject([{ state: 'ok' }, { state: 'stale' }]);
      expect(held()).toBe('killed');
      renameSync(`${roots[1]}-away`, roots[1]!);
      await until('the end of the hold', async () => {
        await whole();
        return held() === null;
      });
    });

    it('keeps it while a folder of another store cannot be read', async () => {
      const unreadable = Buffer.concat([Buffer.from(`${roots[1]}/.fibers/`), Buffer.from([0xff])]);
      mkdirSync(unreadable);
      rmSync(place(roots[0]!), { recursive: true });
      for (let tick = 0; tick < 3; tick += 1) await whole();
      expect(loop.health.stores[1]).toMatchObject({ state: 'ok', error: expect.stringContaining('UTF-8') });
      expect(held()).toBe('killed');
      rmSync(unreadable, { recursive: true });
      await whole();
      await whole();
      expect(held()).toBeNull();
    });

    it('keeps it while another store is listed in parts and not to its end', async () => {
      const [first = '', second = ''] = roots;
      renameSync(place(first), place(second));
      const third = initStore(scratch.mkdir('third'));
      await third.create({ name: 'd', slug: 'd' });
      roots = [first, third.root];
      await whole();
      most_new = 0;
      slow = second;
      roots = [first, third.root, second];
      const ticks = [whole(), whole()];
      await until('the listing of the others', () => loop.health.stores[1]?.state === 'ok');
      expect([held(), loop.health.stores[2]?.state]).toEqual(['killed', 'cold']);
      slow = null;
      await Promise.all(ticks);
      for (let tick = 0; tick < 3; tick += 1) await whole();
      expect([held(), loop.health.stores[2]?.fibers]).toEqual(['killed', 2]);
    });
  });
});
