import { useMemo } from 'react';
import { type Answer, post } from '../lib/api.ts';
import { askNow, followed, watchFollowed } from '../lib/board.ts';
import { FollowedValue, useValue } from '../lib/followed-value.ts';
import { toast } from '../lib/toasts.ts';
import { silenceOf } from '../model/contact.ts';
import type { FeedCopy } from '../model/feed-copy.ts';
import type { Call, Change, Undo } from '../model/gestures.ts';
import {
  begin,
  dismiss,
  heard,
  nextExpiry,
  overlay,
  type Pending,
  type Pendings,
  type Refusal,
  reconcile,
  refuse,
  SILENT,
  shows,
  succeed,
} from '../model/pending.ts';
import type { FiberRow } from '../model/wire.ts';

/** Starting and ending a worker takes its time. */
const ANSWER_MS = 60_000;

const pendings = new FollowedValue<Pendings>(new Map());
let expiry: ReturnType<typeof setTimeout> | undefined;

function become(next: Pendings): void {
  if (next === pendings.get()) return;
  pendings.set(next);
  clearTimeout(expiry);
  const at = nextExpiry(next);
  if (at !== null)
    expiry = setTimeout(
      () => {
        askNow();
        settle();
      },
      Math.max(0, at - Date.now()),
    );
}

/** Drops what the feed shows by itself. */
function settle(): void {
  const { copy, contact } = followed();
  const now = pendings.get();
  if (copy === null || now.size === 0) return;
  const left = silenceOf(contact, null) === null ? heard(now) : now;
  become(reconcile(left, copy.rows, Date.now()));
}

watchFollowed(settle);

/** The feed with what is under way laid over it. */
export function useShownCopy(copy: FeedCopy | null): FeedCopy | null {
  const current = useValue(pendings, (now) => now);
  return useMemo(() => {
    if (copy === null) return null;
    const rows = overlay(copy.rows, current);
    return rows === copy.rows ? copy : { ...copy, rows };
  }, [copy, current]);
}

/** What is under way for a row, or was refused. */
export function usePending(row_key: string): Pending | undefined {
  return useValue(pendings, (now) => now.get(row_key));
}

export function pendingAt(row_key: string): Pending | undefined {
  return pendings.get().get(row_key);
}

export function feedRow(row_key: string): FiberRow | undefined {
  return followed().copy?.rows.get(row_key);
}

/** Puts a reason on the card, in place of one that stands there. Does nothing while something is under way. */
export function showRefusal(row_key: string, message: string): void {
  const row = feedRow(row_key);
  const phase = pendings.get().get(row_key)?.phase;
  if (row === undefined || (phase !== undefined && phase !== 'refused')) return;
  const code = silenceOf(followed().contact, null) === null ? 'refused_here' : SILENT;
  const refusal = { message, code, unknown: false, needs_folder: false };
  become(refuse(pendings.get(), row, null, refusal));
}

export function dismissRefusal(row_key: string): void {
  if (pendings.get().get(row_key)?.phase === 'refused') become(dismiss(pendings.get(), row_key));
}

/** What is asked of the daemon for a row, and what is said once it is done. */
export type Write = { call: Call; change: Change | null; done: string; undo?: Undo | null };

/**
 * Sends a write: the card shows what becomes of it at once, and is put back with the daemon's sentence where it is
 * refused. Resolves to the answer.
 */
export async function send(row_key: string, write: Write): Promise<Answer<unknown>> {
  const row = feedRow(row_key);
  if (row === undefined) return GONE;
  const { call, change, done, undo = null } = write;
  become(begin(pendings.get(), row, change, Date.now()));
  const answer = await post<unknown>(call.path, call.body, { timeout_ms: ANSWER_MS });
  if (answer.ok) {
    become(succeed(pendings.get(), row_key, Date.now()));
    const said = [`${row.name}: ${runsAlready(answer.value) ? RUNS : done}`, ...notesOf(answer.value)].join(
      ' ',
    );
    toast(said, undo === null || change === null ? {} : { undo: () => void takeBack(row_key, change, undo) });
  } else {
    become(refuse(pendings.get(), feedRow(row_key) ?? row, change, refusalOf(answer)));
  }
  settle();
  askNow();
  return answer;
}

function refusalOf({ message, code, body }: Answer<unknown> & { ok: false }): Refusal {
  const { needs } = (body ?? {}) as { needs?: unknown };
  return { message, code, unknown: code === 'no_answer', needs_folder: needs === 'project_dir' };
}

const GONE: Answer<never> = {
  ...{ ok: false, status: 404, code: 'fiber_not_found', body: null },
  message: 'It is not on this board any more.',
};

/** Takes a write back, unless somebody has changed the fiber since. */
async function takeBack(row_key: string, change: Change, undo: Undo): Promise<void> {
  const row = pendings.get().get(row_key)?.shown ?? feedRow(row_key);
  if (row === undefined || !shows(row, change) || row.runtime !== undefined) {
    showRefusal(row_key, 'Not taken back: it was changed since.');
    return;
  }
  await send(row_key, undo);
}

const RUNS = 'A worker runs already.';

/** A start that found a worker. */
function runsAlready(value: unknown): boolean {
  return (value as { already_running?: unknown } | null)?.already_running === true;
}

/** The notes of the daemon about a start. */
function notesOf(value: unknown): string[] {
  const { notes } = (value ?? {}) as { notes?: unknown };
  return Array.isArray(notes) ? notes.filter((note) => typeof note === 'string') : [];
}
