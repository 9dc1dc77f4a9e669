import { parseWhere, printWhere, type View, type Where } from '../model/where.ts';
import { FollowedValue, useValue } from './followed-value.ts';

const here = new FollowedValue(parseWhere(location.search));

addEventListener('popstate', () => {
  here.set(parseWhere(location.search));
});

/**
 * Goes to another place of the board; what is not named stays, but a fiber without its `origin` is one of the host that
 * answers. `replace` leaves no step back.
 */
export function go(change: Partial<Where>, { replace = false } = {}): void {
  const from = here.get();
  const next = { ...from, ...('fiber' in change ? { origin: null } : {}), ...change };
  const search = printWhere(next);
  if (search === printWhere(from)) return;
  const state = replace ? history.state : { from_view: from.fiber === null };
  history[replace ? 'replaceState' : 'pushState'](state, '', `${location.pathname}${search}`);
  here.set(next);
}

/** Goes to a view as it is first seen, away from any sheet. */
export function goTo(view: View): void {
  go({ view, fiber: null, sheet: null, day: null, part: null, q: null });
}

/** Leaves a part of a fiber for what it was opened from: a view, or else the sheet of the fiber. */
export function leavePart(): void {
  const { from_view } = (history.state ?? {}) as { from_view?: boolean };
  go(from_view === true ? { fiber: null, part: null } : { part: null });
}

export function where(): Where {
  return here.get();
}

export function useWhere(): Where {
  return useValue(here, (now) => now);
}
