import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { operatorFilePaths } from '../../../src/config/paths.ts';
import { readSettings, type Settings } from '../../../src/config/settings.ts';
import { StoresOnDisk } from '../../../src/dispatch/stores/stores-on-disk.ts';
import { answeringDisks, remoteDisk } from '../../kit/answering-disks.ts';

let settings: Settings;
let file: string;
let warned: unknown[];
let stores: StoresOnDisk;
let answers: boolean;

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-stores-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  settings = readSettings({ SVC_CONFIG_DIR: folder });
  file = operatorFilePaths(settings).stores;
  warned = [];
  const logger = { ...silentLogger, warn: (...told: unknown[]) => warned.push(told) };
  writeFileSync(file, '{"stores":["/a"]}');
  answers = true;
  const disks = remoteDisk(() => answers);
  stores = new StoresOnDisk(settings, { roots: ['/a'], disks, logger });
});

it('takes up the list of a file that moved', async () => {
  writeFileSync(file, '{"stores":["/a","/bb"]}');
  await stores.look();
  expect(stores.roots).toEqual(['/a', '/bb']);
});

it('keeps the stores, and warns once, where the file cannot even be looked at', async () => {
  rmSync(file);
  symlinkSync(file, file);
  await stores.look();
  await stores.look();
  expect(stores.roots).toEqual(['/a']);
  expect(warned).toHaveLength(1);
  expect(warned[0]).toMatchObject([{ detail: expect.stringContaining('ELOOP') }, expect.anything()]);

  rmSync(file);
  writeFileSync(file, '{"stores":["/c"]}');
  await stores.look();
  expect(stores.roots).toEqual(['/c']);
});

it('keeps the stores while the disk of the file does not answer, and takes the list up when it is back', async () => {
  answers = false;
  writeFileSync(file, '{"stores":["/a","/bb"]}');
  await stores.look();
  expect(stores.roots).toEqual(['/a']);
  answers = true;
  await stores.look();
  expect(stores.roots).toEqual(['/a', '/bb']);
});

it('keeps the stores while the file is away for a moment', async () => {
  await stores.look();
  rmSync(file);
  await stores.look();
  expect(stores.roots).toEqual(['/a']);
  writeFileSync(file, '{"stores":["/a","/bb"]}');
  await stores.look();
  expect(stores.roots).toEqual(['/a', '/bb']);
});

it('takes up at once what moved on a disk of this machine', async () => {
  stores = new StoresOnDisk(settings, { roots: ['/a'], disks: answeringDisks, logger: silentLogger });
  await stores.look();
  writeFileSync(file, '{"stores":["/a","/bb"]}');
  expect(stores.roots).toEqual(['/a', '/bb']);
});
