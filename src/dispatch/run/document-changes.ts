import { readAskedBy } from '../../contract/asked-by.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { DOCUMENT_CHANGES, SessionLine } from '../../contract/ledger.ts';
import type { World } from '../world/world.ts';
import type { Run } from './run.ts';
import { viewRun } from './runs.ts';

type DocumentChange = (typeof DOCUMENT_CHANGES)[number];

/**
 * What became of a fiber between two states of its document; null where its verdict is the same. A role that awaited
 * review and is armed or parked with a new handoff was accepted (LIF-6).
 */
export function changeBetween(before: FiberDocument, after: FiberDocument): DocumentChange | null {
  if (before.error !== undefined || after.error !== undefined) return null;
  if (after.status === 'closed') {
    if (before.status === 'closed' && before.tempered === after.tempered) return null;
    return after.tempered === undefined ? 'closed' : after.tempered ? 'accepted' : 'composted';
  }
  if (before.status !== 'closed') return null;
  const is_role = after.svc?.kind === 'standing' || after.svc?.kind === 'pinned';
  const served = after.svc?.runtime?.handed_off_at !== before.svc?.runtime?.handed_off_at;
  return is_role && served && before.tempered === undefined ? 'accepted' : 'reopened';
}

/**
 * Writes such a change of a service of this host into the ledger. `written_by` is who asked for a write of this daemon, or
 * `daemon`; null where somebody else wrote the document: its worker if that is in a turn, and otherwise nobody knows who.
 */
export function recordChange(
  world: Pick<World, 'clock' | 'host' | 'recordSession'>,
  change: { before: FiberDocument; after: FiberDocument; run: Run | undefined; written_by: string | null },
): void {
  const { before, after, run, written_by } = change;
  const kind = changeBetween(before, after);
  if (kind === null || after.uid === null || after.svc?.host !== world.host) return;
  const now = world.clock.now();
  const who = whoOf(run, written_by, now);
  world.recordSession({
    ...{ fiber: after.id, uid: after.uid, session: null, thread_id: null, mux: null, host: world.host },
    harness: run?.harness ?? after.svc.runtime?.harness ?? 'none',
    ...(who.by === 'agent' && run !== undefined ? { agent: run.agent } : {}),
    ...{ kind, at: timeOf(kind === 'closed' ? after.closed_at : after.updated_at, before, now), ...who },
  });
}

function whoOf(
  run: Run | undefined,
  written_by: string | null,
  now: number,
): Pick<SessionLine, 'by' | 'from'> {
  if (written_by === 'daemon') return { by: 'daemon' };
  if (written_by !== null) return readAskedBy(written_by);
  const { state, phase } = run === undefined ? { state: null, phase: null } : viewRun(run, now);
  return { by: state === 'running' && phase !== 'idle' && phase !== 'waiting' ? 'agent' : 'document' };
}

/** The time that the document states for its change; now where it states none, or one that cannot be right. */
function timeOf(stated: string | undefined, before: FiberDocument, now: number): number {
  const at = Date.parse(stated ?? '');
  const is_new = before.updated_at === undefined || at > Date.parse(before.updated_at);
  return at <= now && is_new ? at : now;
}
