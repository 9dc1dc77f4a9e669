import {
  type ConversationMessage,
  conversationQuerySchema,
  conversationSchema,
} from '../contract/http/conversation.ts';
import type { MessageLine } from '../contract/ledger.ts';
import { requireOwnUid } from '../contract/own-uid.ts';
import type { AskedConversation } from '../contract/threads/ledgers.ts';
import type { KeptMessage } from '../contract/threads/messages.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

/** `GET /messages`: what was written to and from a fiber or a session, and what became of it. */
export function conversationRows(
  { ledgers, messages, poller }: Pick<Callers, 'ledgers' | 'messages' | 'poller'>,
  { host }: Pick<RouteContext, 'host'>,
): Row[] {
  const ask = async (asked: AskedConversation) => {
    const page = await ledgers.call('conversation', asked);
    if (page.known || asked.fiber === undefined) return page;
    // Another spelling of its id, or a fiber that no worker has had yet; refused if there is no such fiber.
    const { fiber } = await poller.call('fiber', { id: asked.fiber });
    if (fiber.uid === null) return page;
    requireOwnUid(fiber);
    return ledgers.call('conversation', { ...asked, fiber: fiber.uid });
  };
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/messages',
      summary: 'What was written to and from a fiber or a session, and what became of it, the newest of it',
      example: { query: 'session=0198c0de-0000-4000-8000-000000000001&limit=20' },
      page: 'messages.md',
      routing: 'owner',
      state: 'always',
      query: conversationQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: conversationSchema },
      async handler({ query: { fiber, session, limit, before } }) {
        const page = await ask({ fiber, session, limit, before });
        const ids = page.messages.map(({ id }) => id);
        const kept = ids.length === 0 ? [] : (await messages.call('texts', { ids })).messages;
        const byKey = new Map(kept.map((one) => [keyOf(one.receipt.message_id, one.sent_at), one]));
        return {
          status: 200,
          json: {
            host,
            messages: page.messages.map((line) => toldOf(line, byKey.get(keyOf(line.id, line.sent_at)))),
            before: page.before,
          },
        };
      },
    }),
  ];
}

/** An id may be used again after its message is no longer kept. */
function keyOf(id: string, sent_at: number): string {
  return `${id} ${sent_at}`;
}

function toldOf(line: MessageLine, kept: KeptMessage | undefined): ConversationMessage {
  const { id, sent_at, from, to, fiber, uid, wake, bytes, hops } = line;
  const { status, transport, at, reason } = kept?.receipt ?? line;
  const files = kept?.receipt.files;
  return {
    ...{ message_id: id, sent_at, from, to, fiber, uid, status, transport },
    detail: kept?.receipt.detail ?? null,
    ...(reason === undefined ? {} : { reason }),
    ...{ at, wake, hops, bytes, text: kept?.text ?? null },
    ...(files === undefined ? {} : { files }),
  };
}
