import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { HoldFiles } from '../../../src/config/hold-files.ts';
import type { FiberDocument } from '../../../src/contract/fiber.ts';
import { Quarantine } from '../../../src/dispatch/holds/quarantine.ts';
import { RemovedFibers } from '../../../src/dispatch/holds/removed-fibers.ts';
import type { Run } from '../../../src/dispatch/run/run.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';

const UID = '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z8Z';
const HELD = '/a/.fibers/held/held.md';
let scratch: ScratchFolder;
let quarantine: Quarantine;
let removed: RemovedFibers;
let running: boolean;
let unconcluded: Map<string, Run>;
/** The stores as the loop sees them: the rows of each, and when its last faultless listing began. */
let stores: Record<string, { rows: FiberDocument[]; listed: number | null }>;
let moment: number;

const row = (path: string, fields: Partial<FiberDocument> = {}) =>
  ({ path, store: path.slice(0, path.indexOf('/.fibers')), uid: null, ...fields }) as FiberDocument;
const files = () => new HoldFiles({ folder: join(scratch.path, 'state/holds'), logger: silentLogger });
const file = () => join(scratch.path, 'state/holds', `${UID}.json`);
const runs = { get: () => (running ? ({} as never) : undefined) } as never;

beforeEach(() => {
  scratch = scratchFolder();
  running = false;
  unconcluded = new Map();
  moment = 0;
  stores = {
    '/a': { rows: [row(HELD, { uid: UID }), row('/a/.fibers/other/other.md')], listed: null },
    '/b': { rows: [], listed: null },
  };
  boot();
  quarantine.hold(UID, { reason: 'killed', at: 1, launch_id: 'l', store: '/a' });
  listAll();
});
afterEach(() => scratch.remove());

function boot() {
  quarantine = new Quarantine({ files: files(), logger: silentLogger, now: 0 });
  removed = new RemovedFibers({ quarantine, runs, unconcluded });
}

function look() {
  const rows = Object.values(stores).flatMap((store) => store.rows);
  removed.look(
    {
      moment,
      rows: () => rows.values(),
      count: (root) => stores[root]?.rows.length ?? 0,
    },
    Object.entries(stores).map(([root, { listed }]) => ({ root, listed })),
  );
}

/** A tick that lists these stores to their end. */
function list(...roots: string[]) {
  for (const root of roots) {
    moment += 1;
    if (stores[root] !== undefined) stores[root].listed = moment;
  }
  look();
}
const listAll = () => list('/a', '/b');
const remove = () => {
  stores['/a']!.rows = stores['/a']!.rows.filter(({ path }) => path !== HELD);
};

describe('the hold of a removed fiber', () => {
  it('goes with its file once every store was listed whole after the fiber was first missed', () => {
    remove();
    look();
    list('/a');
    expect(existsSync(file())).toBe(true);
    list('/b');
    expect([existsSync(file()), quarantine.namedHoldOf(UID)]).toEqual([false, null]);
  });

  it('goes likewise when the fiber was removed while no daemon ran', () => {
    boot();
    remove();
    look();
    listAll();
    expect(existsSync(file())).toBe(false);
  });

  it.each<[string, () => void]>([
    ['a store has never been listed', () => Object.assign(stores, { '/c': { rows: [], listed: null } })],
    ['a store is silent, unreadable or partly read', () => Object.assign(stores['/b']!, { listed: null })],
    ['its own store is not in the list of stores any more', () => delete stores['/a']],
    ['its own store is empty, as an unmounted one', () => Object.assign(stores['/a']!, { rows: [] })],
    [
      'a document hides which fiber it is',
      () => stores['/b']!.rows.push(row('/b/.fibers/x/x.md', { error: 'no YAML' })),
    ],
    ['its worker still runs', () => (running = true)],
  ])('stays while %s', (_while, happens) => {
    remove();
    happens();
    for (let tick = 0; tick < 5; tick += 1)
      list(...Object.keys(stores).filter((root) => stores[root]?.listed !== null));
    boot();
    expect(quarantine.holdOf(UID)).toBe('killed');
  });

  it('stays when the fiber is back before the listings are over', () => {
    const { rows } = stores['/a']!;
    remove();
    list('/a');
    stores['/a']!.rows = rows;
    list('/b');
    remove();
    list('/b');
    expect(quarantine.holdOf(UID)).toBe('killed');
  });

  it('follows a moved fiber, whose former store may then be gone', () => {
    remove();
    look();
    stores['/b']!.rows.push(row('/b/.fibers/held/held.md', { uid: UID.toLowerCase() }));
    listAll();
    delete stores['/a'];
    list('/b');
    boot();
    expect(quarantine.namedHoldOf(UID)).toMatchObject({ reason: 'killed', store: '/b' });
  });

  it('stays where nothing says in which store the fiber was', () => {
    quarantine.hold(UID, { reason: 'killed', at: 1, launch_id: 'l', store: null });
    remove();
    look();
    listAll();
    expect(quarantine.holdOf(UID)).toBe('killed');
  });
});

describe('the ended run of an absent document', () => {
  const RUN_UID = '01K5A5ZK4T9QK3ZJ8Z8Z8Z8Z9A';
  const run = () => unconcluded.get(RUN_UID);
  beforeEach(() => unconcluded.set(RUN_UID, { key: RUN_UID, store: '/a' } as Run));

  it('is that of a removed one once every store was listed whole after it was first missed', () => {
    look();
    list('/a');
    expect(run()).not.toHaveProperty('document_removed');
    list('/b');
    expect(run()).toHaveProperty('document_removed', true);
  });

  it('is not while a store is silent, or shows it', () => {
    stores['/b']!.listed = null;
    for (let tick = 0; tick < 3; tick += 1) list('/a');
    expect(run()).not.toHaveProperty('document_removed');
    stores['/b']!.rows = [row('/b/.fibers/back/back.md', { uid: RUN_UID })];
    for (let tick = 0; tick < 3; tick += 1) listAll();
    expect(run()).not.toHaveProperty('document_removed');
  });
});
