import { followed } from '../lib/board.ts';
import { FollowedValue, useValue } from '../lib/followed-value.ts';
import { openFiber } from '../lib/open-fiber.ts';
import { dayOf } from '../model/days.ts';
import { type Form, type Gesture, type GestureId, gesturesOf } from '../model/gestures.ts';
import { agedOf } from '../model/hosts.ts';
import { feedRow, pendingAt, send, showRefusal } from './writes.ts';

/** What stands over the page; `row_key` names the row it is about. */
export type Open =
  | { kind: 'menu'; row_key: string; part: MenuPart }
  | { kind: 'confirm'; row_key: string; id: GestureId }
  | { kind: 'form'; row_key: string; form: Form; id: GestureId }
  /** The fibers that are held since the restart. */
  | { kind: 'held' };

/** `move`: the places it can be moved to; `rest`: the days until which it can rest; `all`: everything. */
export type MenuPart = 'move' | 'rest' | 'all';

const open = new FollowedValue<Open | null>(null);

export function useOpen(): Open | null {
  return useValue(open, (now) => now);
}

export function close(): void {
  open.set(null);
}

/** Everything that can be done now to the fiber whose row has this key; empty if there is none. */
export function gesturesAt(row_key: string): readonly Gesture[] {
  const { copy, contact } = followed();
  const pending = pendingAt(row_key);
  const row = pending?.shown ?? feedRow(row_key);
  if (row === undefined || copy === null) return [];
  const saving = pending?.phase === 'sending';
  const aged = agedOf(copy, row) !== null;
  return gesturesOf(row, { host: copy.host, aged, today: dayOf(Date.now()), contact, saving });
}

/** Opens the menu of a fiber by the key of its row, from wherever it is shown; false if the row is not known. */
export function openMenu(row_key: string, part: MenuPart): boolean {
  if (gesturesAt(row_key).length === 0) return false;
  open.set({ kind: 'menu', row_key, part });
  return true;
}

export function openHeld(): void {
  open.set({ kind: 'held' });
}

/**
 * Does one thing to the fiber whose row has this key, as any button, key, menu or drop does it: asks first where it has
 * to be confirmed, opens its form where it has one. What is refused stays on the card as a sentence. False if it is not
 * offered.
 */
export function runGesture(row_key: string, id: GestureId, { confirmed = false } = {}): boolean {
  const gesture = gesturesAt(row_key).find((one) => one.id === id);
  if (gesture === undefined) return false;
  const { act, refused } = gesture;
  if (refused !== null) {
    close();
    showRefusal(row_key, refused);
  } else if (act.kind === 'sheet') {
    close();
    const row = feedRow(row_key);
    if (row !== undefined) openFiber(row, act.at === 'top' ? null : act.at);
  } else if (act.kind === 'form') open.set({ kind: 'form', row_key, form: act.form, id });
  else if (act.asks && !confirmed) open.set({ kind: 'confirm', row_key, id });
  else {
    close();
    // Once the dialog is gone, so that the list has the focus again before the card leaves it.
    setTimeout(() => void send(row_key, act));
  }
  return true;
}
