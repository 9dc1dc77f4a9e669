import { z } from 'zod';
import { readSettings } from '../../config/settings.ts';
import { type FiberRow, fiberRowSchema } from '../../contract/fiber.ts';
import { activitySchema } from '../../contract/http/activity.ts';
import { commitsSchema } from '../../contract/http/commits.ts';
import { fiberReplySchema } from '../../contract/http/fibers.ts';
import { sentFilesSchema } from '../../contract/http/sent-files.ts';
import { sessionsSchema } from '../../contract/http/sessions.ts';
import { type Spend, spendSchema } from '../../contract/http/spend.ts';
import { count, SERVED_FIBER } from '../command-line/options.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon, type DaemonClient } from '../daemon-client/client.ts';
import { fiberPath } from '../daemon-client/fiber-path.ts';
import { fiberLife, type LifeEntry, lifeEntrySchema } from './log/fiber-life.ts';
import { lifePage } from './log/life-page.ts';

const MINUTE_MS = 60_000;

/** `svc log <fiber>`: a fiber's life on one page, from the ledgers of this host (TMP-1 to TMP-5). */
export const verb = defineVerb({
  summary: 'Show what happened to a fiber, and what it used',
  arguments: { fiber: SERVED_FIBER },
  options: { lines: count('-n, --lines <count>', 'how many of the newest entries to show', 50) },
  examples: [
    ['svc log say-hello', 'what happened to it, and what its sessions used'],
    ['svc log say-hello -n 200 --json', 'the newest 200 entries as JSON'],
  ],
  page: 'ledgers.md',
  json: z.object({
    host: z.string(),
    fiber: fiberRowSchema,
    entries: z.array(lifeEntrySchema),
    earlier: z.number().int(),
    spend: spendSchema.nullable(),
  }),
  async run(context, given) {
    const daemon = await connectDaemon(readSettings(context.env));
    const { fiber } = await daemon.get(`/fibers/${fiberPath(given.fiber)}`, fiberReplySchema);
    const { host, life, spend } = await readLife(daemon, fiber, context.clock.now());
    const earlier = Math.max(0, life.length - given.lines);
    const page = { host, fiber, entries: life.slice(earlier), earlier, spend };
    return { json: page, text: lifePage(page) };
  },
});

async function readLife(
  daemon: DaemonClient,
  fiber: FiberRow,
  now: number,
): Promise<{ host: string; life: LifeEntry[]; spend: Spend | null }> {
  const { uid } = fiber;
  // Of all fibers: a session may have served several, and its prompts and commits belong to one at a time.
  const { host, sessions } = await daemon.get('/sessions', sessionsSchema);
  const own = uid === null ? [] : sessions.filter((line) => line.uid === uid);
  const nothing = { sessions, buckets: [], commits: [], sent_files: [] };
  if (uid === null || own.length === 0) return { host, life: fiberLife(fiber, nothing), spend: null };
  const from = Math.min(...own.map(({ at }) => at));
  const window = `from_ms=${Math.floor(from / MINUTE_MS) * MINUTE_MS}&to_ms=${now + MINUTE_MS}`;
  const query = `uid=${encodeURIComponent(uid)}`;
  const [{ buckets }, { commits }, { sent_files }, spend] = await Promise.all([
    daemon.get(`/activity?${window}`, activitySchema),
    daemon.get('/commits', commitsSchema),
    daemon.get(`/sent-files?${query}`, sentFilesSchema),
    daemon.get(`/spend?${query}`, spendSchema),
  ]);
  return { host, life: fiberLife(fiber, { sessions, buckets, commits, sent_files }), spend };
}
