import { useMemo } from 'react';
import { type Answer, isUnsure, post } from '../lib/api.ts';
import { askNow, followed, watchFollowed } from '../lib/board.ts';
import { shownOf } from '../lib/follow-feed.ts';
import { FollowedValue, useValue } from '../lib/followed-value.ts';
import { whyNotLoaded } from '../lib/parts.tsx';
import { toast, undoAwaited } from '../lib/toasts.ts';
import { type Aim, aimAt, standingOf } from '../model/aim.ts';
import { silenceOf } from '../model/contact.ts';
import { type FeedCopy, keyOf } from '../model/feed-copy.ts';
import type { Call, Change } from '../model/gestures.ts';
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
  succeed,
} from '../model/pending.ts';
import type { FiberRow, Undo } from '../model/wire.ts';

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
  return shownOf(followed())?.rows.get(row_key);
}

/** The row as it is shown: with what is under way. */
export function shownRow(row_key: string): FiberRow | undefined {
  return pendingAt(row_key)?.shown ?? feedRow(row_key);
}

/** Why nothing is done to a fiber that is not any more what a person saw; null while it is. */
export function missed({ row_key, saw }: Aim): string | null {
  const row = shownRow(row_key);
  return row === undefined || standingOf(row) === saw
    ? null
    : 'It changed before you did that, so nothing was done. Look at it again.';
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
export type Write = { call: Call; change: Change | null; done: string };

/**
 * Sends a write: the card shows what becomes of it at once, and is put back with the daemon's sentence where it is
 * refused. Resolves to the answer. `quiet`: what is done is said by the caller, who is given how to take it back.
 */
export async function send(
  aim: Aim,
  write: Write,
  quiet?: { undo(goBack: () => void): void },
): Promise<Answer<unknown>> {
  const { row_key } = aim;
  const row = feedRow(row_key);
  if (row === undefined) {
    toast(GONE.message, { tone: 'fault' });
    return GONE;
  }
  // A second press before the first one was shown.
  if (pendingAt(row_key)?.phase === 'sending') return refusedHere('Its last change is still being saved.');
  const changed = missed(aim);
  if (changed !== null) {
    showRefusal(row_key, changed);
    return refusedHere(changed);
  }
  const { call, change, done } = write;
  const asked = asSeen(call, row);
  become(begin(pendings.get(), row, change, Date.now()));
  const answered = undoAwaited();
  const answer = await post<unknown>(call.path, asked, { timeout_ms: ANSWER_MS, seen: row.digest });
  answered();
  if (answer.ok) {
    become(succeed(pendings.get(), row_key, Date.now()));
    const said = [`${row.name}: ${runsAlready(answer.value) ? RUNS : done}`, ...notesOf(answer.value)].join(
      ' ',
    );
    const { undo } = (answer.value ?? {}) as { undo?: Undo };
    const goBack = () => void undone(row, call, undo as Undo);
    const can_go_back = undo !== undefined && !isRestoring(call);
    if (quiet === undefined) toast(said, can_go_back ? { undo: goBack } : {});
    else if (can_go_back) quiet.undo(goBack);
  } else {
    become(refuse(pendings.get(), feedRow(row_key) ?? row, change, refusalOf(answer)));
  }
  settle();
  askNow();
  return answer;
}

function refusalOf(answer: Answer<unknown> & { ok: false }): Refusal {
  const { message, code, body } = answer;
  const { needs } = (body ?? {}) as { needs?: unknown };
  return { message, code, unknown: isUnsure(answer), needs_folder: needs === 'project_dir' };
}

const GONE = refusedHere('It is not on this board any more.');

/** Nothing was asked of the daemon. */
function refusedHere(message: string) {
  return { ok: false, status: 0, code: 'refused_here', message, body: null } as const;
}

/** The fields of the request, with what names the document that was seen, where nobody else writes into that. */
function asSeen({ path, body }: Call, row: FiberRow): Call['body'] {
  const moves = path === '/transition' || path === '/fiber-edit';
  const alone = row.runtime === undefined && pendingAt(keyOf(row))?.phase !== 'done';
  return moves && alone && body.expected_digest === undefined
    ? { ...body, expected_digest: row.digest }
    : body;
}

function isRestoring({ path, body }: Call): boolean {
  return path === '/fiber-edit' && body.restores === true;
}

/** Takes a write back, unless somebody has changed the fiber since. */
async function undone(before: FiberRow, call: Call, undo: Undo): Promise<void> {
  const row_key = keyOf(before);
  const row = shownRow(row_key);
  if (row === undefined) return void toast(GONE.message, { tone: 'fault' });
  const loaded = await import('../model/take-back.ts').catch(() => null);
  if (loaded === null) return void toast(await whyNotLoaded(), { tone: 'fault' });
  const answer = await send(aimAt(row), loaded.takeBack(before, call, undo));
  if (!answer.ok && answer.code === 'conflict') showRefusal(row_key, 'Not taken back: it was changed since.');
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
