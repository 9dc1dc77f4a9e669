import type { z } from 'zod';
import { fiberRowSchema, type RunView } from '../../../contract/fiber.ts';
import { STOPS_A_WORKER } from '../../../contract/worker-stops.ts';

/** What the page needs of a row of the feed. */
export const placedRowSchema = fiberRowSchema.pick({
  id: true,
  uid: true,
  path: true,
  status: true,
  tempered: true,
  tags: true,
  closed_at: true,
  outcome: true,
  due: true,
  horizon: true,
  svc: true,
  project_dir: true,
  error: true,
  runtime: true,
  blocked: true,
  last_death: true,
  held: true,
  held_note: true,
  gate: true,
  next_due_at: true,
  shares_folder_with: true,
});
export type PlacedRow = z.infer<typeof placedRowSchema>;

/** The columns of the board; null for what stands in none. */
export type Place =
  | 'drafts'
  | 'needs_you'
  | 'working'
  | 'blocked'
  | 'review'
  | 'scheduled'
  | 'resting'
  | null;

/** The column of the board that a fiber of this host stands in; `today` as `2026-03-07`. The first match wins. */
export function placeOf(row: PlacedRow, host: string, today: string): Place {
  if (row.tags.includes('cycle')) return null;
  const { place, may_rest } = standingOf(row, host);
  if (may_rest !== true || row.horizon !== 'stashed' || row.error !== undefined) return place;
  const due = dayIn(row.due);
  return due !== null && due <= today ? place : 'resting';
}

/**
 * A permission counts as a need once it has been open for so many milliseconds: one that the rules of the agent answer
 * is gone before.
 */
const SETTLE_MS = 3_000;

/** Whether a worker that waits for a person has waited long enough to be told; false of every other worker. */
export function isOpen({ phase, phase_since }: Pick<RunView, 'phase' | 'phase_since'>, now: number): boolean {
  if (phase === 'attention') return true;
  return phase === 'waiting' && (phase_since === null || now - phase_since >= SETTLE_MS);
}

/** A worker that runs waits for a person at a dialog of its start, and at its usage limit. */
export function stopsWorker({ blocked }: Pick<PlacedRow, 'blocked'>): boolean {
  return STOPS_A_WORKER.has(blocked?.reason ?? '');
}

/** `may_rest`: nobody works on it, so that it can be laid aside. */
type Standing = { place: Place; may_rest?: true };

function standingOf(row: PlacedRow, host: string): Standing {
  const { svc, runtime, status, gate } = row;
  if (row.error !== undefined) return { place: 'blocked', may_rest: true };
  if (status === 'closed') return { place: row.tempered === undefined ? 'review' : null };
  if (runtime !== undefined) {
    const starts = runtime.state === 'claimed' || runtime.state === 'starting';
    const asks = runtime.phase === 'waiting' || runtime.phase === 'attention';
    const needed = stopsWorker(row) || (asks && !starts) || runtime.needs_look === true;
    return { place: needed ? 'needs_you' : 'working' };
  }
  if (status === 'open')
    return svc?.kind === 'pinned' ? { place: null } : { place: 'drafts', may_rest: true };
  if (svc === undefined) return { place: 'drafts', may_rest: true };
  if (svc.host !== undefined && svc.host !== host) return { place: 'blocked', may_rest: true };
  if (row.blocked !== undefined || row.held !== undefined) return { place: 'blocked', may_rest: true };
  const is_timed = gate === undefined || (gate === 'due' && row.next_due_at !== undefined);
  if (svc.kind === 'standing' && is_timed) return { place: 'scheduled' };
  return { place: gate === undefined ? 'working' : 'blocked', may_rest: true };
}

/** The day where the reader is, as `2026-03-07`. */
export function dayOf(now: number): string {
  const at = new Date(now);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

const WORDS: Readonly<Record<Exclude<Place, 'review' | null>, string>> = {
  drafts: 'draft',
  needs_you: 'needs you',
  working: 'running',
  blocked: 'cannot start',
  scheduled: 'on its schedule',
  resting: 'resting',
};

/** What a fiber is that is not closed, where its document alone does not tell; null for any other. */
export function placeWords(row: PlacedRow, host: string, now: number): string | null {
  const place = placeOf(row, host, dayOf(now));
  if (row.status !== 'active' || place === null || place === 'review') return null;
  return place === 'working' && row.runtime === undefined ? null : WORDS[place];
}

/** The calendar day that a frontmatter value begins with. */
function dayIn(text: string | undefined): string | null {
  const day = /^\d{4}-\d{2}-\d{2}(?![\d-])/.exec(text?.trim() ?? '')?.[0];
  if (day === undefined) return null;
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day ? null : day;
}
