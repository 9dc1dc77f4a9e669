import { fileMessageRequestSchema } from '../contract/http/message-files.ts';
import { receiptSchema } from '../contract/http/messages.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { Lane } from './lane.ts';
import { BY_ADDRESS, MESSAGE_EXAMPLE } from './messages.ts';
import { requireJson } from './require-json.ts';

/** Of the file in the example. */
const HELLO_SHA256 = '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03';

/** All files in base64, the longest text, and room for a few more bytes, so that the broken limit can be named. */
const BODY_LIMIT = 36 * 1024 * 1024;
/** In milliseconds. */
const BODY_TIMEOUT_MS = 120_000;
/** Each holds a body of that size. */
const MOST_WAITING = 8;

/** `POST /messages/files`: a message with files; the pool does all the work with their bytes (WPL-24, MSG-4). */
export function messageFilesRows({ messages, pool }: Pick<Callers, 'messages' | 'pool'>): Row[] {
  const lane = new Lane(MOST_WAITING);
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/messages/files',
      summary: 'Sends a message with 1 to 8 files to a running session, once for each `message_id`',
      example: {
        body: {
          ...MESSAGE_EXAMPLE,
          attachments: [{ name: 'note.txt', data: 'aGVsbG8K', sha256: HELLO_SHA256 }],
        },
      },
      needs: 'session',
      page: 'messages.md',
      routing: 'host',
      addressed: BY_ADDRESS,
      state: 'always',
      body: 'bytes',
      described_body: fileMessageRequestSchema,
      body_limit: BODY_LIMIT,
      body_timeout_ms: BODY_TIMEOUT_MS,
      checks_answer: true,
      once_by_id: true,
      replies: { 200: receiptSchema.or(rehearsalSchema) },
      async handler({ body, headers }) {
        requireJson(headers['content-type']);
        const { value, bulk } = await lane.run(() => pool.run('check_message_files', {}, { bulk: body }));
        return { status: 200, json: (await messages.exchange('send', value, bulk)).value };
      },
    }),
  ];
}
