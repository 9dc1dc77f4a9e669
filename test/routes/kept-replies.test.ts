import { createHash } from 'node:crypto';
import { renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Reply } from '../../src/http/row.ts';
import { createFileReader } from '../../src/platform/file-reader.ts';
import { HeldFiles } from '../../src/routes/held-files.ts';
import { KeptReplies, type Mark, markOfFiles } from '../../src/routes/kept-replies.ts';
import { answeringDisks } from '../kit/answering-disks.ts';

/** A moment at which everything that was written by now has settled. */
const LATER_MS = 10_000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fdk-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const files = createFileReader(systemClock, answeringDisks);
const textOf = (reply: Reply) => ('bytes' in reply ? Buffer.from(reply.bytes).toString() : null);

/** Counts how often an answer was made. */
function maker() {
  let made = 0;
  const make = async (): Promise<Reply> => {
    made += 1;
    return { status: 200, json: made };
  };
  return { make, made: () => made };
}

describe('a kept answer', () => {
  const settled = (text: string): Mark => ({ text, settled: true });

  it('is given for as long as its mark is the same, and encoded once', async () => {
    const kept = new KeptReplies();
    const { make, made } = maker();
    const ask = (mark: string) => kept.read('a', () => settled(mark), make);
    const first = await ask('1');
    expect(await ask('1')).toBe(first);
    expect(textOf(first)).toBe('1');
    expect(textOf(await ask('2'))).toBe('2');
    expect(textOf(await ask('1'))).toBe('3');
    expect(made()).toBe(3);
  });

  it.each<[string, (asked: number) => Mark | null]>([
    ['cannot be told', () => null],
    ['may move unseen', () => ({ text: '1', settled: false })],
    ['moves while the answer is made', (asked) => settled(String(asked))],
  ])('is none where its mark %s', async (_, mark) => {
    const kept = new KeptReplies();
    const { make, made } = maker();
    let asked = 0;
    const next = () => {
      asked += 1;
      return mark(asked);
    };
    for (let reads = 0; reads < 3; reads += 1) await kept.read('a', next, make);
    expect(made()).toBe(3);
  });

  it('is none of a refusal or of a failure', async () => {
    const kept = new KeptReplies();
    const read = (make: () => Promise<Reply>) => kept.read('a', () => settled('1'), make);
    await read(async () => ({ status: 404, json: 'no' }));
    await expect(read(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(textOf(await read(async () => ({ status: 200, json: 'yes' })))).toBe('"yes"');
  });

  it('makes room for others within a bound of memory', async () => {
    const kept = new KeptReplies();
    const { make, made } = maker();
    const long = async (): Promise<Reply> => {
      await make();
      return { status: 200, bytes: Buffer.alloc(1024 * 1024), content_type: 'text/plain' };
    };
    const ask = (key: number) => kept.read(String(key), () => settled('1'), long);
    for (let key = 0; key < 20; key += 1) await ask(key);
    await ask(19);
    expect(made()).toBe(20);
    await ask(0);
    expect(made()).toBe(21);
  });
});

describe('the mark of files', () => {
  const mark = (path: string) => markOfFiles(files, [path], Date.now() + LATER_MS);

  it('moves with every write, also one that leaves size and time as they were', async () => {
    const path = join(folder, 'a');
    const marks = new Set([(await mark(path)).text]);
    const seen = async () => {
      const { text } = await mark(path);
      expect(marks).not.toContain(text);
      marks.add(text);
    };
    writeFileSync(path, 'one');
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    await seen();
    const { text } = await mark(path);
    // The next tick of the file system's clock.
    do {
      writeFileSync(path, 'two');
      utimesSync(path, 1_700_000_000, 1_700_000_000);
    } while ((await mark(path)).text === text);
    await seen();
    writeFileSync(join(folder, 'b'), 'two');
    utimesSync(join(folder, 'b'), 1_700_000_000, 1_700_000_000);
    renameSync(join(folder, 'b'), path);
    await seen();
    rmSync(path);
    expect((await mark(path)).text).toBe('missing');
  });

  it('counts as settled a while after the last write, whatever time the file claims', async () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'one');
    utimesSync(path, 1_700_000_000, 1_700_000_000);
    expect((await markOfFiles(files, [path], Date.now())).settled).toBe(false);
    expect((await mark(path)).settled).toBe(true);
    expect((await markOfFiles(files, [folder], Date.now() + LATER_MS)).settled).toBe(false);
  });
});

describe('a short file that was sent', () => {
  const sha = (bytes: string) => createHash('sha256').update(bytes).digest('hex');
  const send = async (held: HeldFiles, path: string, digest: string) => {
    const { stamp } = await files.stamp(path);
    const content = held.content(path, stamp, digest);
    const now = content.held?.() ?? null;
    if (now !== null) return { held: true, text: Buffer.from(now).toString() };
    const pieces = [];
    for await (const piece of content.read(0, stamp.size)) {
      pieces.push(Buffer.from(piece));
      // Whoever has all of it asks for no more.
      if (Buffer.concat(pieces).length === stamp.size) break;
    }
    return { held: false, text: Buffer.concat(pieces).toString() };
  };

  it('is held by its digest', async () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'some words');
    const held = new HeldFiles(files);
    expect(await send(held, path, sha('some words'))).toEqual({ held: false, text: 'some words' });
    expect(await send(held, path, sha('some words'))).toEqual({ held: true, text: 'some words' });
  });

  it('is not held when its bytes are others by then', async () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'same size!');
    const held = new HeldFiles(files);
    await send(held, path, sha('some words'));
    expect((await send(held, path, sha('some words'))).held).toBe(false);
  });

  it('is not held when it is long', async () => {
    const path = join(folder, 'a');
    const long = 'x'.repeat(65 * 1024);
    writeFileSync(path, long);
    const held = new HeldFiles(files);
    await send(held, path, sha(long));
    expect((await send(held, path, sha(long))).held).toBe(false);
  });
});
