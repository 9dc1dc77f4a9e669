import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { operatorFilePaths } from '../../../src/config/paths.ts';
import { readSettings, type Settings } from '../../../src/config/settings.ts';
import { StoresOnDisk } from '../../../src/dispatch/stores/stores-on-disk.ts';

let settings: Settings;
let file: string;
let warned: unknown[];
let stores: StoresOnDisk;

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-stores-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  settings = readSettings({ SVC_CONFIG_DIR: folder });
  file = operatorFilePaths(settings).stores;
  warned = [];
  const logger = { ...silentLogger, warn: (...told: unknown[]) => warned.push(told) };
  writeFileSync(file, '{"stores":["/a"]}');
  stores = new StoresOnDisk(settings, ['/a'], logger);
});

it('takes up the list of a file that moved', () => {
  writeFileSync(file, '{"stores":["/a","/bb"]}');
  stores.look();
  expect(stores.roots).toEqual(['/a', '/bb']);
});

it('keeps the stores, and warns once, where the file cannot even be looked at', () => {
  rmSync(file);
  symlinkSync(file, file);
  stores.look();
  stores.look();
  expect(stores.roots).toEqual(['/a']);
  expect(warned).toHaveLength(1);
  expect(warned[0]).toMatchObject([{ detail: expect.stringContaining('ELOOP') }, expect.anything()]);

  rmSync(file);
  writeFileSync(file, '{"stores":["/c"]}');
  stores.look();
  expect(stores.roots).toEqual(['/c']);
});
