import { openRegularFile } from './regular-file.ts';

/**
 * The bytes of a regular file from an offset on, so many at most; fewer at its end. Throws as `openRegularFile` does, and the
 * system error.
 */
export async function readPart(path: string, offset: number, most_bytes: number): Promise<Buffer> {
  const { file } = await openRegularFile(path);
  try {
    const bytes = Buffer.alloc(most_bytes);
    const { bytesRead } = await file.read(bytes, 0, most_bytes, offset);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
