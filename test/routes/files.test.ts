import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../http/raw-exchange.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

let served: ServedRoutes;
let scratch: ScratchFolder;
beforeEach(async () => {
  served = await serveRoutes();
  scratch = scratchFolder();
});
afterEach(async () => {
  await served.stop();
  scratch.remove();
});

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');
const file = (path: string, headers = {}) =>
  served.get(`/api/v1/file?path=${encodeURIComponent(path)}`, headers);
const info = (path: string) => served.get(`/api/v1/file-info?path=${encodeURIComponent(path)}`);
/** Long enough ago that a digest may be kept. */
const settle = (path: string, at = 1_700_000_000) => {
  utimesSync(path, at, at);
  return path;
};
const digests = () => served.callers.pool.jobs.filter((job) => job === 'digest_file').length;

describe('GET /file', () => {
  it('[RPL-10] [RPL-22] returns the bytes with a weak digest tag and the time of the last change', async () => {
    const path = settle(scratch.write('notes/a b.md', '# Café\n'));
    const answer = await file(path);
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        etag: `W/'sha256-${sha256('# Café\n')}'`,
        'last-modified': 'Tue, 14 Nov 2023 22:13:20 GMT',
        'content-type': 'text/markdown; charset=utf-8',
        'content-length': '8',
      },
    });
    expect(Buffer.from(answer.body, 'latin1').toString()).toBe('# Café\n');
  });

  it('[RPL-22] answers 304 only to an If-None-Match that contains the tag', async () => {
    const path = scratch.write('a.txt', 'four');
    const tag = `W/'sha256-${sha256('four')}'`;
    for (const match of [tag, `"x", ${tag}`, `${tag}, "x"`, '*', tag.slice(2)])
      expect(await file(path, { 'If-None-Match': match }), match).toMatchObject({
        status: 304,
        body: '',
        headers: { etag: tag },
      });
    for (const headers of [
      { 'If-None-Match': `W/'sha256-${sha256('five')}'` },
      { 'If-Modified-Since': new Date().toUTCString() },
      { 'If-None-Match': sha256('four') },
    ])
      expect(await file(path, headers)).toMatchObject({ status: 200, body: 'four' });
    writeFileSync(path, 'five');
    expect(await file(path, { 'If-None-Match': tag })).toMatchObject({ status: 200, body: 'five' });
  });

  it('[RPL-22] computes a digest once for each state of a file, and once for all concurrent requests', async () => {
    const path = settle(scratch.write('a.txt', 'four'));
    await Promise.all([file(path), file(path), file(path)]);
    await file(path, { 'If-None-Match': '"x"' });
    expect(digests()).toBe(1);
    writeFileSync(path, 'five');
    settle(path, 1_700_000_001);
    expect((await file(path)).headers.etag).toContain(sha256('five'));
    expect(digests()).toBe(2);
    appendFileSync(path, 'six');
    await file(path);
    expect((await file(path)).body).toBe('fivesix');
    expect(digests()).toBe(4);
  });

  it('[RPL-22] accepts any Accept header', async () => {
    const path = scratch.write('a.png', 'x');
    expect(await file(path, { Accept: 'application/json' })).toMatchObject({
      status: 200,
      headers: { 'content-type': 'image/png' },
    });
  });

  it.each([
    ['a.html', 'text/html; charset=utf-8'],
    ['a.svg', 'image/svg+xml'],
    ['a.xhtml', 'application/xhtml+xml'],
    ['a.xml', expect.stringMatching(/^(?:text|application)\/xml\b/)],
    ['a.json', 'application/json; charset=utf-8'],
    ['a.ts', 'text/plain; charset=utf-8'],
    ['a.js', 'text/plain; charset=utf-8'],
    ['a.mjs', 'text/plain; charset=utf-8'],
    ['a.PNG', 'image/png'],
    ['a.pdf', 'application/pdf'],
    ['Makefile', 'text/plain; charset=utf-8'],
  ])('sends %s as %s', async (name, type) => {
    const { headers } = await file(scratch.write(name, 'x'));
    expect(headers['content-type']).toEqual(type);
    expect(headers['content-security-policy']).toMatch(/^sandbox; default-src 'none';/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('distinguishes text from other bytes if the name does not decide', async () => {
    const path = join(scratch.path, 'unnamed');
    const typeOf = async (bytes: Uint8Array | string) => {
      writeFileSync(path, bytes);
      return (await file(path)).headers['content-type'];
    };
    expect(await typeOf('é'.repeat(4_000))).toBe('text/plain; charset=utf-8');
    expect(await typeOf(`a${'é'.repeat(4_000)}`)).toBe('text/plain; charset=utf-8');
    expect(await typeOf(Uint8Array.of(1, 0, 2))).toBe('application/octet-stream');
    expect(await typeOf(Uint8Array.of(0x61, 0xe9))).toBe('application/octet-stream');
    expect(await typeOf('')).toBe('text/plain; charset=utf-8');
  });

  it('sends a range, only the head, and an empty file', async () => {
    const path = scratch.write('a.txt', '0123456789');
    expect(await file(path, { Range: 'bytes=2-4' })).toMatchObject({
      status: 206,
      body: '234',
      headers: { 'content-range': 'bytes 2-4/10' },
    });
    const head = await ask({ port: served.port }, 'HEAD', `/api/v1/file?path=${path}`);
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '10' } });
    expect(await file(scratch.write('empty.txt', ''))).toMatchObject({
      status: 200,
      body: '',
      headers: { 'content-length': '0', etag: `W/'sha256-${sha256('')}'` },
    });
  });

  it('refuses a path that is not absolute, and one with a NUL', async () => {
    for (const path of ['', 'notes/a.md', './a', '~/a', '/a\0b'])
      expect(await file(path), path).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    expect(await served.get('/api/v1/file')).toMatchObject({ status: 400 });
  });

  it('sends no folder, pipe, socket or device, and does not block on any', async () => {
    execFileSync('mkfifo', [join(scratch.path, 'pipe')]);
    const server = createServer().listen(join(scratch.path, 'socket'));
    await new Promise((done) => server.once('listening', done));
    for (const name of ['pipe', 'socket', '/dev/zero', '/dev/tty', '.'])
      expect(await file(name.startsWith('/') ? name : join(scratch.path, name)), name).toMatchObject({
        status: 422,
        json: { error: 'not_a_file' },
      });
    await new Promise((done) => server.close(done));
  });

  it('reports a missing file', async () => {
    symlinkSync('/nowhere/at/all', join(scratch.path, 'dangling'));
    for (const path of [join(scratch.path, 'none'), join(scratch.path, 'dangling'), '/etc/passwd/x'])
      expect(await file(path), path).toMatchObject({ status: 404, json: { error: 'file_not_found' } });
  });

  it('[RTE-2] treats an unknown origin as this host', async () => {
    const path = scratch.write('a.txt', 'four');
    expect(await served.get(`/api/v1/file?path=${path}&origin=host-z`)).toMatchObject({ body: 'four' });
  });
});

describe('GET /file-info', () => {
  it('[RPL-11] reports what is at a path, without its bytes', async () => {
    const path = settle(scratch.write('a.md', 'four'));
    expect((await info(path)).json).toEqual({
      path,
      host: 'host-a',
      exists: true,
      kind: 'file',
      size: 4,
      mtime_ms: 1_700_000_000_000,
      content_type: 'text/markdown; charset=utf-8',
    });
    expect((await info(scratch.path)).json).toMatchObject({ exists: true, kind: 'directory', size: null });
    expect((await info('/dev/zero')).json).toMatchObject({ exists: true, kind: 'other', size: null });
    expect((await info(join(scratch.path, 'none'))).json).toEqual({
      path: join(scratch.path, 'none'),
      host: 'host-a',
      exists: false,
      kind: null,
      size: null,
      mtime_ms: null,
      content_type: null,
    });
    expect((await info('relative')).status).toBe(400);
    expect(served.callers.pool.jobs).toEqual([]);
  });
});
