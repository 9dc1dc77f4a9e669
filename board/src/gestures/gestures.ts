import { followed } from '../lib/board.ts';
import { shownOf } from '../lib/follow-feed.ts';
import { FollowedValue, useValue } from '../lib/followed-value.ts';
import { openFiber } from '../lib/open-fiber.ts';
import { whyNotLoaded } from '../lib/parts.tsx';
import { keepKeys, SEEN_MS } from '../lib/presses.ts';
import { toast } from '../lib/toasts.ts';
import type { Aim } from '../model/aim.ts';
import type { BulkId } from '../model/bulk.ts';
import { dayOf } from '../model/days.ts';
import type * as Table from '../model/gestures.ts';
import type { Form, Gesture, GestureId } from '../model/gestures.ts';
import { agedOf } from '../model/hosts.ts';
import { feedRow, missed, pendingAt, send, shownRow, showRefusal } from './writes.ts';

/** What stands over the page, and the fiber that it is about. */
export type Open =
  | { kind: 'menu'; aim: Aim; part: MenuPart }
  | { kind: 'confirm'; aim: Aim; id: GestureId }
  | { kind: 'form'; aim: Aim; form: Form; id: GestureId }
  /** One thing for several fibers. */
  | { kind: 'bulk'; aims: readonly Aim[]; id: BulkId }
  /** The fibers that are held since the restart. */
  | { kind: 'held' };

/** `move`: the places it can be moved to; `rest`: the days until which it can rest; `all`: everything. */
export type MenuPart = 'move' | 'rest' | 'all';

/** The table of the gestures, once it is loaded: no card needs it to be shown. */
let table: typeof Table | null = null;

export async function loadGestures(): Promise<void> {
  table ??= await import('../model/gestures.ts');
}

/** Does something once the table is loaded; keys that are pressed until then are kept for what it opens. */
function withTable(run: () => void): true {
  const there = keepKeys(() => undefined);
  loadGestures()
    .then(run, async () => toast(await whyNotLoaded(), { tone: 'fault' }))
    .finally(there);
  return true;
}

const open = new FollowedValue<Open | null>(null);

export function useOpen(): Open | null {
  return useValue(open, (now) => now);
}

export function close(): void {
  open.set(null);
}

/** Everything that can be done now to the fiber whose row has this key; empty if there is none. */
export function gesturesAt(row_key: string): readonly Gesture[] {
  const copy = shownOf(followed());
  const row = shownRow(row_key);
  if (table === null || row === undefined || copy === null) return [];
  const saving = pendingAt(row_key)?.phase === 'sending';
  const aged = agedOf(copy, row) !== null;
  return table.gesturesOf(row, {
    host: copy.host,
    aged,
    today: dayOf(Date.now()),
    contact: followed().contact,
    saving,
  });
}

/** Opens the menu of a fiber, from wherever it is shown; false if its row is not known. */
export function openMenu(aim: Aim, part: MenuPart): boolean {
  if (table === null) return withTable(() => openMenu(aim, part));
  if (gesturesAt(aim.row_key).length === 0) return false;
  open.set({ kind: 'menu', aim, part });
  return true;
}

export function openBulk(aims: readonly Aim[], id: BulkId): void {
  if (table === null) return void withTable(() => openBulk(aims, id));
  open.set({ kind: 'bulk', aims, id });
}

export function openHeld(): void {
  open.set({ kind: 'held' });
}

const JUST_CAME = 'The focus had just come to it, so nothing was done. Press the key again if you mean it.';

/**
 * Does one thing to a fiber, as any button, key, menu or drop does it: asks first where it has to be confirmed, opens
 * its form where it has one. What is refused stays on the card as a sentence, also where the fiber is not any more what
 * a person saw. `pressed_at`: when the key for it was pressed, as `Event.timeStamp`. False if it is not offered.
 */
export function runGesture(
  aim: Aim,
  id: GestureId,
  { confirmed = false, pressed_at = Number.POSITIVE_INFINITY } = {},
): boolean {
  if (table === null) return withTable(() => runGesture(aim, id, { confirmed, pressed_at }));
  const { row_key, since = 0 } = aim;
  const gesture = gesturesAt(row_key).find((one) => one.id === id);
  if (gesture?.act.kind === 'sheet') {
    close();
    const row = feedRow(row_key);
    if (row !== undefined) openFiber(row, gesture.act.at === 'top' ? null : gesture.act.at);
    return true;
  }
  const refused =
    missed(aim) ?? (pressed_at < since + SEEN_MS ? JUST_CAME : null) ?? gesture?.refused ?? null;
  if (refused !== null) {
    close();
    showRefusal(row_key, refused);
    return true;
  }
  if (gesture === undefined) return false;
  const { act } = gesture;
  if (act.kind === 'form') open.set({ kind: 'form', aim, form: act.form, id });
  else if (act.kind === 'write' && act.asks && !confirmed) open.set({ kind: 'confirm', aim, id });
  else if (act.kind === 'write') {
    close();
    // Once the dialog is gone, so that the list has the focus again before the card leaves it.
    setTimeout(() => void send(aim, act));
  }
  return true;
}
