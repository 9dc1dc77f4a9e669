import { type RefObject, useEffect } from 'react';

import { loadGestures } from './gestures.ts';

type Bindings = typeof import('./drag.ts');

let bindings: Promise<Bindings> | null = null;

/** Fingers scroll a list where a mouse drags out of it. */
const coarse = matchMedia('(pointer: coarse)');

/** Binds an element for a mouse, once what it takes has been loaded; `bind` answers how to let go of it. */
export function useDragBinding(
  element: RefObject<HTMLElement | null>,
  bind: (bindings: Bindings, element: HTMLElement) => () => void,
  key: string,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `bind` depends on nothing but the key.
  useEffect(() => {
    if (coarse.matches) return;
    let unbind: () => void = () => undefined;
    let gone = false;
    bindings ??= Promise.all([import('./drag.ts'), loadGestures()]).then(([loaded]) => loaded);
    bindings.then(
      (loaded) => {
        if (!gone && element.current !== null) unbind = bind(loaded, element.current);
      },
      // The next card that is shown tries again; the menu does the same as a drag.
      () => {
        bindings = null;
      },
    );
    return () => {
      gone = true;
      unbind();
    };
  }, [key]);
}
