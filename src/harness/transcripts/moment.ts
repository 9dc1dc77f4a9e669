import type { FileHandle } from 'node:fs/promises';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { Words } from '../../contract/http/moment.ts';
import { openRegularFile } from '../../platform/regular-file.ts';
import type { TranscriptRecords } from '../harness.ts';
import { HARNESSES } from '../harnesses.ts';
import { asTable } from '../table.ts';
import type { JsonRecord } from './said.ts';
import { scanRecords } from './transcript-scan.ts';
import { wordsOf } from './transcript-words.ts';

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
export async function readMoment(
  path: string,
  harness: HarnessName,
  { at, within_ms }: { at: number; within_ms: number },
): Promise<{ words: Words[]; more: boolean }> {
  const { timeOf } = HARNESSES[harness].records;
  const { file, stats } = await openRegularFile(path);
  try {
    const size = Number(stats.size);
    const from = await firstAtOrAfter({ file, timeOf }, size, at - within_ms - DISORDER_MS);
    const found: Words[] = [];
    const over = at + within_ms + DISORDER_MS;
    await scanRecords(file, from, (record) => {
      const time = timeOf(record);
      if (time !== null && time > over) return 'stop';
      for (const words of wordsOf(harness, record))
        if (Math.abs(words.at - at) <= within_ms) found.push({ ...words, text: cut(words.text) });
      return undefined;
    });
    return nearest(found, at);
  } finally {
    await file.close();
  }
}

type Timed = { file: FileHandle; timeOf: TranscriptRecords['timeOf'] };

/** The start of a line before which every record is older than `time`, apart from that disorder. */
async function firstAtOrAfter(timed: Timed, size: number, time: number): Promise<number> {
  let low = 0;
  let high = size;
  while (high - low > SPAN_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const found = await timeAfter(timed, middle, high);
    if (found === null || found.time >= time) high = middle;
    else low = found.start;
  }
  return low;
}

/** The first record with a time between an offset and `end`; null if there is none. */
async function timeAfter(
  { file, timeOf }: Timed,
  offset: number,
  end: number,
): Promise<{ start: number; time: number } | null> {
  const chunk = Buffer.alloc(PROBE_BYTES);
  let line: Buffer[] | null = null;
  let start = 0;
  for (let at = offset; at < end; ) {
    const { bytesRead } = await file.read(chunk, 0, PROBE_BYTES, at);
    if (bytesRead === 0) return null;
    let from = 0;
    for (let stop = chunk.indexOf(0x0a); stop !== -1 && stop < bytesRead; stop = chunk.indexOf(0x0a, from)) {
      if (line !== null) {
        const time = timeOf(recordOf(Buffer.concat([...line, chunk.subarray(from, stop)])));
        if (time !== null) return { start, time };
      }
      line = [];
      from = stop + 1;
      start = at + from;
      if (start >= end) return null;
    }
    line?.push(Buffer.from(chunk.subarray(from, bytesRead)));
    at += bytesRead;
  }
  return null;
}

function recordOf(line: Buffer): JsonRecord {
  try {
    return asTable(JSON.parse(line.toString('utf8')));
  } catch {
    return {};
  }
}

function nearest(found: Words[], at: number): { words: Words[]; more: boolean } {
  if (found.length <= MOST_WORDS) return { words: found, more: false };
  const near = new Set(
    [...found].sort((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at)).slice(0, MOST_WORDS),
  );
  return { words: found.filter((words) => near.has(words)), more: true };
}

/** Cuts between code points. */
function cut(text: string): string {
  if (text.length <= MOST_TEXT) return text;
  const kept = text.slice(0, MOST_TEXT - 1);
  return `${/[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept}…`;
}
