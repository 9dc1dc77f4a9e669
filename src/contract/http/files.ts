import { z } from 'zod';

/** An absolute path on the owner's disk; symlinks are followed. */
const absolutePathSchema = z
  .string()
  .refine((path) => path.startsWith('/'), { error: 'must be an absolute path' })
  .refine((path) => !path.includes('\0'), { error: 'may not contain a NUL character' });

/** `GET /file?path=&origin=` and `GET /file-info?path=&origin=` (RPL-10, RPL-11). */
export const fileQuerySchema = z.object({ path: absolutePathSchema, origin: z.string().optional() });

/** `GET /file-info`: the metadata of a path; for anything but a regular file only its kind. */
export const fileInfoSchema = z.object({
  path: z.string(),
  host: z.string(),
  exists: z.boolean(),
  kind: z.enum(['file', 'directory', 'other']).nullable(),
  /** Bytes. */
  size: z.number().int().nullable(),
  /** Milliseconds since the Unix epoch. */
  mtime_ms: z.number().nullable(),
  content_type: z.string().nullable(),
});
export type FileInfo = z.infer<typeof fileInfoSchema>;
