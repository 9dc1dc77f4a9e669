import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { digestFile } from '../../src/platform/file-digest.ts';
import { createFileReader } from '../../src/platform/file-reader.ts';
import { answeringDisks } from '../kit/answering-disks.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

const files = createFileReader(systemClock, answeringDisks);
let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const at = (name: string) => join(scratch.path, name);
const CHUNK = 256 * 1024;
const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

async function bytesOf(path: string, from?: number, end?: number): Promise<Buffer> {
  const { stamp } = await files.stamp(path);
  const chunks: Uint8Array[] = [];
  for await (const chunk of files.read(path, stamp, from ?? 0, end ?? stamp.size))
    chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** As root every file may be read, so the refusal of the system is had from what root may not open either. */
const codeOf = (run: Promise<unknown>) =>
  run.then(
    () => null,
    (error: { code: string }) => error.code,
  );

describe('what is at a path', () => {
  it('[RPL-11] is reported for files, folders, links and missing paths', async () => {
    const path = scratch.write('a', 'four');
    symlinkSync(path, at('link'));
    expect(await files.stat(path)).toMatchObject({ kind: 'file', stamp: { size: 4 } });
    expect(await files.stat(at('link'))).toMatchObject({ kind: 'file', stamp: { size: 4 } });
    expect(await files.stat(scratch.path)).toMatchObject({ kind: 'directory' });
    expect(await files.stat(at('none'))).toEqual({ kind: 'missing' });
    expect(await files.stat(join(path, 'below'))).toEqual({ kind: 'missing' });
    symlinkSync(at('loop'), at('loop'));
    expect(await files.stat(at('loop'))).toEqual({ kind: 'missing' });
    expect(await files.stat(at('x'.repeat(300)))).toEqual({ kind: 'missing' });
  });

  it('[RPL-10] is sent only if it is a regular file: a pipe, a socket and a device are refused without opening', async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const server = createServer().listen(at('socket'));
    await new Promise((done) => server.once('listening', done));
    for (const path of [at('pipe'), at('socket'), '/dev/zero', '/dev/null', scratch.path])
      expect(await codeOf(files.stamp(path)), path).toBe('not_a_file');
    expect(await codeOf(files.stamp(at('none')))).toBe('file_not_found');
    await new Promise((done) => server.close(done));
  });

  it('[RPL-10] a pipe that replaces a file blocks no reader', async () => {
    const path = scratch.write('a', 'four');
    const { stamp } = await files.stamp(path);
    execFileSync('mkfifo', [at('pipe')]);
    renameSync(at('pipe'), path);
    expect(await codeOf(files.head(path, stamp, 10))).toBe('file_changed');
    expect(() => digestFile(path, stamp)).toThrowError(expect.objectContaining({ code: 'not_a_file' }));
  });
});

describe('the bytes of a file', () => {
  it('[RPL-10] arrive complete, in any range, over many chunks', async () => {
    const text = Buffer.alloc(3 * CHUNK + 17, 'abcdefghij');
    const path = at('large');
    writeFileSync(path, text);
    expect((await bytesOf(path)).equals(text)).toBe(true);
    expect((await bytesOf(path, CHUNK - 3, CHUNK + 5)).equals(text.subarray(CHUNK - 3, CHUNK + 5))).toBe(
      true,
    );
    expect((await bytesOf(path, 7, 7)).length).toBe(0);
    const { stamp } = await files.stamp(path);
    const buffers = new Set<ArrayBufferLike>();
    for await (const { buffer } of files.read(path, stamp, 0, stamp.size)) buffers.add(buffer);
    expect(buffers.size).toBe(2);
    expect((await bytesOf(scratch.write('empty', ''))).length).toBe(0);
    expect(Buffer.from(await files.head(path, stamp, 12)).toString()).toBe('abcdefghijab');
  });

  it('[RPL-13] are those of the stamp though the file grows meanwhile', async () => {
    const path = scratch.write('log', 'one\n');
    const { stamp } = await files.stamp(path);
    appendFileSync(path, 'two\n');
    const chunks = [];
    for await (const chunk of files.read(path, stamp, 0, stamp.size)) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe('one\n');
    expect(digestFile(path, stamp)).toEqual({ sha256: sha256('one\n'), settled: false });
  });

  it('[RPL-10] end with an error if the file has become shorter, or is another one', async () => {
    const path = at('shrinks');
    writeFileSync(path, Buffer.alloc(4 * CHUNK));
    const { stamp } = await files.stamp(path);
    const reading = files.read(path, stamp, 0, stamp.size);
    await reading.next();
    truncateSync(path, 10);
    const rest = async () => {
      for await (const _ of reading);
    };
    expect(await codeOf(rest())).toBe('file_changed');
    expect(() => digestFile(path, stamp)).toThrowError(expect.objectContaining({ code: 'file_changed' }));
    scratch.write('other', 'x'.repeat(4 * CHUNK));
    renameSync(at('other'), path);
    expect(await codeOf(files.read(path, stamp, 0, 1).next())).toBe('file_changed');
    expect(() => digestFile(path, stamp)).toThrowError(expect.objectContaining({ code: 'file_changed' }));
  });
});

describe('the digest', () => {
  it('[RPL-22] is that of the bytes, and may be cached once the file has not changed for a while', async () => {
    const path = scratch.write('a', 'four');
    const { stamp } = await files.stamp(path);
    expect(digestFile(path, stamp)).toEqual({ sha256: sha256('four'), settled: false });
    expect(digestFile(path, stamp, Date.now() + 5_000)).toEqual({ sha256: sha256('four'), settled: true });
    const empty = scratch.write('empty', '');
    expect(digestFile(empty, (await files.stamp(empty)).stamp).sha256).toBe(sha256(''));
  });
});
