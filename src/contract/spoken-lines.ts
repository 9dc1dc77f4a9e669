import { MOST_TAIL_LINES } from './http/meeting.ts';

/** Bytes that are read from the end of a transcript: far more than the lines of a tail have. */
export const TAIL_BYTES = 64 * 1024;

/** The last spoken lines of a text; `cut` if it begins in the middle of a line. An unfinished last line is left out. */
export function spokenLines({ text, cut }: { text: string; cut: boolean }): string[] {
  const lines = text.split('\n').slice(cut ? 1 : 0, -1);
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#')).slice(-MOST_TAIL_LINES);
}
