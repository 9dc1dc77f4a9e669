import { type RefObject, useEffect, useRef } from 'react';
import type { ListHandle } from './ItemList.tsx';

/** The lists of a view from left to right; one that is not in the page is null. */
export type Lists = RefObject<(ListHandle | null)[]>;

const MOVES: Readonly<Record<string, { down: number } | { across: number }>> = {
  j: { down: 1 },
  ArrowDown: { down: 1 },
  k: { down: -1 },
  ArrowUp: { down: -1 },
  h: { across: -1 },
  ArrowLeft: { across: -1 },
  l: { across: 1 },
  ArrowRight: { across: 1 },
};

/**
 * Moves the focus with `j k` or the arrows through a list and with `h l` from list to list, empty ones passed over;
 * the first key leads to the list at `first`.
 */
export function useFocusKeys(first: number): Lists {
  const lists = useRef<(ListHandle | null)[]>([]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const move = MOVES[event.key];
      if (move === undefined || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
        return;
      if (moveFocus(lists.current, move, first)) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [first]);
  return lists;
}

function moveFocus(
  lists: readonly (ListHandle | null)[],
  move: { down: number } | { across: number },
  first: number,
): boolean {
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
