import type { z } from 'zod';
import { refusal } from './error-reply.ts';

/** Issues that an answer lists; a body of some MB can have hundreds of thousands. */
const MOST_ISSUES = 50;

/** Parses an input with a schema; throws `invalid_request` listing its first issues. */
export function parseInput(schema: z.ZodType, input: unknown, part: 'body' | 'query'): unknown {
  const parsed = safeParse(schema, input);
  if (parsed.success) return parsed.data;
  const issues = parsed.issues.slice(0, MOST_ISSUES).map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
  const first = issues[0];
  const where = first === undefined || first.path === '' ? '' : ` at ${first.path}`;
  throw refusal(
    'invalid_request',
    `The ${part} is not acceptable${where}: ${first?.message ?? 'see issues'}.`,
    {
      issues,
    },
  );
}

type Outcome =
  | { success: true; data: unknown }
  | { success: false; issues: { path: PropertyKey[]; message: string }[] };

function safeParse(schema: z.ZodType, input: unknown): Outcome {
  try {
    const parsed = schema.safeParse(input);
    return parsed.success ? parsed : { success: false, issues: parsed.error.issues };
  } catch (error) {
    // A recursive schema runs out of stack on input that is nested deep enough.
    if (!(error instanceof RangeError)) throw error;
    return { success: false, issues: [{ path: [], message: 'is nested too deeply' }] };
  }
}
