import { readFileSync, statSync } from 'node:fs';
import { expect } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import type { LifeEntry } from '../../src/contract/http/life.ts';
import type { State } from '../../src/contract/http/state.ts';
import type { Why } from '../../src/contract/http/why.ts';
import { comparedIn, contradictions } from '../kit/agreement.ts';
import { type Printed, pageContradictions } from './pages.ts';
import { phaseContradictions } from './phase-truth.ts';
import { isAlive } from './processes.ts';
import { type RealDaemon, WITHIN_MS } from './real-daemon.ts';
import { type Frontmatter, readTruth, type Truth } from './truth.ts';

/** Waits until no read of the API contradicts another one, tmux, the processes, the documents or the transcripts. */
export const agree = (one: RealDaemon) =>
  expect.poll(() => apiContradictions(one).catch(String), { timeout: WITHIN_MS }).toEqual([]);

/** `agree`, and the same of all that the commands `status`, `why` and `log` print, as JSON and line by line. */
export async function agreeWithPages(one: RealDaemon): Promise<void> {
  await agree(one);
  await expect
    .poll(() => printedContradictions(one).catch(String), { timeout: WITHIN_MS, interval: 500 })
    .toEqual([]);
}

async function apiContradictions(one: RealDaemon): Promise<string[]> {
  const read = async (path: string): Promise<unknown> => (await one.get(path)).json();
  const state = await one.state();
  const { fibers } = (await read('/fibers')) as { fibers: FiberRow[] };
  const served = fibers.filter(({ svc }) => svc !== undefined);
  const whys = (await Promise.all(served.map(({ id }) => read(`/why?fiber=${id}`)))) as Why[];
  const found = contradictions({ host: 'test-host', state, rows: fibers, whys, sessions: one.ledger() });
  return [...found, ...(await againstTheMachine(one, state, fibers))];
}

/** Where the state and the rows contradict tmux, the processes, the documents or the transcripts. */
async function againstTheMachine(
  one: RealDaemon,
  state: State,
  rows: readonly FiberRow[],
): Promise<string[]> {
  const truth = await readTruth(one);
  const found: string[] = [];
  const compare = comparedIn(found);
  const workers = [...truth.panes.keys()].filter((name) => name.endsWith('-svc')).sort();
  const told = state.running.flatMap(({ mux_session }) => mux_session ?? []);
  compare('the workers of tmux and of /state', workers, told.filter((name) => name.endsWith('-svc')).sort());
  for (const name of told) if (!truth.panes.has(name)) found.push(`${name} is shown to run, not in tmux`);
  for (const run of state.running) {
    const launch = truth.launches.find(({ run_id }) => run_id === run.run_id);
    if (launch === undefined) found.push(`${run.fiber_id} runs without a run directory`);
    else if (launch.claim !== 'person' && !isAlive(one.agentPid(launch)))
      found.push(`${run.fiber_id} is shown to run, and its process does not`);
    if (run.session_uuid === null || run.state !== 'running') continue;
    const path = await one.transcriptPathOf(run.session_uuid);
    const written = Math.floor(statSync(path).mtimeMs);
    if (run.last_activity_at !== null && run.last_activity_at > written)
      found.push(`${run.fiber_id} was active at ${run.last_activity_at}, and its transcript at ${written}`);
    if (launch?.claim === undefined && !readFileSync(path, 'utf8').includes(run.run_id))
      found.push(`the transcript of ${run.fiber_id} does not name its run`);
    const row = rows.find(({ uid }) => uid === run.uid);
    if (launch !== undefined && row !== undefined) found.push(...phaseContradictions(row, launch));
  }
  compare('the documents', [...truth.documents.keys()].sort(), rows.map(({ path }) => path).sort());
  for (const row of rows) found.push(...documentContradictions(row, truth.documents.get(row.path)));
  return found;
}

