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

/** The path of the row whose card has the focus, or holds what has it. */
function focusedPath(): string | null {
  const card = document.activeElement?.closest<HTMLElement>('[data-path]');
  return card?.dataset.path ?? null;
}

/** The keys of one fiber, by the path of its row when one is pressed; null leaves the key to others. */
export function gestureKeys(pathNow: () => string | null): Keys {
  const on = (run: (path: string) => boolean) => () => {
    const path = pathNow();
    return path === null ? false : run(path);
  };
  return {
    ...Object.fromEntries(
      Object.entries(GESTURE_KEYS).map(([key, id]) => [key, on((path) => runGesture(path, id))]),
    ),
    m: on((path) => openMenu(path, 'move')),
    '.': on((path) => openMenu(path, 'all')),
    z: on((path) => openMenu(path, 'rest')),
  };
}

const KEYS = gestureKeys(focusedPath);

export function useCardKeys(): void {
  useKeys(KEYS);
}
