import type { FiberRow } from '../model/wire.ts';
import { followed } from './board.ts';
import { shownOf } from './follow-feed.ts';
import { go } from './url.ts';

/** Opens the sheet of a fiber, or a part of it, over the view; a sheet without a fiber is closed. */
export function openFiber({ id, origin }: Pick<FiberRow, 'id' | 'origin'>, part: string | null = null): void {
  const own = shownOf(followed())?.host;
  go({ fiber: id, origin: origin === own ? null : origin, part, sheet: null, q: null });
}
