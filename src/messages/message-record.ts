import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Message, type Receipt, receiptSchema } from '../contract/http/messages.ts';

/**
 * What is kept of one message. `waiting`: nothing was given to a session yet; `sending`: from here on something may have
 * been, so it is never given again; `sent`: given, or at an end. Times are milliseconds since the Unix epoch.
 */
export const messageRecordSchema = z.object({
  version: z.literal(1),
  state: z.enum(['waiting', 'sending', 'sent']),
  message_id: z.string(),
  /** Digest of everything that the caller chose; a repeated id must have the same. */
  request: z.string(),
  address: z.string(),
  from: z.string(),
  text: z.string(),
  wake: z.boolean(),
  created_at: z.number(),
  /** The fiber whose worker it was given to. */
  fiber: z.object({ id: z.string(), uid: z.string() }).nullable(),
  /**
   * Where evidence is: the transcript, and its size before the message was given; or the app conversation by its id. Null
   * before the message was given.
   */
  evidence: z
    .union([
      z.object({ transcript: z.string().nullable(), offset: z.number() }),
      z.object({ conversation: z.string() }),
    ])
    .nullable(),
  receipt: receiptSchema,
});
export type MessageRecord = z.infer<typeof messageRecordSchema>;

/** A message as it was accepted from a caller. */
export type Accepted = Omit<Message, 'attachments' | 'dry_run' | 'origin'>;

export function digestOf({ address, text, from, wake }: Omit<Accepted, 'message_id'>): string {
  return createHash('sha256')
    .update(JSON.stringify([address, text, from, wake]))
    .digest('hex');
}

/** A message as it was accepted, with the canonical address. */
export function newRecord(message: Accepted, now: number): MessageRecord {
  const { message_id, address, from, text, wake } = message;
  return {
    version: 1,
    state: 'waiting',
    ...{ message_id, address, from, text, wake },
    request: digestOf(message),
    created_at: now,
    fiber: null,
    evidence: null,
    receipt: {
      ...{ message_id, address },
      status: 'queued',
      transport: 'held',
      detail: 'it waits here; nothing was given to the session yet',
      at: now,
    },
  };
}

const ORDER: readonly Receipt['status'][] = ['unknown', 'queued', 'submitted', 'accepted'];

/** True if the evidence says more than the receipt; a receipt never goes back (MDS-1). */
export function saysMore(found: Receipt['status'], known: Receipt['status']): boolean {
  const at = ORDER.indexOf(known);
  return at !== -1 && ORDER.indexOf(found) > at;
}
