import { z } from 'zod';

/** The canonical harness names (WRK-8). */
export const HARNESS_NAMES = ['claude', 'codex', 'pi'] as const;
export type HarnessName = (typeof HARNESS_NAMES)[number];

/** The harness whose conversations an app server holds (CAP-7). */
export const APP_HARNESS: HarnessName = 'codex';

/** Further spellings of registries. */
const SPELLINGS: Record<string, HarnessName> = {
  'claude-code': 'claude',
  'openai-codex': 'codex',
  'pi-coding-agent': 'pi',
};

/** The canonical name of a harness spelling in any case, or undefined for an unknown one (WRK-8, MSG-1). */
export function parseHarnessName(spelling: string): HarnessName | undefined {
  const text = spelling.trim().toLowerCase();
  return HARNESS_NAMES.find((name) => name === text) ?? SPELLINGS[text];
}

/** Accepts every registry spelling and yields the canonical name. */
export const harnessNameSchema = z.string().transform((spelling, context): HarnessName => {
  const name = parseHarnessName(spelling);
  if (name !== undefined) return name;
  context.addIssue({
    code: 'custom',
    message: `unknown harness "${spelling}"; use one of ${HARNESS_NAMES.join(', ')}`,
  });
  return z.NEVER;
});
