import { spokenLines, TAIL_BYTES } from '../contract/spoken-lines.ts';
import { readRegularEnd } from '../platform/regular-file.ts';

/** The last spoken lines of a transcript, oldest first; none where it cannot be read (MTR-2). */
export async function transcriptTail(path: string): Promise<string[]> {
  try {
    const { bytes, cut } = await readRegularEnd(path, TAIL_BYTES);
    return spokenLines({ text: bytes.toString('utf8'), cut });
  } catch {
    return [];
  }
}
