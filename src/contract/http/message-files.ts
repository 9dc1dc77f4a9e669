import { z } from 'zod';
import { oneLineFault } from '../../base/terminal-text.ts';
import { messageRequestSchema } from './messages.ts';

/** Maximum number of files of one message (LIM-8). */
export const MOST_FILES = 8;
/** Maximum size of all files of one message in bytes, decoded (LIM-8). */
export const MOST_FILES_BYTES = 20 * 1024 * 1024;
/** Maximum length of a file name, in bytes of UTF-8. */
const MOST_NAME_BYTES = 255;

/** Names that Windows takes for a device, whatever follows the first dot. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)/i;

/** Why a name cannot be that of a file on every system; null if it can. */
function fileNameFault(name: string): string | null {
  if (name === '' || name === '.' || name === '..') return 'is no file name';
  if (Buffer.byteLength(name) > MOST_NAME_BYTES) return `is longer than ${MOST_NAME_BYTES} bytes`;
  if (/[/\\]/.test(name)) return 'has a path separator; give the last part of the path alone';
  if (/[:*?"<>|]/.test(name)) return 'has one of the characters : * ? " < > |';
  if (oneLineFault(name) !== null) return 'has a character that cannot be seen';
  if (/^\s|[\s.]$/.test(name)) return 'begins with a space, or ends with a space or a dot';
  if (DEVICE.test(name)) return 'is the name of a device on Windows';
  return null;
}

const fileSchema = z.object({
  name: z.string().superRefine((name, context) => {
    const fault = fileNameFault(name);
    if (fault !== null) context.addIssue({ code: 'custom', message: `${fault}; rename the file` });
  }),
  data: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'takes a SHA-256 digest as 64 lowercase hexadecimal digits'),
});
const COUNT = `takes 1 to ${MOST_FILES} files`;

export const attachmentsSchema = z
  .array(fileSchema)
  .min(1, COUNT)
  .max(MOST_FILES, COUNT)
  .superRefine((files, context) => {
    const seen = new Set<string>();
    for (const [index, { name }] of files.entries()) {
      // Some file systems tell apart neither case nor the ways to write an accent.
      const key = name.normalize('NFC').toUpperCase();
      if (seen.has(key))
        context.addIssue({
          code: 'custom',
          path: [index, 'name'],
          message: 'is the name of an earlier file too, without regard to case; rename one of them',
        });
      seen.add(key);
    }
  });

/**
 * `POST /messages/files` (WPL-24, MSG-4): a message with files. `data` is base64, `sha256` the digest of the decoded
 * bytes.
 */
export const fileMessageRequestSchema = messageRequestSchema.extend({ attachments: attachmentsSchema });
export type FileMessageRequest = z.input<typeof fileMessageRequestSchema>;
