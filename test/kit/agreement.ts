import type { FiberRow, RunView } from '../../src/contract/fiber.ts';
import type { PollerState } from '../../src/contract/http/state.ts';
import type { Why } from '../../src/contract/http/why.ts';
import type { SessionLine } from '../../src/contract/ledger.ts';
import { fiberLife } from '../../src/ledgers/fiber-life.ts';

/** What one daemon answered at one moment: `GET /state`, `/fibers`, `/why` for some fibers, and `/sessions`. */
export type Reads = {
  host: string;
  state: Pick<
    PollerState,
    'running' | 'blocked' | 'deaths' | 'pending_launch' | 'standing_roles' | 'workers' | 'incidents'
  >;
  rows: readonly FiberRow[];
  whys: readonly Why[];
  /** Null where the ledger may lack lines, since it could not be written. */
  sessions: readonly SessionLine[] | null;
};

/** Where two of these reads say different things, as sentences. */
export function contradictions(reads: Reads): string[] {
  const { state, rows, whys } = reads;
  // A document that cannot be read has no uid, and its worker goes on.
  const of = <T extends { uid: string | null; fiber_id: string }>(all: readonly T[], row: FiberRow) =>
    all.find((one) => (row.uid === null ? one.fiber_id === row.id : one.uid === row.uid));
  const found: string[] = [];
  const compare = comparedIn(found);
  for (const row of rows) {
    // Two documents of one uid are one fiber too many, and told apart by nothing.
    if (rows.filter(({ uid }) => uid === row.uid).length > 1) continue;
    const run = of(state.running, row);
    compare(`the worker of ${row.id} in /fibers and /state`, row.runtime, run && runOf(run));
    if (run !== undefined) compare(`the id of ${row.id} in /fibers and /state`, row.id, run.fiber_id);
    compare(`the refusal of ${row.id} in /fibers and /state`, row.blocked, unnamed(of(state.blocked, row)));
    compare(`the death of ${row.id} in /fibers and /state`, row.last_death, unnamed(of(state.deaths, row)));
    compare(`the hold of ${row.id} in /fibers and /state`, row.held, of(state.pending_launch, row)?.reason);
    const role = of(state.standing_roles, row);
    if (role !== undefined)
      compare(`when ${row.id} is due in /fibers and /state`, row.next_due_at ?? null, role.next_due_at);
    for (const incident of state.incidents)
      for (const fiber of incident.fibers)
        if (fiber.uid === row.uid) compare(`the id of ${row.id} in an incident`, row.id, fiber.fiber_id);
    found.push(...lifeContradictions(row, reads));
    const why = of(whys, row);
    if (why === undefined) continue;
    compare(`the worker of ${row.id} in /fibers and /why`, row.runtime, why.runtime);
    compare(`the refusal of ${row.id} in /fibers and /why`, row.blocked, why.blocked);
    compare(`the death of ${row.id} in /fibers and /why`, row.last_death, why.last_death);
    if (row.runtime !== undefined) compare(`whether ${row.id} runs`, why.verdict, 'running');
    if (row.status === 'active' && why.verdict !== 'running' && row.svc?.host === reads.host)
      compare(`the gate of ${row.id} in /fibers and /why`, row.gate, why.first?.gate);
  }
  if (state.workers.count < state.running.length)
    found.push(`${state.running.length} workers run, and they are counted as ${state.workers.count}`);
  return found;
}

/** What the ledger says of the newest run of a fiber, beside what its row says. */
function lifeContradictions(row: FiberRow, { sessions }: Reads): string[] {
  const { uid, runtime, last_death } = row;
  if (uid === null || sessions === null) return [];
  const runs = fiberLife(uid, {
    sessions: sessions.filter((line) => line.uid === uid),
    fiberOf: () => null,
    messages: [],
    prompts: [],
    commits: [],
    sent: [],
    closing: null,
  });
  const began = runs.findLast((entry) => 'run_id' in entry);
  const ended = runs.findLast(({ kind }) => kind === 'ended' || kind === 'handoff');
  const found: string[] = [];
  // Before that it is not known yet whether there is to be such a run.
  const is_known = runtime !== undefined && (runtime.state === 'running' || runtime.state === 'starting');
  if (is_known && began !== undefined && 'run_id' in began && began.run_id !== runtime.run_id)
    found.push(`${row.id} runs as ${runtime.run_id}, and its life tells of ${began.run_id} last`);
  if (is_known && began === undefined)
    found.push(`${row.id} runs as ${runtime.run_id}, and its life tells of no run`);
  if (last_death !== undefined && ended?.kind !== 'ended')
    found.push(`${row.id} died by ${last_death.reason}, and its life ends with ${ended?.kind ?? 'nothing'}`);
  if (last_death !== undefined && ended?.kind === 'ended' && ended.detail !== last_death.message)
    found.push(`${row.id} died by ${last_death.message}, and its life says ${ended.detail ?? ended.reason}`);
  // The loss of a server or a machine is no fault of the fiber, and over once its next worker runs.
  const is_lost = ended?.kind === 'ended' && (ended.reason === 'server_lost' || ended.reason === 'reboot');
  // The ledger tells of a start that is only claimed once it has come about.
  const has_next =
    runtime?.state === 'claimed' ||
    (began !== undefined && ended !== undefined && runs.indexOf(began) > runs.indexOf(ended));
  const is_over = is_lost && has_next;
  if (
    last_death === undefined &&
    row.tempered === undefined &&
    ended?.kind === 'ended' &&
    ended.mend &&
    !is_over
  )
    found.push(`${row.id} has not died, and its life says ${ended.detail ?? ended.reason}`);
  return found;
}

/** Compares two values as JSON; a difference becomes a sentence of `found`. */
export function comparedIn(found: string[]): (what: string, one: unknown, other: unknown) => void {
  return (what, one, other) => {
    const texts = [one, other].map(canonical);
    if (texts[0] !== texts[1]) found.push(`${what}: ${texts[0]} and ${texts[1]}`);
  };
}

/** A run without what says whose it is. */
function runOf({ fiber_id: _, uid: __, store: ___, ...run }: PollerState['running'][number]): RunView {
  return run;
}

function unnamed<T extends object>(view: T | undefined): object | undefined {
  if (view === undefined) return undefined;
  const { fiber_id: _, uid: __, store: ___, ...rest } = view as Record<string, unknown>;
  return rest;
}

/** JSON with its keys in order, so that equal answers have equal texts. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, one) =>
      typeof one === 'object' && one !== null && !Array.isArray(one)
        ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
        : one,
    ) ?? 'nothing'
  );
}