function documentContradictions(row: FiberRow, written: Frontmatter | undefined): string[] {
  if (written === undefined) return [];
  const found: string[] = [];
  const compare = comparedIn(found);
  compare(`the uid of ${row.id}`, row.uid, written.id ?? null);
  compare(`the name of ${row.id}`, row.name, written.name);
  compare(`the status of ${row.id}`, row.status, written.status);
  compare(`the verdict on ${row.id}`, row.tempered, written.tempered);
  compare(`the outcome of ${row.id}`, row.outcome, written.outcome);
  compare(`the service of ${row.id}`, row.svc, written.svc);
  return found;
}

/** What each command prints as JSON is what the API answers, and agrees with the machine; then each line. */
async function printedContradictions(one: RealDaemon): Promise<string[]> {
  const json = async <T>(...args: string[]) => JSON.parse(await one.svc(...args, '--json')) as T;
  const { state } = await json<{ state: State }>('status');
  const ids = ((await (await one.get('/fibers')).json()) as { fibers: FiberRow[] }).fibers
    .filter(({ svc }) => svc !== undefined)
    .map(({ id }) => id);
  const fibers = await Promise.all(
    ids.map(async (id) => {
      const [row, why, life] = await Promise.all([
        json<FiberRow>('status', id),
        json<Why>('why', id, '--no-look'),
        json<Pick<Printed['fibers'][number], 'entries' | 'spend'>>('log', id),
      ]);
      return { row, why, entries: life.entries, spend: life.spend };
    }),
  );
  const printed = { state, fibers };
  const rows = fibers.map(({ row: { body: _, ...row } }) => row);
  const whys = fibers.map(({ why }) => why);
  const found = contradictions({ host: 'test-host', state, rows, whys, sessions: one.ledger() });
  const truth = await readTruth(one);
  for (const { row, entries, spend } of fibers) {
    found.push(...documentContradictions(row, truth.documents.get(row.path)));
    found.push(...(await lifeContradictions(one, row, entries, truth)));
    for (const { session, unknown } of spend?.sessions ?? [])
      if (unknown !== 'transcript_missing') await one.transcriptPathOf(session);
  }
  return [...found, ...(await pageContradictions(one, printed, truth))];
}

/** Entries that tell whether the document is closed. */
const CHANGES: ReadonlySet<string> = new Set(['closed', 'reopened', 'accepted', 'composted']);

/** What the log of a fiber tells of its runs, beside their run directories and transcripts. */
async function lifeContradictions(
  one: RealDaemon,
  row: FiberRow,
  entries: readonly LifeEntry[],
  { launches, documents }: Truth,
): Promise<string[]> {
  const found: string[] = [];
  const compare = comparedIn(found);
  const own = launches.filter(({ uid }) => uid === row.uid);
  const begun = entries.flatMap((entry) => ('run_id' in entry ? [entry] : []));
  compare(
    `the runs of ${row.id} in its log and on disk`,
    begun.map(({ run_id, kind }) => [run_id, kind === 'resume']),
    own.map(({ run_id, resume }) => [run_id, resume !== undefined]),
  );
  for (const { session, run_id, mux_session } of begun) {
    const launch = own.find((each) => each.run_id === run_id);
    compare(`the session of run ${run_id}`, mux_session, launch?.mux_session);
    if (session !== null && launch?.confirmed === true) await one.transcriptPathOf(session);
  }
  const ended = entries.filter(({ kind }) => kind === 'ended' || kind === 'handoff');
  const over = own.filter(({ state }) => state === 'ended');
  compare(
    `the ends of ${row.id} in its log and on disk`,
    ended.map((entry) => (entry.kind === 'ended' ? entry.reason : 'handoff')),
    over.map(({ end_reason }) => end_reason),
  );
  for (const [index, entry] of entries.entries())
    if (index > 0 && entry.at < entries[index - 1]!.at) found.push(`the log of ${row.id} goes back in time`);
  const is_closed = documents.get(row.path)?.status === 'closed';
  const changed = entries.findLast(({ kind }) => CHANGES.has(kind))?.kind ?? 'reopened';
  // The acceptance of a role arms it again.
  const opens = changed === 'reopened' || (changed === 'accepted' && row.svc?.kind === 'standing');
  compare(`the closing of ${row.id}`, !opens, is_closed);
  return found;
}
