import { z } from 'zod';
import { sleep } from '../../base/clock.ts';
import { isCoded } from '../../base/errors.ts';
import type { FiberRow } from '../../contract/fiber.ts';
import { fiberReplySchema } from '../../contract/http/fibers.ts';
import { wordsSchema } from '../../contract/http/moment.ts';
import { sessionsCompositeSchema } from '../../contract/http/sessions.ts';
import { type TranscriptWords, transcriptWordsSchema } from '../../contract/http/transcript-words.ts';
import type { SessionLine } from '../../contract/ledger.ts';
import { count, JSON_OPTION, ON_HOST, option, SERVED_FIBER } from '../command-line/options.ts';
import { type CliContext, defineVerb, EXIT } from '../command-line/verb.ts';
import type { DaemonClient } from '../daemon-client/client.ts';
import { readFiber } from '../daemon-client/daemon-of-fiber.ts';
import { fiberPath } from '../daemon-client/fiber-path.ts';
import { chooseConversation, linesOfHost, runningSession } from './transcript/fiber-sessions.ts';
import { type Place, pagesFrom, placeOfNewest, type ReadPage } from './transcript/pages.ts';
import { NOTHING_PRINTED, type Printed, wordsPage } from './transcript/words-page.ts';

/** Between two looks at a conversation that goes on, in milliseconds. */
const LOOK_MS = 1_000;

/** `svc transcript <fiber>`: what was said in its conversation (RPL-12). */
export const verb = defineVerb({
  summary: 'Show the conversation of a fiber’s worker',
  arguments: { fiber: SERVED_FIBER },
  options: {
    follow: option('-f, --follow', 'keep showing what is said, in later sessions too, until interrupted'),
    lines: count('-n, --lines <count>', 'how many of the newest messages to show', 50),
    session: option(
      '--session <id>',
      'another session: its id or the beginning of it, as svc log --verbose shows it',
    ),
    host: ON_HOST,
    json: { ...JSON_OPTION, description: 'print each message as one line of JSON' },
  },
  examples: [
    ['svc transcript say-hello', 'the newest 50 messages of its running worker, or of its last one'],
    ['svc transcript say-hello -f -n 5', 'the last five, then every new one'],
    ['svc transcript say-hello --session 0198c0de -n 100000 > talk.txt', 'a whole earlier conversation'],
  ],
  page: 'files.md',
  json: wordsSchema.extend({ session: z.string(), byte: z.number() }),
  async run(context, { fiber: reference, follow, lines, session: wanted, host, json }) {
    const open = () => openFiber(context, reference, host);
    const of = await open();
    let is_silent = true;
    const show = printerOf(context, json === true);
    const print: Print = (page) => {
      if (page.words.length > 0) is_silent = false;
      show(page);
    };
    const session = chooseConversation(of.fiber, await ledgerOf(of), wanted);
    const newest = () => printNewest(of.readerOf(session), lines, print);
    if (follow !== true) {
      await newest();
      if (is_silent && json !== true) context.out(`${NOTHING_SAID}.\n`);
      return EXIT.ok;
    }
    const begun = { session, to: await onceWritten(newest, 0) };
    if (is_silent && json !== true)
      context.err(`svc: ${NOTHING_SAID.toLowerCase()}; what is said is shown here\n`);
    return followOn(context, { open, of, begun, print, only: wanted !== undefined });
  },
});

const NOTHING_SAID = 'Nothing has been said in this conversation yet';

type Opened = {
  daemon: DaemonClient;
  fiber: FiberRow;
  /** The host that the fiber is on; null for the one that answers. */
  at: string | null;
  readerOf(session: string): ReadPage<TranscriptWords>;
};

