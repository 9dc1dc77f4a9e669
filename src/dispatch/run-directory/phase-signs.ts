import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonOf } from '../../base/json-text.ts';
import { endOfFile } from './run-file-end.ts';

/** Written by `HookSpool` into the run directory that the agent's environment names. */
export const PHASE_SIGNS_FILE = 'phases.jsonl';

/** The last sign is at the end of the file; signs of nested agents may follow it. */
const MOST_BYTES = 16 * 1024;

/** What a hook of the agent program reported of its session, or its transcript of an end that no hook reports. */
export type PhaseSign = {
  /** Milliseconds. */
  at: number;
  /** When the same was told last; absent where that is not known. */
  told_at?: number;
  session: string;
  phase: 'working' | 'waiting' | 'attention' | 'idle';
  /** What the agent said or asked last, where the hook tells. */
  said: string | null;
  /** Absent for a hook. */
  source?: 'transcript';
};

const signSchema = z.object({
  at: z.number(),
  session: z.string().min(1),
  phase: z.enum(['working', 'waiting', 'attention', 'idle']),
  said: z.string().nullable(),
});

/** The last signs that hooks left in a run directory, oldest first; what cannot be read is left out. */
export function readPhaseSigns(run_dir: string): PhaseSign[] {
  return endOfFile(join(run_dir, PHASE_SIGNS_FILE), MOST_BYTES).split('\n').flatMap(signOf);
}

/** Changes whenever a hook has reported more; null where nothing was reported, or the file cannot be checked. */
export function phaseSignsMark(run_dir: string): string | null {
  try {
    const entry = statSync(join(run_dir, PHASE_SIGNS_FILE), { throwIfNoEntry: false });
    return entry === undefined ? null : `${entry.ino} ${entry.size}`;
  } catch {
    return null;
  }
}

function signOf(line: string): PhaseSign[] {
  const { data } = signSchema.safeParse(jsonOf(line));
  return data === undefined ? [] : [data];
}
