import type { Card } from './card.ts';
import type { Day } from './days.ts';
import { STATE_NAMES } from './states.ts';
import { shortDay } from './wording.ts';

/** Where a fiber that was found is, which for a judged or resting one is not in a column of the Desk. */
export function foundPlace({ state, returns, pinned }: Card, today: Day): string {
  if (state === 'resting') return returns === null ? 'Resting' : `Resting until ${shortDay(returns, today)}`;
  return pinned && state === 'parked' ? 'Pinned' : STATE_NAMES[state];
}
