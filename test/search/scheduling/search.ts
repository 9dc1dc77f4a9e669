import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemCode } from '../../../src/base/errors.ts';
import type { FiberRow } from '../../../src/contract/fiber.ts';
import type { Version } from '../../../src/contract/http/version.ts';
import { Bed, type Daemon, HOST } from '../../faults/bed.ts';
import { contradictions } from '../../kit/agreement.ts';
import { launchesOf } from '../../kit/launches.ts';
import { pause, until } from '../../kit/until.ts';
import type { Finding, SearchOptions, SearchReport } from '../contract.ts';
import { replayCommand } from '../searches.ts';
import { inLanes, seededBy, shuffled } from '../seeded-order.ts';

export const name = 'scheduling';

const FIBERS = ['first', 'second', 'third'];
/** Longer than any case takes; what is not done then makes no progress. */
const MOST_MS = 300_000;
const LOOK_EVERY_MS = 300;
const MOST_LOOKS = 20;
const PERIOD_US = 100_000;

/** How threads are kept from running: a part of one processor, or stops of the whole process of at most so many seconds. */
type Scarcity = { percent: number } | { stops_s: number };

/** `mild`: what a busy host does to the daemon at any time. */
const CASES: readonly { id: string; scarcity: Scarcity; mild: boolean }[] = [
  { id: 'quota:60', scarcity: { percent: 60 }, mild: true },
  { id: 'stops:2', scarcity: { stops_s: 2 }, mild: true },
  { id: 'quota:20', scarcity: { percent: 20 }, mild: false },
  { id: 'quota:10', scarcity: { percent: 10 }, mild: false },
  { id: 'quota:5', scarcity: { percent: 5 }, mild: false },
  { id: 'stops:12', scarcity: { stops_s: 12 }, mild: false },
  { id: 'stops:40', scarcity: { stops_s: 40 }, mild: false },
];

/**
 * Runs a real daemon with a few armed fibers whose threads get little of the processor. It has to become ready, to list each
 * fiber and to start it once, and to tell nothing as failed that happened, however long that takes; and it restarts no
 * thread for being slow.
 */
export function search(options: SearchOptions): Promise<SearchReport> {
  return searchIn(CASES, options);
}

/** The same where the processor is scarce only now and then, for a short run. */
export function mildSearch(options: SearchOptions): Promise<SearchReport> {
  return searchIn(
    CASES.filter(({ mild }) => mild),
    options,
  );
}

async function searchIn(all: typeof CASES, options: SearchOptions): Promise<SearchReport> {
  const { seed, only_case, signal, log } = options;
  const findings: Finding[] = [];
  let cases = 0;
  const wanted = all.filter(({ id }) => only_case === undefined || id === only_case);
  if (wanted.length === 0) throw new Error(`there is no case ${only_case}`);
  const goesOn = () => Date.now() < options.until_ms && !signal.aborted;
  await inLanes(shuffled(wanted, seed), 1, goesOn, async ({ id, scarcity, mild }) => {
    if ('percent' in scarcity && quotaFolder() === null) return log(`${id}: no quota can be set here`);
    const problems = await problemsUnder(scarcity, `${seed}:${id}`, mild).catch((error: unknown) => [
      `the case broke off: ${error instanceof Error ? error.message : String(error)}`,
    ]);
    cases += 1;
    log(`${id}: ${problems.length} problems`);
    for (const problem of problems) {
      const title = `${id}: ${problem}`;
      log(title);
      findings.push({ title, replay: replayCommand(name, seed, id) });
    }
  });
  return { cases, findings };
}

async function problemsUnder(scarcity: Scarcity, seed: string, mild: boolean): Promise<string[]> {
  const bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  const quota = 'percent' in scarcity ? setQuota(scarcity.percent, basename(bed.root)) : null;
  const stop = new AbortController();
  try {
    for (const slug of FIBERS) await bed.fiber(slug);
    // Each agent closes its fiber, so that it has one turn.
    writeFileSync(`${bed.witness}.finish`, '');
    const daemon = bed.daemon({}, quota?.wrap ?? [], []);
    const stops = 'stops_s' in scarcity ? stopNowAndThen(daemon, scarcity.stops_s, seed, stop.signal) : null;
    await daemon.ready(MOST_MS);
    await patiently(daemon, () => daemon.post('/quarantine/release', {}, MOST_MS));
    const closed = await allClosed(bed, daemon);
    stop.abort();
    await stops;
    const problems = await problemsTold(bed, daemon, mild);
    await daemon.kill('SIGTERM');
    return closed ? problems : ['a fiber had no turn', ...problems];
  } finally {
    stop.abort();
    quota?.lift();
    await bed.dispose();
    await quota?.remove();
  }
}

/** An answer that does not come in time is not known, and no fault: it is asked for again. */
async function patiently<T>(daemon: Daemon, ask: () => Promise<T>): Promise<T> {
  const end = Date.now() + MOST_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!daemon.alive || Date.now() > end) throw error;
      await pause(LOOK_EVERY_MS);
    }
  }
}

