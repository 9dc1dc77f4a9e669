import { z } from 'zod';
import type { FiberRow } from '../../../contract/fiber.ts';
import type { Activity } from '../../../contract/http/activity.ts';
import type { SentFilesRow } from '../../../contract/http/sent-files.ts';
import type { CommitLedgerLine, SessionLine } from '../../../contract/ledger.ts';
import { createFiberFinder } from '../../../ledgers/session-fibers.ts';

const session = z.string().nullable();

/**
 * Something that happened to a fiber; `at` in milliseconds. `session` of a `dispatch` stands for the conversation it
 * began or, of a `resume`, went on with. Prompts are counted by minute, the oldest by hour or day.
 */
export const lifeEntrySchema = z.union([
  z.object({
    at: z.number(),
    kind: z.enum(['dispatch', 'resume', 'claim', 'capture', 'adopt']),
    session,
    harness: z.string(),
    agent: z.string().nullable(),
    mux_session: z.string().nullable(),
    run_id: z.string().nullable(),
  }),
  /** The worker went on in another conversation, as after `/clear`. */
  z.object({ at: z.number(), kind: z.literal('session'), session }),
  z.object({ at: z.number(), kind: z.literal('handoff'), session }),
  /** A run that was over without a handoff. */
  z.object({
    at: z.number(),
    kind: z.literal('ended'),
    session,
    reason: z.string(),
    /** One sentence on it, where the reason alone does not say all. */
    detail: z.string().optional(),
  }),
  z.object({ at: z.number(), kind: z.literal('prompts'), session, count: z.number().int() }),
  z.object({
    at: z.number(),
    kind: z.literal('commit'),
    session,
    sha: z.string(),
    subject: z.string(),
    repo: z.string(),
    files: z.number().int(),
    insertions: z.number().int(),
    deletions: z.number().int(),
  }),
  z.object({ at: z.number(), kind: z.literal('sent'), session, files: z.array(z.string()) }),
]);
export type LifeEntry = z.infer<typeof lifeEntrySchema>;

/** What the ledgers of a host say; `sessions`, `commits` and `sent_files` oldest first. */
export type Told = {
  sessions: readonly SessionLine[];
  buckets: Activity['buckets'];
  commits: readonly CommitLedgerLine[];
  sent_files: readonly SentFilesRow[];
};

const MINUTE_MS = 60_000;

/** Everything that happened to one fiber, oldest first; `sessions` are those of all fibers. */
export function fiberLife(fiber: Pick<FiberRow, 'uid' | 'svc'>, told: Told): LifeEntry[] {
  const { uid } = fiber;
  const fiberOf = createFiberFinder(told.sessions);
  const isOwn = (doing: { session: string | null; mux: string | null; at: number }) =>
    uid !== null && fiberOf(doing)?.uid === uid;
  const runs = runEntries(told.sessions.filter((line) => uid !== null && line.uid === uid));
  const entries: LifeEntry[] = [...runs, ...lastHandoff(fiber, runs)];
  for (const { m, s, k, n } of told.buckets) {
    const end = m + MINUTE_MS - 1;
    // Of a minute in which the session went over to another fiber, all goes to that one.
    const line = k === 'attention' ? fiberOf({ session: s, mux: null, at: end }) : null;
    if (line === null || line.uid !== uid) continue;
    const at = line.at > end ? m : Math.max(m, line.at);
    entries.push({ at, kind: 'prompts', session: s, count: n });
  }
  for (const commit of told.commits) {
    const { at, session, sha, subject, repo, files, insertions, deletions } = commit;
    if (isOwn(commit))
      entries.push({ at, kind: 'commit', session, sha, subject, repo, files, insertions, deletions });
  }
  for (const { at, session, files } of told.sent_files) entries.push({ at, kind: 'sent', session, files });
  return joinFolders(entries).sort((a, b) => a.at - b.at);
}

function runEntries(lines: readonly SessionLine[]): LifeEntry[] {
  const entries: LifeEntry[] = [];
  const begun = new Map<string, Extract<LifeEntry, { run_id: unknown }>>();
  const ended = new Set<string>();
  for (const line of lines) {
    const { at, kind, session, run_id } = line;
    if (kind === 'ended') {
      // A daemon that was killed while it settled an end has told it twice.
      if (run_id !== undefined && ended.has(run_id)) continue;
      if (run_id !== undefined) ended.add(run_id);
      const reason = line.reason ?? 'unknown';
      const more = line.detail === undefined ? {} : { detail: line.detail };
      entries.push(
        reason === 'handoff' ? { at, kind: 'handoff', session } : { at, kind, session, reason, ...more },
      );
      continue;
    }
    const known = run_id === undefined ? undefined : begun.get(run_id);
    if (kind === 'learned') {
      if (known !== undefined && known.session === null) known.session = session;
      else if (known?.session !== session) entries.push({ at, kind: 'session', session });
      continue;
    }
    const entry = {
      at,
      kind: kind === 'dispatch' && line.resumed === true ? ('resume' as const) : kind,
      session,
      harness: line.harness,
      agent: line.agent ?? null,
      mux_session: line.mux,
      run_id: run_id ?? null,
    };
    // A launch that was cut short is told again by the daemon that finds it.
    if (known !== undefined && known.kind === entry.kind) continue;
    if (run_id !== undefined) begun.set(run_id, entry);
    entries.push(entry);
  }
  return entries;
}

/** The handoff that the document bears, where no run of this host ended by it. */
function lastHandoff({ svc }: Pick<FiberRow, 'svc'>, runs: readonly LifeEntry[]): LifeEntry[] {
  const at = Date.parse(svc?.runtime?.handed_off_at ?? '');
  const isTold = runs.some((run) => run.kind === 'handoff' && Math.abs(run.at - at) < MINUTE_MS);
  if (Number.isNaN(at) || isTold) return [];
  return [{ at, kind: 'handoff', session: svc?.runtime?.session_uuid ?? null }];
}

/** Buckets differ by folder too, which counts for nothing here. */
function joinFolders(entries: LifeEntry[]): LifeEntry[] {
  const counted = new Map<string, Extract<LifeEntry, { kind: 'prompts' }>>();
  return entries.filter((entry) => {
    if (entry.kind !== 'prompts') return true;
    const key = `${entry.at} ${entry.session}`;
    const before = counted.get(key);
    if (before === undefined) counted.set(key, entry);
    else before.count += entry.count;
    return before === undefined;
  });
}
