import { type RefObject, useRef } from 'react';
import { cardAim, select, toggle } from '../gestures/selection.ts';
import { useKeys } from '../lib/keys.ts';
import type { ListHandle } from './ItemList.tsx';

/** The lists of a view from left to right; one that is not in the page is null. */
export type Lists = RefObject<(ListHandle | null)[]>;

type Move = { down: number } | { across: number };

/**
 * Moves the focus with `j k` or the arrows through a list and with `h l` from list to list, empty ones passed over;
 * the first key leads to the list at `first`.
 */
export function useFocusKeys(first: number): Lists {
  const lists = useRef<(ListHandle | null)[]>([]);
  const move = (by: Move) => () => moveFocus(lists.current, by, first);
  const [down, up, left, right] = [
    move({ down: 1 }),
    move({ down: -1 }),
    move({ across: -1 }),
    move({ across: 1 }),
  ];
  const focusedCard = () => cardAim(document.activeElement);
  /** Chooses the focused card, and the one that the focus goes on to. */
  const choosing = (go: () => boolean) => () => {
    const from = focusedCard();
    go();
    const to = focusedCard();
    select([from, to].flatMap((aim) => aim ?? []));
    return true;
  };
  const on = (go: () => boolean) => (event: KeyboardEvent) => (event.shiftKey ? choosing(go)() : go());
  useKeys({
    J: choosing(down),
    K: choosing(up),
    v: () => {
      const aim = focusedCard();
      if (aim !== null) toggle(aim);
      return aim !== null;
    },
    ...{ j: down, k: up, h: left, l: right },
    ...{ ArrowDown: on(down), ArrowUp: on(up), ArrowLeft: left, ArrowRight: right },
  });
  return lists;
}

function moveFocus(lists: readonly (ListHandle | null)[], move: Move, first: number): boolean {
  const from = lists.findIndex((list) => list?.hasFocus() === true);
  if (from < 0) return [first, ...lists.keys()].some((at) => lists[at]?.enter() === true);
  if ('down' in move) {
    lists[from]?.move(move.down);
    return true;
  }
  for (let at = from + move.across; at >= 0 && at < lists.length; at += move.across)
    if (lists[at]?.enter() === true) return true;
  return true;
}
