import { type Keys, useKeys } from '../lib/keys.ts';
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

/** The key of the row whose card has the focus, or holds what has it. */
function focusedKey(): string | null {
  const card = document.activeElement?.closest<HTMLElement>('article[data-row]');
  return card?.dataset.row ?? null;
}

/** The keys of one fiber, by the key of its row when one is pressed; null leaves the key to others. */
export function gestureKeys(keyNow: () => string | null): Keys {
  const on = (run: (row_key: string) => boolean) => () => {
    const row_key = keyNow();
    return row_key === null ? false : run(row_key);
  };
  return {
    ...Object.fromEntries(
      Object.entries(GESTURE_KEYS).map(([key, id]) => [key, on((row_key) => runGesture(row_key, id))]),
    ),
    m: on((row_key) => openMenu(row_key, 'move')),
    '.': on((row_key) => openMenu(row_key, 'all')),
    z: on((row_key) => openMenu(row_key, 'rest')),
  };
}

const KEYS = gestureKeys(focusedKey);

export function useCardKeys(): void {
  useKeys(KEYS);
}
