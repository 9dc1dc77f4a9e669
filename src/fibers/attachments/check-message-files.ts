import { sha256Of } from '../../base/digest.ts';
import { fileMessageRequestSchema, MOST_FILES_BYTES } from '../../contract/http/message-files.ts';
import type { BulkFile } from '../../contract/threads/bulk-file.ts';
import type { CheckedMessage } from '../../contract/threads/messages.ts';
import { decodedLength, decodeExactly, notAcceptable, parseBatch } from './batch-body.ts';

/**
 * Parses the body of `POST /messages/files` and checks its files. Returns the message, and the bytes of its files in
 * their order. The total size is checked before anything is decoded (LIM-8). Throws `invalid_json` or
 * `invalid_request`.
 */
export function checkMessageFiles(body: Uint8Array): { checked: CheckedMessage; bytes: Uint8Array } {
  const { attachments, origin: _, ...message } = parseBatch(fileMessageRequestSchema, body);
  const sizes = attachments.map(({ data }) => decodedLength(data));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total > MOST_FILES_BYTES)
    throw notAcceptable([
      {
        path: ['attachments'],
        message: `has ${total} bytes in its files; together they may have ${MOST_FILES_BYTES}, so send some in another message`,
      },
    ]);
  const bytes = new Uint8Array(total);
  const files: BulkFile[] = [];
  let offset = 0;
  for (const [index, file] of attachments.entries()) {
    const { name, data, sha256 } = file;
    const decoded = decodeExactly(data);
    if (decoded === null) throw broken(index, 'data', `of ${name} is not base64 with its padding`);
    const digest = sha256Of(decoded);
    if (digest !== sha256)
      throw broken(
        index,
        'sha256',
        `of ${name} is not that of its bytes, which is ${digest}; send the file again`,
      );
    bytes.set(decoded, offset);
    files.push({ name, kept_as: name, sha256, offset, size: decoded.length });
    offset += decoded.length;
    // Frees the base64 text, which is as large as the file.
    file.data = '';
  }
  return { checked: { ...message, files }, bytes };
}

function broken(index: number, field: string, message: string): Error {
  return notAcceptable([{ path: ['attachments', index, field], message }]);
}
