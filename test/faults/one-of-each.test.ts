import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../fixtures/mux/private-server.ts';
import { Bed, type Daemon } from './bed.ts';
import { type HeldDisk, mountHeldDisk, noHeldDisk } from './held-disk.ts';
import { writeHostileDocuments } from './hostile-documents.ts';

const HEALTHY = 1_000;
const ARMED = 8;
const ON_DEAD_DISK = 6;
const MOST_MEMORY_MIB = 400;

let bed: Bed;
let disk: HeldDisk | null = null;

afterEach(async () => {
  await disk?.remove();
  disk = null;
  await bed.dispose();
});

/** What one bad thing is, how it gets into a store's `.fibers`, and the fiber ids that have to be named with an error. */
const THINGS: { what: string; ids: string[]; put(base: string): void }[] = [
  {
    what: 'nested complex keys',
    ids: ['complex-keys'],
    put: (base) => write(base, 'complex-keys', `---\nx: ${'? '.repeat(700)}x\n---\n`),
  },
  {
    what: 'many aliases',
    ids: ['aliases'],
    put: (base) => write(base, 'aliases', `---\na: &a x\nl: [${Array(18_000).fill('*a').join(', ')}]\n---\n`),
  },
  {
    what: 'endless and blocking files behind links',
    ids: ['pagemap', 'zero', 'kmsg', 'shadow', 'environ'],
    put: (base) => {
      link(base, 'pagemap', '/proc/self/pagemap');
      link(base, 'zero', '/dev/zero');
      link(base, 'kmsg', '/proc/kmsg');
      link(base, 'shadow', '/etc/shadow');
      link(base, 'environ', '/proc/self/environ');
    },
  },
  {
    what: 'a named pipe',
    ids: ['pipe'],
    put: (base) => {
      mkdirSync(join(base, 'pipe'));
      execFileSync('mkfifo', [join(base, 'pipe', 'pipe.md')]);
    },
  },
  {
    what: 'frontmatter over the limit',
    ids: ['fat'],
    put: (base) => write(base, 'fat', `---\nname: fat\noutcome: ${'x'.repeat(300_000)}\n---\n`),
  },
  {
    what: 'every other hostile document',
    ids: ['huge', 'itself', 'nowhere', 'zeros', 'no-end', 'bomb', 'cycle', 'deep', 'deep-block', 'duplicate'],
    put: writeHostileDocuments,
  },
];

function write(base: string, leaf: string, text: string): void {
  mkdirSync(join(base, leaf), { recursive: true });
  writeFileSync(join(base, leaf, `${leaf}.md`), text);
}

function link(base: string, leaf: string, target: string): void {
  mkdirSync(join(base, leaf));
  symlinkSync(target, join(base, leaf, `${leaf}.md`));
}

async function healthyFibers(): Promise<string> {
  bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  const base = join(bed.store.root, '.fibers');
  for (let nth = 0; nth < HEALTHY - ARMED; nth += 1)
    write(base, `n${nth}`, `---\nname: N ${nth}\nstatus: open\n---\nText.\n`);
  for (let nth = 0; nth < ARMED; nth += 1) await bed.fiber(`armed-${nth}`);
  return base;
}

/** Armed fibers whose project folders are on a disk that does not answer; none where no such disk can be made. */
async function fibersOnDeadDisk(): Promise<string[]> {
  if (noHeldDisk !== null) return [];
  disk = await mountHeldDisk(join(bed.root, 'net'));
  await disk.hold();
  const ids = Array.from({ length: ON_DEAD_DISK }, (_, nth) => `dead-${nth}`);
  for (const id of ids) await bed.fiber(id, { project_dir: join(bed.root, 'net', id) });
  return ids;
}

const healthy = (id: string) => /^(n\d+|armed-\d+)$/.test(id);

