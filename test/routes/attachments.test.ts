import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CodedError } from '../../src/base/errors.ts';
import { sentImage } from '../fibers/attachments/images.ts';
import { ask } from '../http/raw-exchange.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { FIBER } from './samples.ts';
import { type ServedRoutes, serveRoutes } from './served-routes.ts';

const UID = '01JAAAAAAAAAAAAAAAAAAAAAAA';
let served: ServedRoutes;
let scratch: ScratchFolder;
let folder: string;
beforeEach(async () => {
  scratch = scratchFolder();
  served = await serveRoutes({ home: scratch.path });
  folder = join(scratch.path, 'attachments');
  served.callers.poller.answers.fiber = () => ({ fiber: { ...FIBER, uid: UID } });
});
afterEach(async () => {
  await served.stop();
  scratch.remove();
});

const sent = (...images: ReturnType<typeof sentImage>[]) =>
  images.map(({ name, mime, data, sha256 }) => ({ name, mime, data, sha256 }));
const post = (attachments: unknown, more: object = {}) =>
  served.post('/api/v1/attachments', { fiber: 'work/loader', attachments, ...more });

describe('POST /attachments', () => {
  it('[WPL-9] [ATT-1] [REC-1] stores the images of a fiber and returns their paths, in the order of the request', async () => {
    const images = [sentImage('image/webp', 90, 3), sentImage('image/png', 300_000, 2)];
    const { status, json } = await post(sent(...images), { origin: 'host-a' });
    expect(status).toBe(200);
    expect(json).toEqual({
      files: images.map(({ name, sha256, bytes }, index) => ({
        name,
        path: join(folder, UID, `${sha256.slice(0, 16)}.${['webp', 'png'][index]}`),
        sha256,
        size: bytes.length,
      })),
    });
    for (const [index, { path }] of (json.files as { path: string }[]).entries())
      expect(readFileSync(path).equals(images[index]!.bytes)).toBe(true);
    expect(served.callers.poller.asked).toEqual([{ name: 'fiber', input: { id: 'work/loader' } }]);
  });

  it('[ATT-1] [ERR-3] is all or nothing, and names the first broken rule', async () => {
    const bad = { ...sentImage('image/png', 90, 2), sha256: '0'.repeat(64) };
    expect(await post(sent(sentImage(), bad))).toMatchObject({
      status: 400,
      json: { error: 'attachment_sha256', rule: 'sha256', index: 1, name: 'image-2' },
    });
    expect(existsSync(folder)).toBe(false);
    expect(served.callers.poller.asked).toEqual([]);
  });

  it('[ERR-9] is 404 for a fiber in no store of this host', async () => {
    served.callers.poller.answers.fiber = () => {
      throw new CodedError('fiber_not_found', 'no fiber "work/loader"');
    };
    expect(await post(sent(sentImage()))).toMatchObject({ status: 404, json: { error: 'fiber_not_found' } });
    expect(existsSync(folder)).toBe(false);
  });

  it('[ERR-28] is 504 if the store does not answer in time', async () => {
    served.callers.poller.answers.fiber = () => {
      throw new CodedError('deadline_exceeded', 'the poller did not answer');
    };
    expect(await post(sent(sentImage()))).toMatchObject({
      status: 504,
      json: { error: 'deadline_exceeded' },
    });
  });

  it('refuses a fiber without a uid', async () => {
    served.callers.poller.answers.fiber = () => ({ fiber: { ...FIBER, uid: null } });
    expect(await post(sent(sentImage()))).toMatchObject({ status: 422, json: { error: 'uid_missing' } });
  });

  it('[LIM-7] deletes expired images with every success, and not before one', async () => {
    const old = scratch.write(`attachments/${UID.replace(/A$/, 'B')}/0123456789abcdef.png`, 'x');
    const at = Date.now() / 1000 - 31 * 86_400;
    utimesSync(old, at, at);
    await post(sent({ ...sentImage(), sha256: '0' } as ReturnType<typeof sentImage>));
    expect(existsSync(old)).toBe(true);
    await post(sent(sentImage()));
    expect(readdirSync(folder)).toEqual([UID]);
  });

  it('rehearses with dry_run: checks everything, names the paths, writes nothing', async () => {
    const image = sentImage();
    const path = join(folder, UID, `${image.sha256.slice(0, 16)}.png`);
    expect(await post(sent(image), { dry_run: true })).toMatchObject({
      status: 200,
      json: { dry_run: true, would: expect.stringContaining(path), files: [{ path, size: 100 }] },
    });
    expect(existsSync(folder)).toBe(false);
    const broken = await post([{ ...sent(image)[0], mime: 'text/html' }], { dry_run: true });
    expect(broken).toMatchObject({ status: 400, json: { error: 'attachment_mime' } });
  });

  it('accepts only JSON, up to its limit', async () => {
    const plain = await ask({ port: served.port }, 'POST', '/api/v1/attachments', {
      body: '{}',
      headers: { 'Content-Type': 'text/plain' },
    });
    expect(plain.status).toBe(415);
    expect(await post('x'.repeat(65 * 1024 * 1024))).toMatchObject({ status: 413 });
    expect(served.callers.pool.jobs).toEqual([]);
  });
});
