import { z } from 'zod';
import { sleep } from '../../base/clock.ts';
import { CodedError, isCoded } from '../../base/errors.ts';
import { svcOf } from '../../config/own-command.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import { fiberRowSchema } from '../../contract/fiber.ts';
import { stateSchema } from '../../contract/http/state.ts';
import { versionSchema } from '../../contract/http/version.ts';
import { argument, ON_HOST, option } from '../command-line/options.ts';
import { type CliContext, defineVerb, type Terminal } from '../command-line/verb.ts';
import { connectDaemon, type DaemonClient } from '../daemon-client/client.ts';
import { readFiber } from '../daemon-client/daemon-of-fiber.ts';
import { countCommits } from './status/commit-counts.ts';
import { FeedRows } from './status/feed-rows.ts';
import { fiberPage } from './status/fiber-page.ts';
import { placedRowSchema } from './status/place.ts';
import { LINES_SHOWN, printStatus } from './status/print-status.ts';
import { type StatusFacts, type StatusPage, statusPage, statusPageSchema } from './status/status-page.ts';

const rowsSchema = z.object({ fibers: z.array(placedRowSchema) });
/** Between two looks at the feed, and between two drawings at the latest, in milliseconds. */
const LOOK_MS = 1_000;
const REDRAW_MS = 10_000;
/** How long the page waits for the numbers of commits, in milliseconds. */
const COUNTING_MS = 300;

/** `svc status [fiber]`: what needs a person and what goes on, or one fiber (OPR-2). */
export const verb = defineVerb({
  summary: 'Show what needs you and what goes on, or one fiber',
  arguments: { fiber: argument('[fiber]', 'id, uid or the beginning of an id') },
  options: {
    watch: option('-w, --watch', 'on a terminal: draw it again whenever something changes, until Ctrl-C'),
    all: option('--all', 'every line, however many there are'),
    verbose: option('-v, --verbose', 'of one fiber its uid and its session too'),
    host: ON_HOST,
  },
  examples: [
    ['svc status', 'what needs you, what runs, and what cannot start and why'],
    ['svc status say-hello', 'one fiber'],
    ['svc status --watch', 'the same, kept up to date in place'],
    ['svc status --json', 'the same and the whole state of the daemon as JSON'],
  ],
  note: 'Into a file or a pipe each thing is a line, with its group first and tabs between its parts.',
  page: 'status.md',
  json: z.union([
    z.object({ version: versionSchema, state: stateSchema, page: statusPageSchema }),
    fiberRowSchema,
  ]),
  async run(context, { fiber: id, all = false, verbose = false, watch = false, host, json = false }) {
    const now = context.clock.now();
    if (id !== undefined) {
      if (watch) throw new CodedError('invalid_request', '--watch shows all fibers; leave the fiber out');
      const { fiber } = await readFiber(context, id, host);
      return { json: fiber, text: fiberPage(fiber, now, verbose) };
    }
    if (host !== undefined)
      throw new CodedError('invalid_request', '--host takes a fiber; svc fleet shows the other hosts');
    const settings = readSettings(context.env);
    const svc = svcOf(settings);
    if (watch) {
      if (context.terminal === null || json)
        throw new CodedError('invalid_request', '--watch takes a terminal; svc status prints the page once');
      return watchStatus(context, context.terminal, settings, { all, svc });
    }
    const daemon = await connectDaemon(settings);
    const { version, state, rows } = await readAll(daemon);
    const facts = { rows, state, version, now, svc };
    // Programs read ids.
    const forProgram = json || context.width === Number.POSITIVE_INFINITY;
    const page = statusPage(facts);
    const commits = forProgram ? new Map<string, number>() : await commitsOf(context, daemon, page, rows);
    return {
      json: { version, state, page },
      text: printStatus(page, { ...context, now, all, svc, commits }),
    };
  },
});

/** The commits of what is shown first. */
function commitsOf(
  { clock }: Pick<CliContext, 'clock'>,
  daemon: DaemonClient,
  { working, review }: StatusPage,
  rows: StatusFacts['rows'],
): Promise<ReadonlyMap<string, number>> {
  const uids = new Map(rows.map(({ id, uid }) => [id, uid]));
  const shown = [
    ...working.slice(0, LINES_SHOWN).map(({ fiber_id, started_at }) => ({ fiber_id, since: started_at })),
    ...review.slice(0, LINES_SHOWN).map(({ what }) => ({ fiber_id: what, since: 0 })),
  ];
  const asked = shown.flatMap((one) => {
    const uid = uids.get(one.fiber_id) ?? null;
    return uid === null ? [] : [{ ...one, uid }];
  });
  return countCommits(daemon, asked, { clock, most_ms: COUNTING_MS });
}

/** The version and the state of the daemon, and its rows as they are asked for. */
async function readAll(
  daemon: DaemonClient,
  readRows = async () => (await daemon.get('/fibers', rowsSchema)).fibers,
) {
  const version = await daemon.get('/version', versionSchema);
  if (!version.ready)
    throw new CodedError('booting', 'the daemon is still starting; svc daemon status shows how far it is');
  const [state, rows] = await Promise.all([daemon.get('/state', stateSchema), readRows()]);
  return { version, state, rows };
}

/**
 * Draws the page in place when the feed moves, and now and then for the times in it; until it is interrupted. While the daemon
 * gives no answer, it shows why.
 */
async function watchStatus(
  context: CliContext,
  terminal: Terminal,
  settings: Settings,
  { all, svc }: { all: boolean; svc: string },
): Promise<never> {
  const { clock } = context;
  let daemon: DaemonClient | null = null;
  let feed = new FeedRows();
  let counted = { at: 0, commits: new Map() as ReadonlyMap<string, number> };
  for (;;) {
    try {
      daemon ??= await connectDaemon(settings);
      const asked = daemon;
      const { version, state, rows } = await readAll(daemon, () => feed.read(asked));
      const drawn_at = clock.now();
      const page = statusPage({ rows, state, version, now: drawn_at, svc });
      if (drawn_at - counted.at >= REDRAW_MS)
        counted = { at: drawn_at, commits: await commitsOf(context, daemon, page, rows) };
      const { commits } = counted;
      terminal.draw(
        printStatus(page, { ...context, width: terminal.width(), now: drawn_at, all, svc, commits }),
      );
      do await sleep(clock, LOOK_MS);
      while (!terminal.isStale() && !(await feed.update(daemon)) && clock.now() - drawn_at < REDRAW_MS);
    } catch (error) {
      if (!isCoded(error)) throw error;
      daemon = null;
      feed = new FeedRows();
      terminal.draw([{ tone: 'fault', text: error.message }, '\nIt is asked again each second.\n']);
      await sleep(clock, LOOK_MS);
    }
  }
}
