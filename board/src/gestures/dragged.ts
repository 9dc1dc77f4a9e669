import { FollowedValue, useValue } from '../lib/followed-value.ts';
import type { Aim } from '../model/aim.ts';
import type { Gesture, GestureId } from '../model/gestures.ts';

/** A card that is being dragged, where it can be dropped, and what it is over. */
export type Dragged = { aim: Aim; targets: readonly Gesture[]; over: GestureId | null };

const dragged = new FollowedValue<Dragged | null>(null);

export function setDragged(next: Dragged | null): void {
  dragged.set(next);
}

export function useDragged(): Dragged | null {
  return useValue(dragged, (now) => now);
}

/** Whether this card is the one that is being dragged. */
export function useIsDragged(row_key: string): boolean {
  return useValue(dragged, (now) => now?.aim.row_key === row_key);
}

/** What a drop here would do; null where nothing is dragged, or it is not offered. */
export function useDrop(id: GestureId | undefined): { gesture: Gesture; over: boolean } | null {
  const now = useDragged();
  const gesture = now?.targets.find((one) => one.id === id);
  return gesture === undefined ? null : { gesture, over: now?.over === id };
}
