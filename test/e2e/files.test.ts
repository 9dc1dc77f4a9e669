import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, truncateSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sentImage } from '../fibers/attachments/images.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    prepare(home) {
      home.fiber('work/loader', { svc: null, body: 'The loader reads the Café fonts.\n' });
      home.fiber('work/panel', { svc: null, body: 'A panel.\n' });
    },
  });
});
afterAll(() => daemon.dispose());

function open(path: string): Promise<IncomingMessage> {
  const [host, port] = daemon.address.split(':');
  const url = `/api/v1/file?path=${encodeURIComponent(path)}`;
  return new Promise((resolve, reject) => {
    get({ host, port, path: url, agent: false }, resolve).on('error', reject);
  });
}

const GIB = 1024 ** 3;
/** Two gigabytes are hashed and sent, perhaps beside much else. */
const LARGE_MS = 240_000;

describe('a daemon', () => {
  it.runIf(process.platform === 'linux')(
    '[RPL-10] [P20] sends a file of 2 GB in constant memory',
    async () => {
      const path = daemon.home.sparse('large', 2 * GIB);
      const head = await daemon.http.get(`/file-info?path=${path}`);
      expect(head.body).toMatchObject({ size: 2 * GIB, kind: 'file' });
      const before = daemon.resident_mib;
      let most = 0;
      let size = 0;
      let last = Buffer.alloc(0);
      const response = await open(path);
      expect(response.headers['content-length']).toBe(String(2 * GIB));
      for await (const chunk of response) {
        size += chunk.length;
        last = chunk;
        if (size % (64 * 1024 * 1024) < chunk.length) most = Math.max(most, daemon.resident_mib - before);
      }
      expect(size).toBe(2 * GIB);
      expect(last.subarray(-3).toString()).toBe('end');
      expect(most).toBeLessThan(200);
    },
    LARGE_MS,
  );

  it('[RPL-10] waits for a client that reads slowly, and stops when it leaves', async () => {
    const path = daemon.home.sparse('slow', GIB / 4);
    const before = daemon.resident_mib;
    const response = await open(path);
    await new Promise<void>((resolve) => response.once('readable', resolve));
    const fds = () => openFilesOf(path);
    await until('the file being open', () => fds() === 1);
    expect(daemon.resident_mib - before).toBeLessThan(100);
    response.destroy();
    await until('the file being closed', () => fds() === 0);
    expect((await daemon.version()).ready).toBe(true);
  });

  it('[RPL-10] ends the connection when a file becomes shorter while it is sent', async () => {
    const path = daemon.home.sparse('shrinks', GIB / 4);
    const response = await open(path);
    await new Promise<void>((resolve) => response.once('readable', resolve));
    truncateSync(path, 1024);
    const ended = (async () => {
      for await (const _ of response);
    })();
    await expect(ended).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect((await daemon.version()).ready).toBe(true);
  });

  it('[RPL-4] searches the current bodies of its stores', async () => {
    const search = async (query: string) => {
      const { body } = await daemon.http.get<{ hits: { id: string }[] }>(`/search?query=${query}`);
      return body.hits.map(({ id }) => id);
    };
    expect(await search('cafe')).toEqual(['work/loader']);
    await daemon.http.post('/fiber-edit', { fiber_id: 'work/panel', body: 'A panel for the café.\n' });
    expect((await search('cafe')).sort()).toEqual(['work/loader', 'work/panel']);
    const ran = await daemon.home.svc('search', 'cafe', 'panel', '--json');
    expect(JSON.parse(ran.stdout)).toMatchObject({ total: 1, hits: [{ id: 'work/panel' }] });
  });

  it('[WPL-9] [ATT-1] stores the images of a fiber under its uid', async () => {
    const { name, mime, data, sha256 } = sentImage('image/png', 2_000_000);
    const answer = await daemon.http.post<{ files: { path: string }[] }>('/attachments', {
      fiber: 'loader',
      attachments: [{ name, mime, data, sha256 }],
    });
    const { uid } = (await daemon.row('work/loader'))!;
    const path = join(daemon.home.data, 'attachments', uid!, `${sha256.slice(0, 16)}.png`);
    expect(answer).toMatchObject({ status: 200, body: { files: [{ name, path, sha256, size: 2_000_000 }] } });
    expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(sha256);
    const back = await daemon.http.get(`/file?path=${path}`);
    expect(back.headers).toMatchObject({ 'content-type': 'image/png', etag: `W/'sha256-${sha256}'` });
    const stranger = { fiber: 'work/nobody', attachments: [{ name, mime, data, sha256 }] };
    expect(await daemon.http.post('/attachments', stranger)).toMatchObject({
      status: 404,
      body: { error: 'fiber_not_found' },
    });
  });
});

/** How many descriptors of the daemon are open on a file. */
function openFilesOf(path: string): number {
  const folder = `/proc/${daemon.pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)) === path;
    } catch {
      return false;
    }
  }).length;
}
