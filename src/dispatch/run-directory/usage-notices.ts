import { join } from 'node:path';
import { z } from 'zod';
import { jsonOf } from '../../base/json-text.ts';
import { endOfFile } from './run-file-end.ts';

/** Written by `HookSpool` into the run directory when a turn failed at a limit of the account. */
export const USAGE_NOTICES_FILE = 'usage-limits.jsonl';

const noticeSchema = z.object({ at: z.number(), type: z.literal('usage_limit'), notice: z.string().min(1) });
/** What an agent program said to its hooks; `at` in milliseconds. */
export type UsageNotice = { at: number; notice: string };

/** The newest notice of a usage limit that hooks reported in a run directory; lines that cannot be read are left out. */
export function readUsageNoticeOf(run_dir: string): UsageNotice | null {
  const lines = endOfFile(join(run_dir, USAGE_NOTICES_FILE)).split('\n');
  for (const line of lines.reverse()) {
    const notice = noticeIn(line);
    if (notice !== null) return notice;
  }
  return null;
}

function noticeIn(line: string): UsageNotice | null {
  const { success, data } = noticeSchema.safeParse(jsonOf(line));
  return success ? { at: data.at, notice: data.notice } : null;
}
