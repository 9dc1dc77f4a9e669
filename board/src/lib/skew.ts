import { useSyncExternalStore } from 'react';

/** How the page and its daemon differ: the daemon serves another board, or does not know what was asked of it. */
export type Skew = { updated: boolean; older: boolean };

const watching = new Set<() => void>();
let skew: Skew = { updated: false, older: false };

/** What was noticed of it, and stays so until the page is loaded again. */
export function noticeSkew(kind: keyof Skew): void {
  if (skew[kind]) return;
  skew = { ...skew, [kind]: true };
  for (const run of watching) run();
}

export function useSkew(): Skew {
  return useSyncExternalStore(
    (run) => {
      watching.add(run);
      return () => watching.delete(run);
    },
    () => skew,
  );
}
