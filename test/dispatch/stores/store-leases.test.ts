import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { StoreLeases } from '../../../src/dispatch/stores/store-leases.ts';
import { identifyStore } from '../../../src/fibers/identify-store.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

let scratch: ScratchFolder;
let store: string;
let folder: string;
beforeEach(() => {
  scratch = scratchFolder();
  store = join(scratch.path, 'store');
  folder = join(scratch.path, 'runtime');
  mkdirSync(join(store, '.fibers'), { recursive: true });
  mkdirSync(folder, { mode: 0o700 });
});
afterEach(() => scratch.remove());

/** The leases of one daemon; two of one process are told apart by their names, as the threads of one are. */
function daemon(name: string, over: { host?: string; generation?: number } = {}) {
  const failing = { now: false };
  const leases = new StoreLeases({
    folder,
    host: over.host ?? 'host-a',
    owner: { name, generation: over.generation ?? 1 },
    about: { data_dir: `/data/${name}`, since: '2026-01-01T00:00:00.000Z' },
    pool: {
      async run(_job, input) {
        if (failing.now) throw new Error('the disk is asleep');
        const { root } = input as { root: string };
        return { value: { identity: identifyStore(root) } as never, bulk: null };
      },
    },
    deadline_ms: 1_000,
    logger: silentLogger,
  });
  return { leases, failing };
}

describe('the lease of a store', () => {
  it('is one daemon’s alone, whatever path leads to the store, and the other is told who has it', async () => {
    const link = join(scratch.path, 'link');
    symlinkSync(store, link);
    const [first, second] = [daemon('first'), daemon('second')];
    await first.leases.look(store);
    await second.leases.look(link);
    expect(first.leases.of(store).state).toBe('held');
    expect(second.leases.of(link)).toMatchObject({
      state: 'elsewhere',
      holder: { pid: process.pid, data_dir: '/data/first', since: '2026-01-01T00:00:00.000Z' },
    });
    first.leases.release();
    expect(second.leases.confirm(link).state).toBe('held');
    await first.leases.look(store);
    expect(first.leases.of(store).state).toBe('elsewhere');
  });

  it('is another one for another host id and for another store', async () => {
    const other = join(scratch.path, 'other');
    mkdirSync(join(other, '.fibers'), { recursive: true });
    const [first, second, third] = [daemon('first'), daemon('second', { host: 'host-b' }), daemon('third')];
    await first.leases.look(store);
    await second.leases.look(store);
    await third.leases.look(other);
    expect(second.leases.of(store).state).toBe('held');
    expect(third.leases.of(other).state).toBe('held');
  });

  it('is taken again where its file was removed, and lost at the next look where another has it by then', async () => {
    const [first, second] = [daemon('first'), daemon('second')];
    await first.leases.look(store);
    rmSync(join(folder, readdirSync(folder)[0]!));
    expect(first.leases.confirm(store).state).toBe('held');
    rmSync(join(folder, readdirSync(folder)[0]!));
    await second.leases.look(store);
    expect(first.leases.confirm(store)).toMatchObject({
      state: 'elsewhere',
      holder: { data_dir: '/data/second' },
    });
    expect(second.leases.confirm(store).state).toBe('held');
  });

  it('is one for two roots that are the same store', async () => {
    const link = join(scratch.path, 'link');
    symlinkSync(store, link);
    const { leases } = daemon('first');
    await leases.look(store);
    await leases.look(link);
    expect([leases.of(store).state, leases.of(link).state]).toEqual(['held', 'held']);
    leases.keep(new Set([link]));
    expect(leases.confirm(link).state).toBe('held');
    leases.keep(new Set());
    expect(readdirSync(folder)).toEqual([]);
  });

  it('goes over to the next generation of the same thread', async () => {
    await daemon('poller').leases.look(store);
    const next = daemon('poller', { generation: 2 });
    await next.leases.look(store);
    expect(next.leases.of(store).state).toBe('held');
  });

  it('is unknown, and holds, while the store was never identified or the runtime folder is gone', async () => {
    const one = daemon('first');
    expect(one.leases.of(store).state).toBe('unknown');
    one.failing.now = true;
    await one.leases.look(store);
    expect(one.leases.of(store)).toMatchObject({ state: 'unknown', detail: 'the disk is asleep' });
    one.failing.now = false;
    await one.leases.look(store);
    one.failing.now = true;
    await one.leases.look(store);
    expect(one.leases.of(store).state).toBe('held');
    rmSync(folder, { recursive: true });
    expect(one.leases.confirm(store).state).toBe('unknown');
  });
});
