import type { z } from 'zod';
import { sha256Of } from '../../base/digest.ts';
import { CodedError } from '../../base/errors.ts';
import {
  type AttachmentRule,
  attachmentsRequestSchema,
  IMAGE_ENDINGS,
  type ImageMime,
  MOST_BATCH_BYTES,
  MOST_IMAGE_BYTES,
  MOST_IMAGES,
} from '../../contract/http/attachments.ts';
import type { BulkFile } from '../../contract/threads/bulk-file.ts';
import type { CheckedImages } from '../../contract/threads/pool.ts';
import { decodedLength, decodeExactly, parseBatch } from './batch-body.ts';

type Attachment = z.output<typeof attachmentsRequestSchema>['attachments'][number];

/** The first bytes of each kind of image; `null` matches any byte. */
const SIGNATURES: Record<ImageMime, readonly (readonly (number | null)[])[]> = {
  'image/png': [[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  'image/jpeg': [[0xff, 0xd8, 0xff]],
  // "GIF87a", "GIF89a"
  'image/gif': [
    [0x47, 0x49, 0x46, 0x38, 0x37, 0x61],
    [0x47, 0x49, 0x46, 0x38, 0x39, 0x61],
  ],
  // "RIFF", a length, "WEBP"
  'image/webp': [[0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50]],
};

/**
 * Parses the body of `POST /attachments` and checks it by the rules of ATT-1. Returns the images in the order of the
 * request and their bytes, concatenated. Throws `invalid_json`, `invalid_request`, or `attachment_<rule>` for the first
 * broken rule.
 */
export function checkAttachments(body: Uint8Array): { checked: CheckedImages; bytes: Uint8Array } {
  const request = parseBatch(attachmentsRequestSchema, body);
  const { attachments } = request;
  for (const [index, { mime }] of attachments.entries())
    if (!Object.hasOwn(IMAGE_ENDINGS, mime))
      throw broken('mime', index, attachments, `is ${mime}; only PNG, JPEG, GIF and WebP images are taken`);
  const sizes = attachments.map(({ data }) => decodedLength(data));
  for (const [index, size] of sizes.entries())
    if (size > MOST_IMAGE_BYTES)
      throw broken('size', index, attachments, `has ${size} bytes; an image may have ${MOST_IMAGE_BYTES}`);
  if (attachments.length > MOST_IMAGES)
    throw brokenBatch('count', `${attachments.length} images were sent; a request may have ${MOST_IMAGES}`);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (total > MOST_BATCH_BYTES)
    throw brokenBatch('total', `the images have ${total} bytes; together they may have ${MOST_BATCH_BYTES}`);
  const bytes = new Uint8Array(total);
  const decoded: Uint8Array[] = [];
  let end = 0;
  for (const [index, attachment] of attachments.entries()) {
    const place = bytes.subarray(end, end + sizes[index]!);
    place.set(decode(attachments, index));
    decoded.push(place);
    end += place.length;
    // Frees the base64 text, which is as large as the image.
    attachment.data = '';
  }
  for (const [index, { mime }] of attachments.entries())
    if (!carriesSignature(decoded[index]!, mime as ImageMime))
      throw broken('mime', index, attachments, `does not begin as an image of the kind ${mime} does`);
  const images = decoded.map((image, index) => checkDigest(attachments, index, image));
  const { fiber, dry_run = false } = request;
  return { checked: { fiber, dry_run, images }, bytes };
}

function decode(attachments: readonly Attachment[], index: number): Uint8Array {
  const decoded = decodeExactly(attachments[index]!.data);
  if (decoded === null)
    throw broken('decode', index, attachments, 'has data that is not base64 with its padding');
  if (decoded.length === 0) throw broken('decode', index, attachments, 'has no data');
  return decoded;
}

/** Checks the digest of one image; what is stored of it. */
function checkDigest(attachments: readonly Attachment[], index: number, image: Uint8Array): BulkFile {
  const { name, mime, sha256 } = attachments[index]!;
  const digest = sha256Of(image);
  if (digest !== sha256.toLowerCase())
    throw broken('sha256', index, attachments, `has the digest ${digest}, which is not the one it came with`);
  const kept_as = `${digest.slice(0, 16)}.${IMAGE_ENDINGS[mime as ImageMime]}`;
  return { name, kept_as, sha256: digest, size: image.length, offset: image.byteOffset };
}

function broken(rule: AttachmentRule, index: number, all: readonly Attachment[], what: string): CodedError {
  const { name } = all[index]!;
  return new CodedError(`attachment_${rule}`, `image ${index + 1} (${JSON.stringify(name)}) ${what}`, {
    details: { rule, index, name },
  });
}

function brokenBatch(rule: AttachmentRule, message: string): CodedError {
  return new CodedError(`attachment_${rule}`, message, { details: { rule } });
}

/** True if the bytes begin like an image of that kind. */
function carriesSignature(bytes: Uint8Array, mime: ImageMime): boolean {
  return SIGNATURES[mime].some((signature) =>
    signature.every((byte, index) => (byte === null ? index < bytes.length : bytes[index] === byte)),
  );
}
