import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { CodedError } from '../../../base/errors.ts';
import { fiberDocumentSchema } from '../../../contract/fiber.ts';
import { MAX_DOCUMENT_BYTES } from '../../../fibers/document.ts';
import type { CliContext } from '../../command-line/verb.ts';

/** What `--json` prints for a document that was read or written. */
export const fiberWithBodySchema = z.object({ fiber: fiberDocumentSchema.extend({ body: z.string() }) });

/** The value of a body option: the text itself, or standard input for `-`; a final newline is added if missing. */
export async function readBody(context: CliContext, option: string | undefined): Promise<string | undefined> {
  if (option === undefined) return undefined;
  const body = option === '-' ? await text(context.stdin) : option;
  if (Buffer.byteLength(body) > MAX_DOCUMENT_BYTES) {
    throw new CodedError(
      'invalid_request',
      `the body is longer than ${MAX_DOCUMENT_BYTES} bytes; give a shorter one`,
    );
  }
  return body === '' || body.endsWith('\n') ? body : `${body}\n`;
}
