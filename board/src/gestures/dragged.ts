import { useSyncExternalStore } from 'react';
import type { Gesture, GestureId } from '../model/gestures.ts';

/** A card that is being dragged, where it can be dropped, and what it is over. */
export type Dragged = { row_key: string; targets: readonly Gesture[]; over: GestureId | null };

const watching = new Set<() => void>();
let dragged: Dragged | null = null;

export function setDragged(next: Dragged | null): void {
  dragged = next;
  for (const run of watching) run();
}

function watch(run: () => void): () => void {
  watching.add(run);
  return () => watching.delete(run);
}

export function useDragged(): Dragged | null {
  return useSyncExternalStore(watch, () => dragged);
}

/** Whether this card is the one that is being dragged. */
export function useIsDragged(row_key: string): boolean {
  return useSyncExternalStore(watch, () => dragged?.row_key === row_key);
}

/** What a drop here would do; null where nothing is dragged, or it is not offered. */
export function useDrop(id: GestureId | undefined): { gesture: Gesture; over: boolean } | null {
  const now = useDragged();
  const gesture = now?.targets.find((one) => one.id === id);
  return gesture === undefined ? null : { gesture, over: now?.over === id };
}
