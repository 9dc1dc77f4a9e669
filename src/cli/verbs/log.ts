import { z } from 'zod';
import { isCoded } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import { fiberRowSchema } from '../../contract/fiber.ts';
import { type LifeEntry, lifeEntrySchema, lifeSchema, MOST_ENTRIES } from '../../contract/http/life.ts';
import { type Spend, spendSchema } from '../../contract/http/spend.ts';
import { versionSchema } from '../../contract/http/version.ts';
import { count, ON_HOST, option, SERVED_FIBER } from '../command-line/options.ts';
import { svcIn } from '../command-line/typed-command.ts';
import { defineVerb } from '../command-line/verb.ts';
import type { DaemonClient } from '../daemon-client/client.ts';
import { readFiber } from '../daemon-client/daemon-of-fiber.ts';
import { exchangesOf } from './log/exchanges.ts';
import { type LifePage, lifePage } from './log/life-page.ts';

/** `svc log <fiber>`: a fiber's life on one page, from the ledgers of its host (TMP-1 to TMP-5). */
export const verb = defineVerb({
  summary: 'Show what happened to a fiber, and what it used',
  arguments: { fiber: SERVED_FIBER },
  options: {
    lines: count('-n, --lines <count>', 'how many of the newest entries to show', 50),
    verbose: option('-v, --verbose', 'the session of each entry too, and the tokens of each session'),
    host: ON_HOST,
  },
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
    const { daemon, fiber, host } = await readFiber(context, given.fiber, given.host);
    const page = { fiber, ...(await readLife(daemon, fiber.uid, given.lines)) };
    // Only this host reads its transcripts by time.
    const exchanges =
      host === null && given.json !== true ? await exchangesOf(daemon, page.entries) : NONE_KNOWN;
    const command = `${svcIn(context)} log ${shellWord(given.fiber)}`;
    const now = context.clock.now();
    const options = { ...context, now, command, verbose: given.verbose ?? false };
    return { json: page, text: lifePage({ ...page, exchanges }, options) };
  },
});

const NONE_KNOWN: LifePage['exchanges'] = new Map();

async function readLife(daemon: DaemonClient, uid: string | null, lines: number) {
  if (uid === null) {
    // No worker has had it, for the first one would have given it a uid.
    const { host } = await daemon.get('/version', versionSchema);
    return { host, entries: [], earlier: 0, spend: null };
  }
  const query = `uid=${encodeURIComponent(uid)}`;
  const life = await readEntries(daemon, query, lines);
  const is_empty = life.entries.length + life.earlier === 0;
  return { ...life, spend: is_empty ? null : await spendOf(daemon, query) };
}

async function spendOf(daemon: DaemonClient, query: string): Promise<Spend | null> {
  try {
    return await daemon.get(`/spend?${query}`, spendSchema);
  } catch (error) {
    // A page without what its workers cost is better than none.
    if (isCoded(error, 'file_unavailable')) return null;
    throw error;
  }
}

/** The newest entries, asked for in as many parts as it takes. */
async function readEntries(daemon: DaemonClient, query: string, lines: number) {
  let entries: LifeEntry[] = [];
  for (;;) {
    const limit = Math.min(Math.max(1, lines - entries.length), MOST_ENTRIES);
    const [first] = entries;
    const before = first === undefined ? '' : `&before_ms=${first.at}`;
    const part = await daemon.get(`/fiber-life?${query}&limit=${limit}${before}`, lifeSchema);
    entries = [...part.entries, ...entries];
    const extra = Math.max(0, entries.length - lines);
    if (entries.length >= lines || part.earlier === 0)
      return { host: part.host, entries: entries.slice(extra), earlier: part.earlier + extra };
  }
}
