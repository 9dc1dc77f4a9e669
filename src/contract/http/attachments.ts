import { z } from 'zod';
import { dryRunField, rehearsalSchema } from './rehearsal.ts';

/** The kinds of image that are taken, and the ending of a stored one (LIM-2). */
export const IMAGE_ENDINGS = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
} as const;
export type ImageMime = keyof typeof IMAGE_ENDINGS;

const MB = 1_000_000;
/** Most bytes of one image (LIM-3). */
export const MOST_IMAGE_BYTES = 10 * MB;
/** Most images of one request (LIM-4). */
export const MOST_IMAGES = 8;
/** Most bytes of all images of one request (LIM-5). */
export const MOST_BATCH_BYTES = 25 * MB;
/** How long a stored image is kept after it was last sent, in milliseconds (LIM-7). */
export const ATTACHMENT_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/** Rules of a batch in the order in which they are judged; a refusal names the first one that is broken (ERR-3). */
export const ATTACHMENT_RULES = ['mime', 'size', 'count', 'total', 'decode', 'sha256'] as const;
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

/** A batch that was checked and not written, with the paths it would have. */
export const attachmentsRehearsalSchema = rehearsalSchema.extend({ files: z.array(storedFileSchema) });
