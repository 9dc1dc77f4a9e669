import type { HarnessName } from '../../contract/harness-name.ts';
import type { TranscriptPage } from '../../contract/http/transcript-words.ts';
import { AppendOnlyFile } from '../../platform/append-only-file.ts';
import { scanRecords } from './transcript-scan.ts';
import { cutText, wordsOf } from './transcript-words.ts';

/** A page ends with the record that reaches this many bytes; the next one reads on. */
const PAGE_BYTES = 512 * 1024;
const MOST_TEXT = 20_000;

/** Before which byte, or after which one; neither for the end of the transcript. */
export type PageWish = { before_byte?: number | undefined; after_byte?: number | undefined };

/**
 * What was said in one stretch of a transcript, and where it lies, so that the stretches before and after it can be read
 * without a gap. A transcript that is shorter than `after_byte` is another one by now: its end is answered.
 */
export function readTranscriptPage(path: string, harness: HarnessName, wish: PageWish): TranscriptPage {
  const file = AppendOnlyFile.open(path);
  try {
    const { after_byte } = wish;
    return after_byte !== undefined && after_byte <= file.size
      ? pageAfter(file, harness, after_byte)
      : pageBefore(file, harness, Math.min(wish.before_byte ?? file.size, file.size));
  } finally {
    file.close();
  }
}

function pageAfter(file: AppendOnlyFile, harness: HarnessName, from: number): TranscriptPage {
  const page: TranscriptPage = { from, to: from, size: file.size, words: [] };
  const position = file.at(from);
  for (const { record, at } of scanRecords(file, position, { slice: PAGE_BYTES })) {
    if (at - from >= PAGE_BYTES) return { ...page, to: at };
    add(page, harness, record, at);
  }
  return { ...page, to: position.offset };
}

function pageBefore(file: AppendOnlyFile, harness: HarnessName, end: number): TranscriptPage {
  const start = Math.max(0, end - PAGE_BYTES);
  const page: TranscriptPage = { from: start, to: end, size: file.size, words: [] };
  const position = file.at(start);
  let first: number | null = start === 0 ? 0 : null;
  // The first line may be cut; the rest of a cut JSON object is never valid JSON.
  for (const { record, at } of scanRecords(file, position, { slice: PAGE_BYTES })) {
    if (at >= end) break;
    first ??= at;
    add(page, harness, record, at);
  }
  // A line without its end is left for the page after this one.
  return { ...page, from: first ?? start, to: end === file.size ? Math.min(end, position.offset) : end };
}

function add(page: TranscriptPage, harness: HarnessName, record: Record<string, unknown>, at: number): void {
  for (const words of wordsOf(harness, record))
    page.words.push({ ...words, text: cutText(words.text, MOST_TEXT), byte: at });
}
