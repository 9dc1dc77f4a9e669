import { z } from 'zod';
import { sha256Of } from '../base/digest.ts';
import { type StoredFile, storedFileSchema } from '../contract/http/attachments.ts';
import { type Receipt, receiptSchema } from '../contract/http/messages.ts';
import type { CheckedMessage } from '../contract/threads/messages.ts';

/**
 * What is kept of one message. `waiting`: nothing was given to a session yet; `sending`: from here on something may have
 * been, so it is never given again; `sent`: given, or at an end. Times are milliseconds since the Unix epoch.
 */
export const messageRecordSchema = z.object({
  version: z.literal(1),
  state: z.enum(['waiting', 'sending', 'sent']),
  message_id: z.string(),
  /** Of the lines around its text, and its id in an app conversation; null in the records of earlier daemons. */
  nonce: z.string().nullable().default(null),
  /** Digest of everything that the caller chose; a repeated id must have the same. */
  request: z.string(),
  address: z.string(),
  from: z.string(),
  text: z.string(),
  wake: z.boolean(),
  /** How many messages of its two sessions it answers, one the other, without an hour's pause. */
  hops: z.number().int().default(0),
  /** Where its files are kept. */
  files: z.array(storedFileSchema).default([]),
  created_at: z.number(),
  /** The fiber whose worker it was given to. */
  fiber: z.object({ id: z.string(), uid: z.string() }).nullable(),
  /**
   * Where evidence is: the transcript, and its size before the message was given; or the app conversation by its id. Null
   * before the message was given. `way`: the transport if it was not typed into the terminal.
   */
  evidence: z
    .union([
      z.object({ transcript: z.string().nullable(), offset: z.number(), way: z.string().optional() }),
      z.object({ conversation: z.string() }),
    ])
    .nullable(),
  receipt: receiptSchema,
});
export type MessageRecord = z.infer<typeof messageRecordSchema>;

/** A message as it was accepted from a caller. */
export type Accepted = Omit<CheckedMessage, 'dry_run'>;

export function digestOf({ address, text, from, wake, files }: Omit<Accepted, 'message_id'>): string {
  const chosen: unknown[] = [address, text, from, wake];
  // Without files it is the digest that records had before there were files.
  if (files.length > 0) chosen.push(files.map(({ name, sha256 }) => [name, sha256]));
  return sha256Of(JSON.stringify(chosen));
}

/** A message as it was accepted, with the canonical address and the files that were kept of it. */
export function newRecord(
  message: Accepted,
  { files, nonce, now }: { files: StoredFile[]; nonce: string; now: number },
): MessageRecord {
  const { message_id, address, from, text, wake } = message;
  return {
    version: 1,
    state: 'waiting',
    ...{ message_id, nonce, address, from, text, wake, files },
    hops: 0,
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
      ...filesOf(files, 'queued'),
    },
  };
}

/**
 * The id of a message in an app conversation. Not the one that its sender chose: what is in the conversation already may
 * have that.
 */
export function idInConversation({ nonce, message_id }: Pick<MessageRecord, 'nonce' | 'message_id'>): string {
  return nonce ?? message_id;
}

/** The receipt of a message at a stage. */
export function receiptOf(
  { message_id, address, files }: MessageRecord,
  stage: Pick<Receipt, 'status' | 'transport' | 'detail' | 'reason'>,
  at: number,
): Receipt {
  return { message_id, address, ...stage, at, ...filesOf(files, stage.status) };
}

/** The files of a rejected message are deleted. */
function filesOf(files: StoredFile[], status: Receipt['status']): Pick<Receipt, 'files'> {
  return files.length === 0 || status === 'rejected' ? {} : { files };
}

/** A message with a wake is never `context_added`, and one without is never `submitted` or more (MDS-1). */
const ORDER: readonly Receipt['status'][] = ['unknown', 'queued', 'context_added', 'submitted', 'accepted'];

/** True if the evidence says more than the receipt; a receipt never goes back (MDS-1). */
export function saysMore(found: Receipt['status'], known: Receipt['status']): boolean {
  const at = ORDER.indexOf(known);
  return at !== -1 && ORDER.indexOf(found) > at;
}
