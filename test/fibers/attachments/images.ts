import { createHash } from 'node:crypto';

/** Bytes that begin as an image of each kind does. */
const HEADS: Record<string, number[]> = {
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/jpeg': [0xff, 0xd8, 0xff, 0xe0],
  'image/gif': [...Buffer.from('GIF89a')],
  'image/webp': [...Buffer.from('RIFF\x10\0\0\0WEBP')],
};

export type SentImage = { name: string; mime: string; data: string; sha256: string };

/** An image of this many bytes, told apart by its seed, as a client sends it. */
export function sentImage(mime = 'image/png', size = 100, seed = 1): SentImage & { bytes: Buffer } {
  const bytes = Buffer.alloc(size, seed);
  Buffer.from(HEADS[mime] ?? []).copy(bytes);
  return { name: `image-${seed}`, mime, data: bytes.toString('base64'), sha256: sha256(bytes), bytes };
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function bodyOf(attachments: Partial<SentImage>[], more: object = {}): Uint8Array<ArrayBuffer> {
  const sent = attachments.map(({ name, mime, data, sha256 }) => ({ name, mime, data, sha256 }));
  return new TextEncoder().encode(JSON.stringify({ fiber: 'work/loader', attachments: sent, ...more }));
}
