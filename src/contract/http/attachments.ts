import { z } from 'zod';
import { dryRunField, rehearsalSchema } from './rehearsal.ts';

/** The accepted image types, and the file extension of each (LIM-2). */
export const IMAGE_ENDINGS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
} as const;
export type ImageMime = keyof typeof IMAGE_ENDINGS;

const MB = 1_000_000;
/** Maximum size of one image in bytes (LIM-3). */
export const MOST_IMAGE_BYTES = 10 * MB;
/** Maximum number of images of one request (LIM-4). */
export const MOST_IMAGES = 8;
/** Maximum size of all images of one request in bytes (LIM-5). */
export const MOST_BATCH_BYTES = 25 * MB;
/** How long a stored image is kept after it was last sent, in milliseconds (LIM-7). */
export const ATTACHMENT_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/** Rules of a batch, in the order of evaluation; a refusal names the first broken one (ERR-3). */
const ATTACHMENT_RULES = ['mime', 'size', 'count', 'total', 'decode', 'sha256'] as const;
export type AttachmentRule = (typeof ATTACHMENT_RULES)[number];

/** `POST /attachments` (WPL-9). `data` is base64, `sha256` the hex digest of the decoded bytes. */
export const attachmentsRequestSchema = z.object({
  fiber: z.string().min(1),
  attachments: z
    .array(
      z.object({
        name: z.string().min(1).max(255),
        mime: z.string(),
        data: z.string(),
        sha256: z.string(),
      }),
    )
    .min(1),
  dry_run: dryRunField,
  origin: z.string().optional(),
});

/** A stored file: `path` is absolute on the owning host, `size` in bytes (REC-1). */
export const storedFileSchema = z.object({
  name: z.string(),
  path: z.string(),
  sha256: z.string(),
  size: z.number().int(),
});
export type StoredFile = z.infer<typeof storedFileSchema>;

/** One for each attachment, in the order of the request. */
export const attachmentsReplySchema = z.object({ files: z.array(storedFileSchema) });
export type AttachmentsReply = z.infer<typeof attachmentsReplySchema>;

/** The dry run of a batch, with the paths of its images. */
export const attachmentsRehearsalSchema = rehearsalSchema.extend({ files: z.array(storedFileSchema) });
