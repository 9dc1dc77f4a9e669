import { type Keys, useKeys } from '../lib/keys.ts';
import { focusedSince, pressedAt } from '../lib/presses.ts';
import type { Aim } from '../model/aim.ts';
import type { GestureId } from '../model/gestures.ts';
import { openMenu, runGesture } from './gestures.ts';

/** Keys of the focused card; those of the gestures are in the table of the model too. */
const GESTURE_KEYS: Readonly<Record<string, GestureId>> = {
  a: 'accept',
  x: 'set_aside',
  L: 'launch',
  r: 'reply',
  w: 'watch',
};

/** The fiber whose card has the focus, or holds what has it, as its card shows it. */
function focusedAim(): Aim | null {
  const card = document.activeElement?.closest<HTMLElement>('article[data-row]');
  const { row: row_key, saw } = card?.dataset ?? {};
  return card == null || row_key === undefined || saw === undefined
    ? null
    : { row_key, saw, since: focusedSince(card) };
}

/** The keys of one fiber, which is asked for when one is pressed; null leaves the key to others. */
export function gestureKeys(aimNow: () => Aim | null): Keys {
  const on = (run: (aim: Aim, event: KeyboardEvent) => boolean) => (event: KeyboardEvent) => {
    const aim = aimNow();
    // A key that is held down is pressed once.
    return aim !== null && (event.repeat || run(aim, event));
  };
  return {
    ...Object.fromEntries(
      Object.entries(GESTURE_KEYS).map(([key, id]) => [
        key,
        on((aim, event) => runGesture(aim, id, { pressed_at: pressedAt(event) })),
      ]),
    ),
    m: on((aim) => openMenu(aim, 'move')),
    '.': on((aim) => openMenu(aim, 'all')),
    z: on((aim) => openMenu(aim, 'rest')),
  };
}

const KEYS = gestureKeys(focusedAim);

export function useCardKeys(): void {
  useKeys(KEYS);
}
