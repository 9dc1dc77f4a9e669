import type { ContextUse } from '../../../contract/fiber.ts';

/** How full a context is: `61 %` of its window, `122 k` tokens where its size is not known, `-` where nothing is. */
export function contextText(context: ContextUse | null | undefined): string {
  if (context == null) return '-';
  const { tokens, most } = context;
  return most === null ? `${Math.round(tokens / 1_000)} k` : `${Math.round((100 * tokens) / most)} %`;
}
