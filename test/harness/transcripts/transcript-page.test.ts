import { appendFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readTranscriptPage } from '../../../src/harness/transcripts/transcript-page.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'svc-page-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

let files = 0;
function transcript(lines: readonly string[]): string {
  files += 1;
  const path = join(root, `${files}.jsonl`);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  return path;
}
const said = (text: string) =>
  JSON.stringify({ type: 'user', timestamp: '2026-11-21T09:00:00.000Z', message: { content: text } });
const textsOf = ({ words }: { words: readonly { text: string }[] }) => words.map(({ text }) => text);

describe('the pages of a transcript', () => {
  it('together hold every message once, from the end to the beginning', () => {
    const texts = Array.from({ length: 400 }, (_, one) => `${one} ${'x'.repeat((one * 37) % 9_000)}`);
    const path = transcript(texts.flatMap((text) => [said(text), '{"type":"mode"}', 'no record']));
    const found: string[] = [];
    let pages = 0;
    for (let before_byte: number | undefined; before_byte !== 0; pages += 1) {
      const page = readTranscriptPage(path, 'claude', { before_byte });
      found.unshift(...textsOf(page));
      before_byte = page.from;
    }
    expect(pages).toBeGreaterThan(2);
    expect(found).toEqual(texts);
  });

  it('go on where the last one ended, and leave a line without its end for the next', () => {
    const path = transcript([said('one')]);
    const first = readTranscriptPage(path, 'claude', {});
    appendFileSync(path, `${said('two')}\n${said('three').slice(0, 20)}`);
    const second = readTranscriptPage(path, 'claude', { after_byte: first.to });
    appendFileSync(path, `${said('three').slice(20)}\n`);
    const third = readTranscriptPage(path, 'claude', { after_byte: second.to });
    expect([first, second, third].map(textsOf)).toEqual([['one'], ['two'], ['three']]);
    expect(third.to).toBe(third.size);
    expect(textsOf(readTranscriptPage(path, 'claude', {}))).toEqual(['one', 'two', 'three']);
  });

  it('do not overlook a line that its program has not ended when the end is read first', () => {
    const path = transcript([said('one')]);
    appendFileSync(path, said('two').slice(0, 30));
    const first = readTranscriptPage(path, 'claude', {});
    appendFileSync(path, `${said('two').slice(30)}\n`);
    expect(textsOf(first)).toEqual(['one']);
    expect(textsOf(readTranscriptPage(path, 'claude', { after_byte: first.to }))).toEqual(['two']);
  });

  it('follow a long growth page by page', () => {
    const texts = Array.from({ length: 100 }, (_, one) => `${one} ${'y'.repeat(15_000)}`);
    const path = transcript(texts.map(said));
    const found: string[] = [];
    for (let after_byte = 0; ; ) {
      const page = readTranscriptPage(path, 'claude', { after_byte });
      found.push(...textsOf(page));
      if (page.to === after_byte) break;
      after_byte = page.to;
    }
    expect(found).toEqual(texts);
  });

  it('begin again at the end of a transcript that became shorter', () => {
    const path = transcript([said('another')]);
    expect(readTranscriptPage(path, 'claude', { after_byte: 1e6 })).toMatchObject({ from: 0 });
  });

  it('have nothing of an empty transcript', () => {
    expect(readTranscriptPage(transcript([]), 'claude', {})).toEqual({ from: 0, to: 0, size: 0, words: [] });
  });
});
