import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import {
  type Conversation,
  type ConversationMessage,
  conversationSchema,
  MOST_MESSAGES,
} from '../../contract/http/conversation.ts';
import {
  canonicalAddress,
  looksLikeAddress,
  nativeIdOf,
  parseAddress,
} from '../../contract/session-address.ts';
import { argument, count } from '../command-line/options.ts';
import { formatMoment } from '../command-line/output.ts';
import { asWritten } from '../command-line/typed-command.ts';
import { type CliContext, defineVerb } from '../command-line/verb.ts';
import { connectDaemon, type DaemonClient } from '../daemon-client/client.ts';
import { askForFiber, atHost } from '../daemon-client/daemon-of-fiber.ts';
import { ownSession } from '../own-session.ts';

/** `svc inbox [fiber|address]`: what was written to a session, and from it. */
export const verb = defineVerb({
  summary: 'Show the messages of this session or of a fiber',
  arguments: {
    of: argument('[fiber|address]', 'whose messages; the session or the fiber of this worker otherwise', {
      completes: 'fibers',
    }),
  },
  options: {
    lines: count('-n, --lines <count>', 'how many of the newest messages to show; at most 200', 20),
  },
  examples: [
    ['svc inbox', 'typed by an agent: the messages of its session, and how to answer each'],
    ['svc inbox say-hello -n 5', 'the newest 5 messages of the workers of a fiber'],
  ],
  page: 'messages.md',
  json: conversationSchema,
  async run(context, { of, lines }) {
    if (lines < 1 || lines > MOST_MESSAGES)
      throw new CodedError('invalid_request', `-n takes 1 to ${MOST_MESSAGES} messages`);
    const whose = whoseMessages(context, of);
    const query = (named: Record<string, string>) => new URLSearchParams({ ...named, limit: String(lines) });
    const page =
      'fiber' in whose
        ? await askForFiber(context, { fiber: whose.fiber, host: undefined }, ({ daemon, fiber }) =>
            daemon.get(`/messages?${query({ fiber })}`, conversationSchema),
          )
        : await (await daemonOf(context, whose)).get(
            `/messages?${query({ session: whose.session })}`,
            conversationSchema,
          );
    return { json: page, text: inboxPage(page, whose, context) };
  },
});

/** `host` is that of an address; without one the session is of this host. */
type Whose = { session: string; host?: string } | { fiber: string };

function whoseMessages(context: CliContext, of: string | undefined): Whose {
  if (of !== undefined && !looksLikeAddress(of)) return { fiber: of };
  if (of !== undefined) {
    const { native_id, host } = parseAddress(of);
    return { session: native_id, host };
  }
  const session = ownSession(context);
  if (session !== null) return { session: session.native_id };
  const fiber = context.env.SVC_FIBER_UID ?? '';
  if (fiber !== '') return { fiber };
  throw new CodedError(
    'invalid_request',
    'this is no session of an agent; name a fiber or an address, as svc peers lists them',
  );
}

/** Throws `unknown_host`: a daemon that is asked for a host that it does not know answers for its own. */
async function daemonOf(context: CliContext, { host }: { host?: string }): Promise<DaemonClient> {
  const daemon = await connectDaemon(readSettings(context.env));
  return host === undefined ? daemon : (await atHost(daemon, host)).daemon;
}

function inboxPage({ messages, before }: Conversation, whose: Whose, { clock }: CliContext): string {
  if (messages.length === 0) return 'No messages.\n';
  const more = messages.length < MOST_MESSAGES ? `; show more with: -n ${MOST_MESSAGES}` : '';
  const head = before === null ? [] : [`There are earlier messages${more}\n`];
  return [...head, ...messages.map((message) => messageBlock(message, whose, clock.now()))].join('\n');
}

function messageBlock(message: ConversationMessage, whose: Whose, now: number): string {
  const { message_id, sent_at, from, to, text, bytes } = message;
  const isSent = 'session' in whose && nativeIdOf(from) === whose.session;
  const head = `${formatMoment(sent_at, now)}  ${isSent ? `to ${to}` : `from ${from}`}\n  ${stageOf(message)}; message ${message_id}\n`;
  const body = text === null ? `(${bytes} bytes, no longer kept)` : asWritten(text);
  // Marked, so that no line of a message can pass for a line of the page.
  const marked = body.split('\n').map((line) => `  | ${line}\n`);
  const paths = (message.files ?? []).map(({ path }) => `  File: ${path}\n`).join('');
  const address = isSent ? null : canonicalAddress(from);
  const answer = address === null ? '' : `  Answer with: svc send ${address} '…'\n`;
  return `${head}${marked.join('')}${paths}${answer}`;
}

function stageOf({ status, transport, reason }: ConversationMessage): string {
  if (transport === 'held') return 'held';
  return reason === undefined ? status : `${status} (${reason})`;
}
