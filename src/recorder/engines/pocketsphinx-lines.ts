import { z } from 'zod';
import { jsonOf } from '../../base/json-text.ts';
import type { EngineSegment } from './engine.ts';

/** A word of `pocketsphinx_continuous -time yes`: `budget 4.280 4.700 1.000100`. */
const WORD = /^(\S+) (\d+\.\d+) (\d+\.\d+) (\d+\.\d+)$/;
/** What is no word: `<s>`, `<sil>`, `[NOISE]`, `++UM++`. */
const FILLER = /^(?:<.*>|\[.*\]|\+\+.*\+\+)$/;

/**
 * Reads the lines of `pocketsphinx_continuous -time yes`: the text of an utterance, then one line for each word of it and
 * for what is no word. It is complete with the last of its words, for no line says so in every case.
 */
export function continuousReader(): (line: string) => EngineSegment | null {
  let text = '';
  let missing = 0;
  let start = 0;
  return (line) => {
    const [, word, from, until] = WORD.exec(line) ?? [];
    if (word === undefined) {
      text = line.trim();
      const words = text === '' ? [] : text.split(/\s+/);
      missing = words.length;
      start = Number.NaN;
      return null;
    }
    if (FILLER.test(word) || missing === 0) return null;
    if (Number.isNaN(start)) start = Number(from);
    missing -= 1;
    return missing === 0 ? { start, end: Number(until), text } : null;
  };
}

const lineSchema = z.object({
  b: z.number().nonnegative(),
  d: z.number().nonnegative(),
  t: z.string(),
  /** Ours: who said it. */
  speaker: z.string().optional(),
});

/** Reads one line of `pocketsphinx live`: JSON with the begin, the duration and the text of an utterance. */
export function liveLine(line: string): EngineSegment | null {
  const { success, data } = lineSchema.safeParse(jsonOf(line));
  if (!success || data.t.trim() === '') return null;
  const { b, d, t, speaker } = data;
  return { start: b, end: b + d, text: t, ...(speaker === undefined ? {} : { speaker }) };
}
