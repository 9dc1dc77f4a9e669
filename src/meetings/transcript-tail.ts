import { MOST_TAIL_LINES } from '../contract/http/meeting.ts';
import { readRegularEnd } from '../platform/regular-file.ts';

/** Bytes that are read from the end of a transcript: far more than the lines of a tail have. */
const TAIL_BYTES = 64 * 1024;

/** The last spoken lines of a transcript, oldest first; none where it cannot be read (MTR-2). */
export async function transcriptTail(path: string): Promise<string[]> {
  try {
    const { bytes, cut } = await readRegularEnd(path, TAIL_BYTES);
    return spokenLines({ text: bytes.toString('utf8'), cut });
  } catch {
    return [];
  }
}

/** The last spoken lines of a text; `cut` if it begins in the middle of a line. An unfinished last line is left out. */
export function spokenLines({ text, cut }: { text: string; cut: boolean }): string[] {
  const lines = text.split('\n').slice(cut ? 1 : 0, -1);
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#')).slice(-MOST_TAIL_LINES);
}
