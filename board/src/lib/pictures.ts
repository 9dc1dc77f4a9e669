import type { EncodedPicture } from '../model/picture-rules.ts';
import type { StoredFile } from '../model/wire.ts';
import { type Answer, post } from './api.ts';

/** A phone on a bad network sends for minutes. */
const UPLOAD_MS = 120_000;

/**
 * Stores pictures for a fiber by `POST /attachments`: all of them or none. `origin` null is the host that answers.
 * Rejects if a file, or the module that hashes it, cannot be loaded.
 */
export async function storePictures(
  fiber: string,
  files: readonly File[],
  origin: string | null,
): Promise<Answer<{ files: StoredFile[] }>> {
  const attachments = await encodePictures(files);
  // The host comes first, so that a batch for another one is passed on while it arrives.
  const batch = { ...(origin === null ? {} : { origin }), fiber, attachments };
  return post('/attachments', batch, { timeout_ms: UPLOAD_MS });
}

export async function encodePictures(files: readonly File[]): Promise<EncodedPicture[]> {
  return Promise.all(files.map(encode));
}

async function encode(file: File): Promise<EncodedPicture> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const [data, { digestOf }] = await Promise.all([base64Of(file), import('./digest.ts')]);
  return { name: file.name || 'picture', mime: file.type, data, sha256: digestOf(bytes) };
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error('the file cannot be read'));
    reader.readAsDataURL(file);
  });
}

/** The files among what was pasted or dropped. */
export function filesOf(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])];
}
