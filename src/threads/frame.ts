import { Packr } from 'msgpackr';
import { z } from 'zod';
import { CodedError, messageOf } from '../base/errors.ts';

const id = z.number().int().positive();

/** Every message that crosses a thread boundary. `id` pairs a call with its reply or error. */
const frameSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('call'),
    id,
    name: z.string(),
    input: z.unknown(),
    /** The request that the call is made for. */
    request_id: z.string().optional(),
    /** Who asked for it. */
    asked_by: z.string().optional(),
  }),
  z.object({ kind: z.literal('reply'), id, value: z.unknown() }),
  z.object({
    kind: z.literal('error'),
    id,
    code: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()),
  }),
  z.object({ kind: z.literal('event'), name: z.string(), payload: z.unknown() }),
  /** So many events were heard since the last `heard`, with so many bulk bytes. */
  z.object({ kind: z.literal('heard'), notices: id, bytes: z.number().int().nonnegative() }),
  z.object({ kind: z.literal('ping') }),
  z.object({ kind: z.literal('pong') }),
  z.object({ kind: z.literal('begin') }),
  z.object({ kind: z.literal('ready') }),
  z.object({ kind: z.literal('stop') }),
  z.object({ kind: z.literal('stopped') }),
]);
export type Frame = z.infer<typeof frameSchema>;

/** Frames without a body: heartbeats and the steps of start and stop. */
export const CONTROL_KINDS = ['ping', 'pong', 'begin', 'ready', 'stop', 'stopped'] as const;
export type ControlKind = (typeof CONTROL_KINDS)[number];

const packr = new Packr({ useRecords: false, mapsAsObjects: true });

/** Encodes a frame as msgpack in its own buffer, so that it can be transferred. */
export function encodeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  return new Uint8Array(packr.pack(frame));
}

/** Decodes a frame; throws `internal` if the bytes are not one. */
export function decodeFrame(bytes: Uint8Array): Frame {
  let value: unknown;
  try {
    value = packr.unpack(bytes);
  } catch (cause) {
    throw new CodedError('internal', `A thread message is not msgpack: ${messageOf(cause)}`, { cause });
  }
  const parsed = frameSchema.safeParse(value);
  if (!parsed.success)
    throw new CodedError('internal', `A thread message is not a known frame: ${parsed.error.message}`, {
      cause: parsed.error,
    });
  return parsed.data;
}