/** Waits until every healthy fiber is listed, every armed one was started, and every culprit is named. */
async function expectAllServed(daemon: Daemon, dead: readonly string[]): Promise<void> {
  type Row = { id: string; error?: string };
  let rows: Row[] = [];
  const culprits = THINGS.flatMap(({ what, ids }) => ids.map((id) => ({ what, id, path: `${id}/${id}.md` })));
  await until(
    'all healthy fibers listed, and every culprit with its error',
    async () => {
      rows = (await daemon.get<{ fibers: Row[] }>('/fibers')).json.fibers;
      const bad = new Set(rows.filter((row) => row.error !== undefined).map((row) => row.id));
      const good = rows.filter(({ id }) => healthy(id) && !bad.has(id));
      return good.length === HEALTHY && culprits.every(({ id }) => bad.has(id));
    },
    60_000,
  ).catch((error: Error) => {
    const unnamed = culprits.filter(({ id }) => rows.find((row) => row.id === id)?.error === undefined);
    throw new Error(`${error.message}; not named: ${unnamed.map(({ id }) => id).join(', ') || 'none'}`);
  });
  process.stdout.write(`all listed ${Date.now() - daemon.spawned_at} ms after the start of the daemon\n`);
  await daemon.post('/quarantine/release', {});
  await until(
    'all armed fibers started',
    () => new Set(bed.told().flatMap((one) => (one.event === 'start' ? [one.uid] : []))).size === ARMED,
    60_000,
  );
  const { blocked } = await daemon.stateWhen('the fibers on the dead disk refused', (state) =>
    dead.every((id) =>
      state.blocked.some((row) => row.fiber_id === id && row.reason === 'project_dir_unreachable'),
    ),
  );
  expect(blocked.filter((row) => healthy(row.fiber_id))).toEqual([]);
  const said = async (...args: string[]) => {
    const ran = await bed.svc(args);
    return ran.kind === 'exited' ? ran.stdout + ran.stderr : ran.kind;
  };
  const places = {
    'GET /state': JSON.stringify(await daemon.state()),
    'svc daemon status': await said('daemon', 'status'),
    'svc fiber check': await said('fiber', 'check'),
  };
  for (const [place, text] of Object.entries(places))
    expect(
      culprits.filter(({ path }) => !text.includes(path)).map(({ what, id }) => `${what}: ${id}`),
      `not named by ${place}`,
    ).toEqual([]);
}

/** No thread was restarted, and memory stayed within bounds, the highest included. */
async function expectUnharmed(daemon: Daemon): Promise<void> {
  const { json } = await daemon.get<{ pid: number; components: { restarts: number; state: string }[] }>(
    '/version',
  );
  expect(json.components.filter((one) => one.restarts > 0 || one.state !== 'running')).toEqual([]);
  const peak =
    Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) / 1024;
  process.stdout.write(`peak memory ${Math.round(peak)} MiB\n`);
  expect(peak).toBeLessThan(MOST_MEMORY_MIB);
}

describe('a store with one of each hostile thing and a thousand healthy fibers', () => {
  it('[DSP-1] has all healthy fibers listed and started, and every hostile one reported', async () => {
    const base = await healthyFibers();
    for (const thing of THINGS) thing.put(base);
    const dead = await fibersOnDeadDisk();
    const daemon = await bed.daemon().ready(60_000);
    await expectAllServed(daemon, dead);
    await expectUnharmed(daemon);
  });

  it('[DSP-1] has the same if they appear while the daemon runs', async () => {
    const base = await healthyFibers();
    const daemon = await bed.daemon().ready(60_000);
    await daemon.stateWhen('a listing', (state) => state.poll_health.stores[0]?.state === 'ok', 60_000);
    for (const thing of THINGS) thing.put(base);
    const dead = await fibersOnDeadDisk();
    // A document that was healthy turns bad too.
    const turned = join(base, 'n0', 'n0.md');
    writeFileSync(turned, readFileSync(join(base, 'complex-keys', 'complex-keys.md')));
    await daemon.stateWhen('the culprits', (state) => JSON.stringify(state).includes('n0/n0.md'), 60_000);
    writeFileSync(turned, '---\nname: N 0\nstatus: open\n---\nMended.\n');
    await expectAllServed(daemon, dead);
    await expectUnharmed(daemon);
  });
});
