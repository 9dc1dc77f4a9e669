import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkAttachments } from '../../../src/fibers/attachments/check-attachments.ts';
import { storeAttachments } from '../../../src/fibers/attachments/store-attachments.ts';
import { sweepAttachments } from '../../../src/fibers/attachments/sweep-attachments.ts';
import { sweepLeftTemporaries } from '../../../src/platform/left-temporaries.ts';
import { type ScratchFolder, scratchFolder } from '../../kit/scratch-folder.ts';
import { bodyOf, type SentImage, sentImage } from './images.ts';

const UID = '01JAAAAAAAAAAAAAAAAAAAAAAA';
const DAY_MS = 86_400_000;
let scratch: ScratchFolder;
let folder: string;
beforeEach(() => {
  scratch = scratchFolder();
  folder = join(scratch.path, 'd', 'attachments');
});
afterEach(() => scratch.remove());

function store(attachments: SentImage[], uid = UID, now = Date.now()) {
  const { checked, bytes } = checkAttachments(bodyOf(attachments));
  return storeAttachments({ folder, of: { uid }, files: checked.images, bytes }, now);
}
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('storing a batch', () => {
  it('[ATT-1] [REC-1] names each file by its content, below the uid of its fiber, readable only by its owner', () => {
    const images = [sentImage('image/jpeg', 80, 1), sentImage('image/png', 90, 2)];
    const files = store(images);
    expect(files).toEqual(
      images.map(({ name, sha256, bytes }, index) => ({
        name,
        path: join(folder, UID, `${sha256.slice(0, 16)}.${['jpg', 'png'][index]}`),
        sha256,
        size: bytes.length,
      })),
    );
    for (const [index, { path }] of files.entries()) {
      expect(readFileSync(path).equals(images[index]!.bytes)).toBe(true);
      expect(modeOf(path)).toBe(0o600);
    }
    expect(modeOf(folder)).toBe(0o700);
    expect(modeOf(join(folder, UID))).toBe(0o700);
    expect(readdirSync(join(folder, UID))).toHaveLength(2);
  });

  it('leaves, where it is killed, files that the sweep of temporary files knows', async () => {
    const source = new URL('../../../src/fibers/attachments/store-attachments.ts', import.meta.url).href;
    const file = { name: 'a.txt', kept_as: `${'a'.repeat(251)}.txt`, sha256: '', offset: 0, size: 1 };
    const batch = { folder, of: { message_id: 'm-1' }, files: [file] };
    const script = `import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      fs.renameSync = () => process.kill(process.pid, 'SIGKILL');
      syncBuiltinESMExports();
      const { storeAttachments } = await import(${JSON.stringify(source)});
      storeAttachments({ ...${JSON.stringify(batch)}, bytes: new Uint8Array(1) });`;
    spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    const files = () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'));
    expect(files()).toHaveLength(1);
    expect(await sweepLeftTemporaries(folder, 1, Date.now() + DAY_MS)).toBe(1);
    expect(files()).toEqual([]);
  });

  it('[ATT-1] returns the same path when an image is sent again, and updates its time', () => {
    const [first] = store([sentImage()]);
    const { ino } = statSync(first!.path);
    const old = Date.now() / 1000 - 86_400;
    utimesSync(first!.path, old, old);
    chmodSync(first!.path, 0o644);
    chmodSync(join(folder, UID), 0o755);
    const [again, twin] = store([sentImage(), { ...sentImage(), name: 'twin' }]);
    expect(again!.path).toBe(first!.path);
    expect(twin).toMatchObject({ path: first!.path, name: 'twin' });
    expect(statSync(first!.path).ino).toBe(ino);
    expect(statSync(first!.path).mtimeMs).toBeGreaterThan(Date.now() - 60_000);
    expect([modeOf(first!.path), modeOf(join(folder, UID))]).toEqual([0o600, 0o700]);
  });

  it('[ATT-1] rewrites a damaged image, and follows no link at its path', () => {
    const [file] = store([sentImage()]);
    writeFileSync(file!.path, Buffer.alloc(sentImage().bytes.length));
    store([sentImage()]);
    expect(readFileSync(file!.path).equals(sentImage().bytes)).toBe(true);
    const elsewhere = scratch.write('elsewhere', 'keep me');
    const other = sentImage('image/png', 70, 9);
    const place = join(folder, UID, `${other.sha256.slice(0, 16)}.png`);
    symlinkSync(elsewhere, place);
    store([other]);
    expect(readFileSync(elsewhere, 'utf8')).toBe('keep me');
    expect(readFileSync(place).equals(other.bytes)).toBe(true);
  });

  it('[ATT-1] leaves nothing of a batch that cannot be stored completely', () => {
    const [good, bad] = [sentImage('image/png', 80, 1), sentImage('image/png', 90, 2)];
    mkdirSync(join(folder, UID, `${bad.sha256.slice(0, 16)}.png`, 'in-the-way'), { recursive: true });
    expect(() => store([good, bad])).toThrowError(expect.objectContaining({ code: 'store_unavailable' }));
    expect(readdirSync(join(folder, UID))).toEqual([`${bad.sha256.slice(0, 16)}.png`]);
  });

  it('[ATT-1] refuses a folder that is a link, and a uid that could lead elsewhere', () => {
    mkdirSync(folder, { recursive: true });
    symlinkSync(scratch.mkdir('other'), join(folder, UID));
    expect(() => store([sentImage()])).toThrowError(expect.objectContaining({ code: 'store_unavailable' }));
    for (const uid of ['../../etc', '', 'a/b'])
      expect(() => store([sentImage()], uid)).toThrowError(expect.objectContaining({ code: 'uid_missing' }));
    expect(readdirSync(join(scratch.path, 'other'))).toEqual([]);
  });
});

describe('the sweep', () => {
  const aged = (path: string, days: number) => {
    const at = (Date.now() - days * DAY_MS) / 1000;
    utimesSync(path, at, at);
    return path;
  };

  it('[ATT-1] [LIM-7] deletes only images older than 30 days and folders that become empty', () => {
    const old = aged(store([sentImage('image/png', 70, 1)])[0]!.path, 31);
    const kept = aged(store([sentImage('image/png', 70, 2)], UID.replace(/A$/, 'B'))[0]!.path, 29);
    const fresh = scratch.mkdir(join('d', 'attachments', 'just-made'));
    sweepAttachments(folder);
    expect(existsSync(old)).toBe(false);
    expect(readdirSync(folder).sort()).toEqual([UID.replace(/A$/, 'B'), 'just-made']);
    expect(existsSync(kept)).toBe(true);
    aged(fresh, 31);
    sweepAttachments(folder);
    expect(existsSync(fresh)).toBe(false);
  });

  it('[ATT-1] [LIM-7] follows no link, neither to a file nor to a folder', () => {
    const outside = scratch.mkdir('outside');
    const precious = aged(scratch.write('outside/precious.png', 'x'), 400);
    mkdirSync(join(folder, UID), { recursive: true });
    symlinkSync(outside, join(folder, 'a-link'));
    symlinkSync(precious, join(folder, UID, 'link.png'));
    aged(outside, 400);
    sweepAttachments(folder);
    expect(existsSync(precious)).toBe(true);
    expect(existsSync(join(folder, 'a-link'))).toBe(true);
  });

  it('[LIM-7] does nothing if nothing was ever stored', () => {
    expect(() => sweepAttachments(folder)).not.toThrow();
  });
});
