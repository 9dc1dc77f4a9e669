import type { ContextUse } from '../../contract/fiber.ts';

/** What a count is rounded to where the size of the window is not known, and at least, in tokens. */
const STEP = 1_000;

/**
 * A count that does not move with every answer: to the thousand, and no finer than one percent of the window, where its
 * size is known.
 */
export function coarseUse({ tokens, most }: ContextUse): ContextUse {
  const step = Math.max(STEP, Math.round((most ?? 0) / 100 / STEP) * STEP);
  return { tokens: Math.round(tokens / step) * step, most };
}
