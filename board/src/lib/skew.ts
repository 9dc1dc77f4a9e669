import { FollowedValue, useValue } from './followed-value.ts';

/** How the page and its daemon differ: the daemon serves another board, or does not know what was asked of it. */
export type Skew = { updated: boolean; older: boolean };

const skew = new FollowedValue<Skew>({ updated: false, older: false });

/** What was noticed of it, and stays so until the page is loaded again. */
export function noticeSkew(kind: keyof Skew): void {
  const known = skew.get();
  if (!known[kind]) skew.set({ ...known, [kind]: true });
}

export function useSkew(): Skew {
  return useValue(skew, (all) => all);
}