async function openFiber(context: CliContext, reference: string, host: string | undefined): Promise<Opened> {
  const { daemon, fiber, host: at } = await readFiber(context, reference, host);
  const place = at === null ? '' : `&host=${encodeURIComponent(at)}`;
  return {
    ...{ daemon, fiber, at },
    readerOf: (session) => (wish) => {
      const more = Object.entries(wish).map(([name, byte]) => `&${name}=${byte}`);
      const query = `session=${encodeURIComponent(session)}${place}${more.join('')}`;
      return daemon.get(`/transcript/words?${query}`, transcriptWordsSchema);
    },
  };
}

async function ledgerOf({ daemon, fiber: { uid }, at }: Opened): Promise<SessionLine[]> {
  if (uid === null) return [];
  const path = `/sessions/composite?uid=${encodeURIComponent(uid)}`;
  return linesOfHost(await daemon.get(path, sessionsCompositeSchema), at);
}

type Following = {
  open(): Promise<Opened>;
  of: Opened;
  begun: Followed;
  print: Print;
  /** No later session. */
  only: boolean;
};

/** Prints what is said until it is interrupted. Where a daemon stops answering it waits until one does. */
async function followOn(context: CliContext, { open, of, begun, print, only }: Following): Promise<never> {
  let opened: Opened | null = of;
  let said = begun;
  // Of several pages the last may fail.
  const follow: Print = (page) => {
    print(page);
    said = { session: page.session, to: page.to };
  };
  for (;;) {
    await sleep(context.clock, LOOK_MS);
    const was_lost = opened === null;
    try {
      opened ??= await open();
      said = await lookOn(opened, said, { print: follow, only });
    } catch (error) {
      if (!isCoded(error) || !GOES_BY.has(error.code)) throw error;
      opened = null;
      if (!was_lost) context.err(`svc: ${error.message}; what is said meanwhile is shown afterwards\n`);
    }
  }
}

/** A daemon that restarts, here or on the other host. */
const GOES_BY: ReadonlySet<string> = new Set(['daemon_unreachable', 'booting', 'remote_unreachable']);

async function lookOn(
  { daemon, fiber, readerOf }: Opened,
  said: Followed,
  { print, only }: Pick<Following, 'print' | 'only'>,
): Promise<Followed> {
  const { session, to: from } = said;
  const to = await onceWritten(() => printFrom(readerOf(session), { byte: from, skip: 0 }, print), from);
  if (to !== from || only) return { session, to };
  const { fiber: now } = await daemon.get(`/fibers/${fiberPath(fiber.id)}`, fiberReplySchema);
  const next = runningSession(now) ?? session;
  return next === session ? said : { session: next, to: 0 };
}

/** A conversation that is followed, and the byte up to which it is printed. */
type Followed = { session: string; to: number };

type Print = (page: TranscriptWords) => void;

function printerOf(context: CliContext, as_json: boolean): Print {
  let shown: { session: string; printed: Printed } | null = null;
  return ({ session, harness, words }) => {
    if (as_json) {
      for (const one of words) context.out(`${JSON.stringify({ session, ...one })}\n`);
      return;
    }
    if (shown !== null && shown.session !== session && words.length > 0)
      context.out(`\nAnother session: ${session}\n`);
    const printed = shown?.session === session ? shown.printed : NOTHING_PRINTED;
    const page = wordsPage(words, { ...context, agent: harness, printed, now: context.clock.now() });
    context.out(page.text);
    if (words.length > 0) shown = { session, printed: page.printed };
  };
}

/** Prints the newest messages; returns the byte up to which they are printed. */
async function printNewest(read: ReadPage<TranscriptWords>, lines: number, print: Print): Promise<number> {
  return printFrom(read, await placeOfNewest(read, lines), print);
}

async function printFrom(read: ReadPage<TranscriptWords>, from: Place, print: Print): Promise<number> {
  let { byte } = from;
  for await (const page of pagesFrom(read, from)) {
    print(page);
    byte = page.to;
  }
  return byte;
}

/** An agent program writes the first line of a transcript with its first turn: until then `otherwise`. */
async function onceWritten<T>(read: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isCoded(error, 'transcript_missing')) return otherwise;
    throw error;
  }
}
