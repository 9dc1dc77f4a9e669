import type { TranscriptPage } from '../../../contract/http/transcript-words.ts';

/** Reads one page of a transcript: its end, what was said before a byte, or since one. */
export type ReadPage<Page extends TranscriptPage = TranscriptPage> = (wish: {
  before_byte?: number;
  after_byte?: number;
}) => Promise<Page>;

/** A message: the byte of its record, and how many messages of the same record come before it. */
export type Place = { byte: number; skip: number };

/** Where the newest `count` messages begin. Holds one page at a time. */
export async function placeOfNewest(read: ReadPage, count: number): Promise<Place> {
  let page = await read({});
  if (count === 0) return { byte: page.to, skip: 0 };
  for (let left = count; ; ) {
    const { words, from } = page;
    const first = words.at(-left);
    if (first !== undefined && words.length >= left) {
      const { byte } = first;
      return { byte, skip: words.slice(0, -left).filter((one) => one.byte === byte).length };
    }
    left -= words.length;
    if (from === 0) return { byte: 0, skip: 0 };
    page = await read({ before_byte: from });
    // A transcript that was rewritten meanwhile has another beginning.
    if (page.from >= from) return { byte: page.from, skip: 0 };
  }
}

/** The pages from a place to the end of the transcript as it is now. What comes later begins at the `to` of the last one. */
export async function* pagesFrom<Page extends TranscriptPage>(
  read: ReadPage<Page>,
  { byte, skip }: Place,
): AsyncGenerator<Page> {
  for (let at = byte; ; ) {
    const page = await read({ after_byte: at });
    const words = at === byte ? page.words.slice(skip) : page.words;
    yield { ...page, words };
    if (page.to <= at || page.to >= page.size) return;
    at = page.to;
  }
}
