import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pagesFrom, placeOfNewest, type ReadPage } from '../../../../src/cli/verbs/transcript/pages.ts';
import { readTranscriptPage } from '../../../../src/harness/transcripts/transcript-page.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-pages-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const record = (texts: string[]) => ({
  ...{ type: 'assistant', timestamp: '2026-11-24T12:00:00.000Z' },
  message: { content: texts.map((text) => ({ type: 'text', text })) },
});

/** A transcript whose records have so many messages each, of so many characters. */
function transcriptOf(records: readonly (readonly number[])[]): {
  read: ReadPage;
  texts: string[];
  pages(): number;
} {
  let nth = 0;
  const made = records.map((sizes) => sizes.map((size) => `${nth++} ${'x'.repeat(size)}`));
  const path = join(folder, 'transcript.jsonl');
  writeFileSync(path, made.map((texts) => `${JSON.stringify(record(texts))}\n`).join(''));
  let pages = 0;
  const read: ReadPage = async (wish) => {
    pages += 1;
    return readTranscriptPage(path, 'claude', wish);
  };
  return { read, texts: made.flat().map((text) => text.slice(0, 10)), pages: () => pages };
}

async function newest(read: ReadPage, count: number): Promise<string[]> {
  const found: string[] = [];
  for await (const { words } of pagesFrom(read, await placeOfNewest(read, count)))
    found.push(...words.map(({ text }) => text.slice(0, 10)));
  return found;
}

describe('the newest messages of a transcript', () => {
  it('are those at its end, whatever the pages are', async () => {
    const records = fc.array(fc.array(fc.constantFrom(0, 5, 15_000), { maxLength: 4 }), { maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(records, fc.nat(300), async (sizes, count) => {
        const { read, texts } = transcriptOf(sizes);
        expect(await newest(read, count)).toEqual(count === 0 ? [] : texts.slice(-count));
      }),
      { numRuns: 40 },
    );
  });

  it('cost one page more than they are on', async () => {
    const made = transcriptOf(Array.from({ length: 2_000 }, () => [1_000]));
    expect(await newest(made.read, 10)).toHaveLength(10);
    expect(made.pages()).toBe(2);
  });

  it('are followed from where they end', async () => {
    const { read } = transcriptOf([[1], [2]]);
    const end = (await read({})).to;
    const pages = [];
    for await (const page of pagesFrom(read, { byte: end, skip: 0 })) pages.push(page);
    expect(pages).toMatchObject([{ words: [], from: end, to: end }]);
  });
});
