import { messageOf } from '../base/errors.ts';
import type { Reply } from './reply.ts';
import type { ReplySchema } from './row.ts';

/** Most bytes of an answer that is read whole. */
const MOST_ANSWER_BYTES = 1024 * 1024;

/**
 * An answer of another host, read whole; a refusal is taken as it is, and every other one has to have the shape of its
 * status. Throws a sentence that says what it is instead.
 */
export async function wholeAnswer(
  reply: Reply,
  replies: Readonly<Record<number, ReplySchema>>,
): Promise<Reply> {
  const { status } = reply;
  const schema = replies[status];
  if (status >= 400) return reply;
  if (!('relayed' in reply) || typeof schema !== 'object' || !('safeParse' in schema))
    throw new Error(`its status is ${status}`);
  const bytes = await bytesIn(reply.relayed);
  if (!schema.safeParse(jsonIn(bytes)).success) throw new Error('its answer does not have the expected form');
  return { ...reply, relayed: once(bytes), size: bytes.length };
}

async function bytesIn(relayed: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of relayed) {
      length += piece.length;
      if (length > MOST_ANSWER_BYTES) break;
      pieces.push(piece);
    }
  } catch (error) {
    throw new Error(`its answer broke off: ${messageOf(error)}`, { cause: error });
  }
  if (length > MOST_ANSWER_BYTES) throw new Error('its answer is too long');
  return Buffer.concat(pieces);
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
