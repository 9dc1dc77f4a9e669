import { join } from 'node:path';
import { z } from 'zod';
import { jsonOf } from '../../base/json-text.ts';
import { endOfFile } from './run-file-end.ts';

/** Written by `HookSpool` into the run directory that the agent's environment names. */
export const SESSION_STARTS_FILE = 'sessions.jsonl';

/** One start of a session as the hooks of a harness reported it. */
export type SessionStart = {
  /** Milliseconds. */
  at: number;
  /** `startup`, `resume`, `clear`, `compact`, `fork`, …, in the harness's words. */
  source: string;
  session: string;
  transcript: string | null;
};

const startSchema = z.object({
  at: z.number(),
  type: z.literal('session_start'),
  source: z.string(),
  session: z.string().min(1),
  transcript: z.string().nullable(),
});

/** The session starts that hooks reported in a run directory, oldest first; what cannot be read is left out. */
export function readSessionStarts(run_dir: string): SessionStart[] {
  return endOfFile(join(run_dir, SESSION_STARTS_FILE))
    .split('\n')
    .flatMap((line) => startOf(line));
}

function startOf(line: string): SessionStart[] {
  const parsed = startSchema.safeParse(jsonOf(line));
  if (!parsed.success) return [];
  const { at, source, session, transcript } = parsed.data;
  return [{ at, source, session, transcript }];
}
