import type { ImageMime } from '../../contract/http/attachments.ts';

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

/** True if the bytes begin like an image of that kind. */
export function carriesSignature(bytes: Uint8Array, mime: ImageMime): boolean {
  return SIGNATURES[mime].some((signature) =>
    signature.every((byte, index) => (byte === null ? index < bytes.length : bytes[index] === byte)),
  );
}
