import { z } from 'zod';
import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { sessionsSchema } from '../../contract/http/sessions.ts';
import { spendSchema, type Tokens, tokensSchema } from '../../contract/http/spend.ts';
import { choice, option } from '../command-line/options.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { sinceOf, spendPage } from './spend/spend-page.ts';
import { begunSessions, SPEND_KEYS, tallySpend } from './spend/tally.ts';

const DEFAULT_SINCE = '7d';

/** `svc spend`: what the sessions of this host used, as their providers counted it (P25). */
export const verb = defineVerb({
  summary: 'Show how many tokens the workers of this host used',
  options: {
    by: choice('--by <what>', SPEND_KEYS, 'one line for each of these; default: fiber'),
    since: option('--since <when>', 'only sessions begun since: 24h, 7d, 4w, 2026-11-20 or all; default: 7d'),
  },
  examples: [
    ['svc spend', 'what each fiber used in sessions begun in the last seven days'],
    ['svc spend --by agent --since 2026-11-01', 'the same by agent, since a day'],
    ['svc spend --by day --since 4w --json', 'by the day on which a session began, as JSON'],
  ],
  page: 'ledgers.md',
  json: z.object({
    host: z.string(),
    by: z.enum(SPEND_KEYS),
    /** Milliseconds since the Unix epoch; null for all. */
    since: z.number().nullable(),
    /** Those that used most first; days in their order. `unknown`: sessions of these that nobody counted. */
    rows: z.array(
      z.object({
        key: z.string(),
        sessions: z.number().int(),
        unknown: z.number().int(),
        tokens: tokensSchema.nullable(),
      }),
    ),
    total: tokensSchema.nullable(),
    unknown: z.number().int(),
  }),
  async run(context, { by = 'fiber', since: wanted = DEFAULT_SINCE }) {
    const since = sinceOf(wanted, context.clock.now());
    if (since === undefined)
      throw new CodedError(
        'invalid_request',
        `"${wanted}" is no time; give hours, days or weeks (24h, 7d, 4w), a day (2026-11-20) or all`,
      );
    const daemon = await connectDaemon(readSettings(context.env));
    const { host, sessions: lines } = await daemon.get('/sessions', sessionsSchema);
    const begun = begunSessions(lines, since ?? 0);
    const questions = begun.map(({ uid, session }) =>
      uid === null ? `session=${encodeURIComponent(session)}` : `uid=${encodeURIComponent(uid)}`,
    );
    const spent = new Map<string, Tokens | null>();
    // One fiber after the other: the daemon reads what its transcripts have grown by since the last time.
    for (const query of new Set(questions))
      for (const { session, tokens } of (await daemon.get(`/spend?${query}`, spendSchema)).sessions)
        spent.set(session, tokens);
    const tally = { host, by, since, ...tallySpend(begun, spent, by) };
    return { json: tally, text: spendPage(tally, { width: context.width, now: context.clock.now() }) };
  },
});
