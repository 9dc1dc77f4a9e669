import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FiberRow } from '../../../src/contract/fiber.ts';
import type { State } from '../../../src/contract/http/state.ts';
import { Bed, type Daemon } from '../../faults/bed.ts';
import { traced } from '../../kit/strace.ts';
import { pause } from '../../kit/until.ts';
import type { Trial } from './trial.ts';

const HEALTHY = ['healthy-1', 'healthy-2', 'healthy-3'];
const VICTIM = 'victim';
/** Milliseconds in which healthy fibers have their turn, and in which everything is well after the fault. */
const HEALTHY_MS = 40_000;
/** A start under a tracer, on a busy machine. */
const START_MS = 120_000;
const LOOK_EVERY_MS = 200;

/** Whose files the calls fail on: those of one fiber, or what all fibers share. */
type Place = { name: string; shared: boolean; path(bed: Bed): string };

const PLACES: readonly Place[] = [
  { name: 'document', shared: false, path: (bed) => documentOf(bed) },
  { name: 'folder', shared: false, path: (bed) => dirname(documentOf(bed)) },
  { name: 'store', shared: true, path: (bed) => join(bed.store.root, '.fibers') },
  { name: 'runs', shared: true, path: (bed) => join(bed.root, 'data/runs') },
  { name: 'sessions', shared: true, path: (bed) => join(bed.root, 'data/sessions.jsonl') },
];

const CALLS: readonly (readonly [call: string, fault: string])[] = [
  ['openat', 'EIO'],
  ['openat', 'EACCES'],
  ['openat', 'EMFILE'],
  ['statx', 'EIO'],
  ['statx', 'EACCES'],
  ['read', 'EIO'],
  ['getdents64', 'EIO'],
  ['fsync', 'EIO'],
  ['rename', 'EIO'],
  ['rename', 'ENOSPC'],
  ['mkdir', 'ENOSPC'],
  ['write', 'ENOSPC'],
];

/** How often the call fails: for ever, or only the first times. */
const TIMES: readonly (readonly [name: string, when: string])[] = [
  ['always', '1+'],
  ['at-first', '1..3'],
];

/** A real daemon with a few armed fibers, of whose system calls on one path some fail. */
export function daemonTrials(): Trial[] {
  return PLACES.flatMap((place) =>
    CALLS.flatMap(([call, fault]) =>
      // What all share and never fixes starts nothing, and need not.
      TIMES.filter(([times]) => !place.shared || times !== 'always').map(([times, when]): Trial => {
        const inject = `--inject=${call}:error=${fault}:when=${when}`;
        return {
          id: `daemon:${place.name}:${call}:${fault}:${times}`,
          what: `${call} on the ${place.name} fails ${times} with ${fault}`,
          changes: true,
          run: () => tryDaemon(place, call, inject),
        };
      }),
    ),
  );
}

async function tryDaemon(
  place: Place,
  call: string,
  inject: string,
): Promise<{ hit: boolean; problems: string[] }> {
  const bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' } });
  try {
    for (const slug of [VICTIM, ...HEALTHY]) await bed.fiber(slug);
    // Each agent closes its fiber, so that it has one turn.
    writeFileSync(`${bed.witness}.finish`, '');
    const calls = join(bed.root, 'trace');
    const trace = traced(call, calls);
    // The tracer is no parent of the daemon, so that a signal reaches the daemon itself.
    const wrap = [...trace, '-D', '--seccomp-bpf', '-P', place.path(bed), inject];
    const daemon = await bed.daemon({}, wrap, []).ready(START_MS);
    await daemon.post('/quarantine/release', {});
    const problems = await problemsWith(daemon, bed, place);
    await daemon.kill('SIGTERM');
    return { hit: readFileSync(calls, 'utf8').includes('(INJECTED)'), problems };
  } finally {
    await bed.dispose();
  }
}

async function problemsWith(daemon: Daemon, bed: Bed, place: Place): Promise<string[]> {
  const slugs = place.shared ? [VICTIM, ...HEALTHY] : HEALTHY;
  const end = Date.now() + HEALTHY_MS;
  let waiting = slugs;
  while (waiting.length > 0 && Date.now() < end && daemon.alive) {
    await pause(LOOK_EVERY_MS);
    waiting = waiting.filter((slug) => bed.store.read(slug).status !== 'closed');
  }
  if (!daemon.alive) return [`the daemon ended: ${bed.log().slice(-500)}`];
  const problems: string[] = [];
  const state = await daemon.state();
  const { fibers } = (await daemon.get<{ fibers: FiberRow[] }>('/fibers')).json;
  for (const slug of waiting) {
    const told = toldOf(slug, state, fibers);
    if (!place.shared)
      problems.push(`the healthy ${slug} did not have its turn: ${told ?? 'nothing says why'}`);
    else if (told === null)
      problems.push(`${slug} did not have its turn after the fault, and nothing says why`);
  }
  for (const slug of HEALTHY)
    if (!fibers.some((row) => row.id === slug)) problems.push(`the healthy ${slug} is not listed`);
  if (!place.shared && !(await isServedOrTold(daemon, bed, end)))
    problems.push('the fiber whose file fails did not have its turn, and nothing says why');
  const overlap = bed.told().find(({ event }) => event === 'overlap');
  if (overlap !== undefined) problems.push(`two workers at once for ${overlap.uid}`);
  const { components } = (await daemon.get<{ components: { name: string; restarts: number }[] }>('/version'))
    .json;
  for (const { name, restarts } of components)
    if (restarts > 0) problems.push(`the ${name} was restarted ${restarts} times`);
  return problems;
}

/** Whether the fiber whose file fails has its turn too, or something says why not; its fault may just have passed. */
async function isServedOrTold(daemon: Daemon, bed: Bed, end: number): Promise<boolean> {
  for (;;) {
    if (bed.store.read(VICTIM).status === 'closed') return true;
    const { fibers } = (await daemon.get<{ fibers: FiberRow[] }>('/fibers')).json;
    if (toldOf(VICTIM, await daemon.state(), fibers) !== null) return true;
    if (Date.now() >= end) return false;
    await pause(LOOK_EVERY_MS);
  }
}

/** What the daemon tells a person of a fiber that is not taken up; null for nothing. */
function toldOf(slug: string, state: State, fibers: readonly FiberRow[]): string | null {
  const blocked = state.blocked.find(({ fiber_id }) => fiber_id === slug);
  if (blocked !== undefined) return JSON.stringify(blocked);
  if (state.running.some(({ fiber_id }) => fiber_id === slug)) return 'it runs';
  const pending = state.pending_launch.find(({ fiber_id }) => fiber_id === slug);
  if (pending !== undefined) return pending.reason;
  const row = fibers.find(({ id }) => id === slug);
  if (row?.error !== undefined) return row.error;
  return state.poll_health.stores.find(({ error }) => error !== null)?.error ?? null;
}

function documentOf(bed: Bed): string {
  return join(bed.store.root, '.fibers', VICTIM, `${VICTIM}.md`);
}