async function allClosed(bed: Bed, daemon: Daemon): Promise<boolean> {
  const end = Date.now() + MOST_MS;
  const isOpen = (slug: string) => bed.store.read(slug).status !== 'closed';
  while (daemon.alive && Date.now() < end) {
    if (!FIBERS.some(isOpen)) return true;
    await pause(LOOK_EVERY_MS);
  }
  return false;
}

async function problemsTold(bed: Bed, daemon: Daemon, mild: boolean): Promise<string[]> {
  if (!daemon.alive) return [`the daemon ended: ${bed.log().slice(-500)}`];
  const problems: string[] = [];
  const { rows, state, said } = await readsThatAgree(daemon);
  const starts = bed.told().filter(({ event }) => event === 'start');
  for (const slug of FIBERS) {
    const { uid } = rows.find(({ id }) => id === slug)!;
    const started = starts.filter((one) => one.uid === uid).length;
    if (started > 1) problems.push(`${slug} was started ${started} times`);
    const launches = launchesOf(join(bed.root, 'data'), slug).length;
    if (launches > 1) problems.push(`${slug} has ${launches} launches`);
    const failed = [...state.blocked, ...state.deaths].find(({ fiber_id }) => fiber_id === slug);
    if (failed !== undefined) problems.push(`${slug} ran and is told as failed: ${JSON.stringify(failed)}`);
  }
  problems.push(...said);
  if (mild) return problems;
  const { components } = (await patiently(daemon, () => daemon.get<Version>('/version', MOST_MS))).json;
  for (const { name: component, restarts } of components)
    if (restarts > 0) problems.push(`the ${component} was restarted ${restarts} times for being slow`);
  return problems;
}

/** Two reads are of two moments, and workers end between them: a contradiction is what stays. */
async function readsThatAgree(daemon: Daemon) {
  for (let looks = 0; ; looks += 1) {
    const { fibers: rows } = await patiently(daemon, async () => {
      const { json } = await daemon.get<{ fibers: FiberRow[] }>('/fibers', MOST_MS);
      if (FIBERS.some((slug) => json.fibers.find(({ id }) => id === slug)?.status !== 'closed'))
        throw new Error('a fiber that was closed is not listed as closed');
      return json;
    });
    const state = await patiently(daemon, () => daemon.state());
    const said = contradictions({ host: HOST, state, rows, whys: [], sessions: null });
    if (said.length === 0 || looks === MOST_LOOKS) return { rows, state, said };
    await pause(LOOK_EVERY_MS);
  }
}

/** Stops the process and lets it go on, by the seed, until `signal`. */
async function stopNowAndThen(
  daemon: Daemon,
  most_s: number,
  seed: string,
  signal: AbortSignal,
): Promise<void> {
  const random = seededBy(seed);
  while (!signal.aborted && daemon.alive) {
    await pause(random.whole(200, 3_000));
    daemon.child.kill('SIGSTOP');
    const end = Date.now() + random.whole(most_s * 500, most_s * 1_000);
    while (!signal.aborted && Date.now() < end) await pause(50);
    daemon.child.kill('SIGCONT');
  }
}

/** Where a group with a quota can be made: cgroup v1, or v2 with the controller `cpu`; null where neither can. */
function quotaFolder(): { folder: string; version: 1 | 2 } | null {
  const places = [
    { folder: '/sys/fs/cgroup/cpu', version: 1, file: 'cpu.cfs_quota_us' },
    { folder: '/sys/fs/cgroup', version: 2, file: 'cgroup.subtree_control' },
  ] as const;
  for (const { folder, version, file } of places) {
    try {
      const text = readFileSync(join(folder, version === 1 ? 'tasks' : file), 'utf8');
      if (version === 2 && !/\bcpu\b/.test(text)) continue;
      const probe = join(folder, `svc-search-probe-${process.pid}`);
      mkdirSync(probe);
      rmdirSync(probe);
      return { folder, version };
    } catch {}
  }
  return null;
}

/** A group of processes that get this part of one processor together; `wrap` runs a program in it. */
function setQuota(percent: number, id: string) {
  const { folder, version } = quotaFolder()!;
  const group = join(folder, `svc-search-${id}`);
  mkdirSync(group);
  const limit = (us: number | null) =>
    version === 1
      ? writeFileSync(join(group, 'cpu.cfs_quota_us'), String(us ?? -1))
      : writeFileSync(join(group, 'cpu.max'), `${us ?? 'max'} ${PERIOD_US}`);
  limit((percent * PERIOD_US) / 100);
  return {
    wrap: ['/bin/sh', '-c', 'echo $$ > "$0" && exec "$@"', join(group, 'cgroup.procs')],
    /** What is ended needs the processor for that. */
    lift: () => limit(null),
    /** Processes that have ended stay in it until somebody has asked how. */
    remove: () =>
      until('the end of all that ran in the group', () => {
        try {
          rmdirSync(group);
          return true;
        } catch (error) {
          if (systemCode(error) !== 'EBUSY') throw error;
          return false;
        }
      }),
  };
}
