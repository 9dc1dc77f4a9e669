import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import type { LentBytes } from '../base/lent-bytes.ts';
import type { Logger } from '../base/logger.ts';
import type { CallTable } from '../contract/threads/call-table.ts';
import { WithBulk, WithParts } from './bulk.ts';
import type { Handlers } from './calls.ts';
import { encodeFrame, type Frame } from './frame.ts';

export type Served = {
  frame: Frame;
  bulk: Uint8Array | null;
  parts: readonly LentBytes[];
};

/** Runs the handler of one call and resolves to its reply or error frame; never rejects. */
export async function serveCall<C extends CallTable>(
  table: C,
  handlers: Handlers<C>,
  call: { id: number; name: string; input: unknown },
  bulk: Uint8Array | null,
  logger: Logger,
): Promise<Served> {
  try {
    const spec = Object.hasOwn(table, call.name) ? table[call.name] : undefined;
    const handler = handlers[call.name];
    if (spec === undefined || handler === undefined)
      throw new CodedError('internal', `No handler serves the call ${call.name}`);
    const input = spec.input.safeParse(call.input);
    if (!input.success)
      throw new CodedError('invalid_request', `The input of ${call.name} is wrong: ${input.error.message}`, {
        details: {
          issues: input.error.issues.map(({ path, message }) => ({ path: path.map(String), message })),
        },
      });
    const answer: unknown = await handler(input.data as never, bulk);
    const reply = (value: unknown): Frame => ({ kind: 'reply', id: call.id, value });
    if (answer instanceof WithBulk) return { frame: reply(answer.value), bulk: answer.bytes, parts: [] };
    if (answer instanceof WithParts) return { frame: reply(answer.value), bulk: null, parts: answer.parts };
    return { frame: reply(answer), bulk: null, parts: [] };
  } catch (error) {
    if (!isCoded(error)) logger.error({ err: error, call: call.name }, 'a call failed unexpectedly');
    return { frame: errorFrame(call.id, error), bulk: null, parts: [] };
  }
}

/** The frame that carries an error to the caller; any error but a `CodedError` becomes `internal`. */
export function errorFrame(id: number, error: unknown): Frame {
  const message = messageOf(error);
  if (!isCoded(error)) return { kind: 'error', id, code: 'internal', message, details: {} };
  const frame: Frame = { kind: 'error', id, code: error.code, message, details: error.details };
  try {
    encodeFrame(frame);
    return frame;
  } catch {
    return { ...frame, details: {} };
  }
}
