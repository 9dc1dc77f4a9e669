import { useSyncExternalStore } from 'react';
import { type Day, dayOf } from '../model/days.ts';

const TICK_MS = 1_000;
const watching = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Calls back every second, and when a hidden page is looked at again. */
function watch(run: () => void): () => void {
  watching.add(run);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    watching.delete(run);
    if (watching.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  if (!document.hidden) for (const run of watching) run();
}

document.addEventListener('visibilitychange', tick);

/** A text that depends on the time; who uses it is drawn again only when the text changes. */
export function useTimeText(textAt: (now: number) => string): string {
  return useSyncExternalStore(watch, () => textAt(Date.now()));
}

export function useToday(): Day {
  return useTimeText(dayOf);
}
