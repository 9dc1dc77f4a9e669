import { useSyncExternalStore } from 'react';
import { followed } from '../lib/board.ts';
import { go } from '../lib/url.ts';
import { dayOf } from '../model/days.ts';
import { type Form, type Gesture, type GestureId, gesturesOf } from '../model/gestures.ts';
import { feedRow, pendingAt, send, showRefusal } from './writes.ts';

/** What stands over the page; `path` is that of the row it is about. */
export type Open =
  | { kind: 'menu'; path: string; part: MenuPart }
  | { kind: 'confirm'; path: string; id: GestureId }
  | { kind: 'form'; path: string; form: Form; id: GestureId }
  /** The fibers that are held since the restart. */
  | { kind: 'held' };

/** `move`: the places it can be moved to; `rest`: the days until which it can rest; `all`: everything. */
export type MenuPart = 'move' | 'rest' | 'all';

const watching = new Set<() => void>();
let open: Open | null = null;

function show(next: Open | null): void {
  open = next;
  for (const run of watching) run();
}

export function useOpen(): Open | null {
  return useSyncExternalStore(
    (run) => {
      watching.add(run);
      return () => watching.delete(run);
    },
    () => open,
  );
}

export function close(): void {
  show(null);
}

/** Everything that can be done now to the fiber whose row has this path; empty if there is none. */
export function gesturesAt(path: string): readonly Gesture[] {
  const { copy, contact } = followed();
  const pending = pendingAt(path);
  const row = pending?.shown ?? feedRow(path);
  if (row === undefined || copy === null) return [];
  const saving = pending?.phase === 'sending';
  return gesturesOf(row, { host: copy.host, today: dayOf(Date.now()), contact, saving });
}

/** Opens the menu of a fiber by the path of its row, from wherever it is shown; false if the row is not known. */
export function openMenu(path: string, part: MenuPart): boolean {
  if (gesturesAt(path).length === 0) return false;
  show({ kind: 'menu', path, part });
  return true;
}

export function openHeld(): void {
  show({ kind: 'held' });
}

/**
 * Does one thing to the fiber whose row has this path, as any button, key, menu or drop does it: asks first where it has
 * to be confirmed, opens its form where it has one. What is refused stays on the card as a sentence. False if it is not
 * offered.
 */
export function runGesture(path: string, id: GestureId, { confirmed = false } = {}): boolean {
  const gesture = gesturesAt(path).find((one) => one.id === id);
  if (gesture === undefined) return false;
  const { act, refused } = gesture;
  if (refused !== null) {
    close();
    showRefusal(path, refused);
  } else if (act.kind === 'sheet') {
    close();
    go({ fiber: feedRow(path)?.id ?? null, part: act.at === 'top' ? null : act.at });
  } else if (act.kind === 'form') show({ kind: 'form', path, form: act.form, id });
  else if (act.asks && !confirmed) show({ kind: 'confirm', path, id });
  else {
    close();
    // Once the dialog is gone, so that the list has the focus again before the card leaves it.
    setTimeout(() => void send(path, act));
  }
  return true;
}
