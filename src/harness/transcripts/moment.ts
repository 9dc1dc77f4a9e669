import type { HarnessName } from '../../contract/harness-name.ts';
import type { Moment, Words } from '../../contract/http/moment.ts';
import { AppendOnlyFile } from '../../platform/append-only-file.ts';
import type { TranscriptRecords } from '../harness.ts';
import { HARNESSES } from '../harnesses.ts';
import { scanRecords } from './transcript-scan.ts';
import { cutText, keepEnd, wordsOf } from './transcript-words.ts';

const MOST_WORDS = 100;
const MOST_TEXT = 2_000;
/** The bisection stops at a span of this size, which is then read whole. */
const SPAN_BYTES = 512 * 1024;
const PROBE_BYTES = 64 * 1024;
/** Records are written when they are complete, so their times are slightly out of order. */
const DISORDER_MS = 30_000;

/**
 * Reads what was said around a time. Records are almost in the order of their times, so bisection finds the place with
 * a few short reads, however long the transcript is.
 */
export function readMoment(
  path: string,
  harness: HarnessName,
  { at, within_ms }: { at: number; within_ms: number },
): Pick<Moment, 'words' | 'more' | 'said_before'> {
  const { timeOf } = HARNESSES[harness].records;
  const file = AppendOnlyFile.open(path);
  try {
    const from = firstAtOrAfter({ file, timeOf }, at - within_ms - DISORDER_MS);
    const found: Words[] = [];
    let said_before: Words | null = null;
    const over = at + within_ms + DISORDER_MS;
    // The offset may cut a line, of which the rest is no valid JSON.
    const position = file.at(Math.max(0, from - SPAN_BYTES));
    for (const { record } of scanRecords(file, position, { slice: SPAN_BYTES })) {
      const time = timeOf(record);
      if (time !== null && time > over) break;
      for (const words of wordsOf(harness, record)) {
        if (words.at < at - within_ms) said_before = saidAfter(said_before, words);
        else if (words.at <= at + within_ms) found.push({ ...words, text: cutText(words.text, MOST_TEXT) });
      }
    }
    return { ...nearest(found, at), said_before };
  } finally {
    file.close();
  }
}

/** What the agent said last, with one more thing said: nothing once a person has spoken. */
function saidAfter(before: Words | null, words: Words): Words | null {
  if (words.who === 'person') return null;
  if (words.who !== 'agent' || words.tool !== null) return before;
  return { ...words, text: keepEnd(words.text, MOST_TEXT) };
}

type Timed = { file: AppendOnlyFile; timeOf: TranscriptRecords['timeOf'] };

/** The start of a line before which every record is older than `time`, apart from that disorder. */
function firstAtOrAfter(timed: Timed, time: number): number {
  let low = 0;
  let high = timed.file.size;
  while (high - low > SPAN_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const found = timeAfter(timed, middle, high);
    if (found === null || found.time >= time) high = middle;
    else low = found.start;
  }
  return low;
}

/** The first record with a time between an offset and `end`; null if there is none. */
function timeAfter(
  { file, timeOf }: Timed,
  offset: number,
  end: number,
): { start: number; time: number } | null {
  // The offset may cut a line; the rest of a cut JSON object is never valid JSON.
  for (const { record, at } of scanRecords(file, file.at(offset), { slice: PROBE_BYTES })) {
    if (at >= end) return null;
    const time = timeOf(record);
    if (time !== null) return { start: at, time };
  }
  return null;
}

function nearest(found: Words[], at: number): { words: Words[]; more: boolean } {
  if (found.length <= MOST_WORDS) return { words: found, more: false };
  const near = new Set(
    [...found].sort((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at)).slice(0, MOST_WORDS),
  );
  return { words: found.filter((words) => near.has(words)), more: true };
}
