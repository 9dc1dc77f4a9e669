import { useMemo, useState } from 'react';
import type { Stretch } from '../model/activity.ts';
import type { Fleet, Lane } from '../model/day-lanes.ts';
import { cursorAt, fittedTo, showing, stepOf, zoomed } from '../model/day-window.ts';

/** The place in the day that is looked at, and the part of the day around it that is drawn. */
export type Cursor = {
  at: number;
  window: Stretch;
  /** Somebody chose the place; before that it is now, or on another day when most agents worked. */
  chosen: boolean;
  place(at: number): void;
  /** Looks at another place until it is called with null. */
  preview(at: number | null): void;
  step(by: -1 | 1): void;
  zoom(towards: 'in' | 'out'): void;
};

export function useCursor(
  lanes: readonly Lane[],
  { most }: Pick<Fleet, 'most'>,
  day: Stretch,
  now: number,
): Cursor {
  const [placed, setPlaced] = useState<number | null>(null);
  const [previewed, setPreviewed] = useState<number | null>(null);
  const [chosen_window, setWindow] = useState<Stretch | null>(null);
  const fitted = useMemo(() => fittedTo(lanes, day, now), [lanes, day, now]);
  const window = chosen_window ?? fitted;
  const begin = now < day.to ? now : (most?.at ?? lanes[0]?.seen.from ?? day.from);
  const here = cursorAt(placed ?? begin, day, now);
  const goTo = (at: number) => {
    const next = cursorAt(at, day, now);
    setPlaced(next);
    setPreviewed(null);
    const shown = showing(window, day, next);
    if (shown !== window) setWindow(shown);
  };
  return {
    at: previewed === null ? here : cursorAt(previewed, day, now),
    window,
    chosen: placed !== null,
    place: goTo,
    preview: setPreviewed,
    step: (by) => goTo(here + by * stepOf(window)),
    zoom: (towards) => setWindow(zoomed(window, day, here, towards)),
  };
}
