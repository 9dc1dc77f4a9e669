import type { Turn } from './conversation.ts';

/**
 * One answer of the model: a text that ends the turn, one shell command whose result it waits for, or a call of
 * another `tool` by its name; a command in the `background` goes on beside the turn (Claude Code and Codex; Pi has no
 * such thing). It comes `after` a promise that never rejects, and then after `delay_ms`.
 */
export type Step = (
  | { text: string }
  | { shell: string; background?: boolean }
  | { tool: string; input: Record<string, unknown> }
) & { delay_ms?: number; after?: Promise<unknown> };

/** When a user text matches, the steps are answered in order: one, then the next after each tool result. */
export type Rule = { match: string | RegExp; steps: Step[] };

const SILENT: Step = { text: 'ok' };
/** The answer to a program that asks whether a command may run. */
const PERMITTED: Step = { text: '<block>no' };

/**
 * Chooses the answer: the rule that matches the latest user text is in force, and the number of tool results
 * since then says which of its steps is next. A request that offers no shell is never answered with a command, and
 * one that asks for a verdict on a command (`<block>`) is told that it may run.
 */
export function nextStep(rules: readonly Rule[], turns: readonly Turn[], hasShell: boolean): Step {
  if (!hasShell && turns.some((turn) => turn.text.includes('<block>'))) return PERMITTED;
  let latest = -1;
  let inForce: Rule | null = null;
  for (const rule of rules) {
    const at = turns.findLastIndex((turn) => turn.from === 'user' && matches(rule.match, turn.text));
    if (at > latest) {
      latest = at;
      inForce = rule;
    }
  }
  if (inForce === null) return SILENT;
  const results = turns.slice(latest + 1).filter((turn) => turn.from === 'tool').length;
  const step = inForce.steps[Math.min(results, inForce.steps.length - 1)] ?? SILENT;
  return 'text' in step || hasShell ? step : SILENT;
}

function matches(match: string | RegExp, text: string): boolean {
  return typeof match === 'string' ? text.includes(match) : match.test(text);
}
