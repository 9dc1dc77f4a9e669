import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDataDir } from '../../src/config/data-dir.ts';

let folder: string;
let data_dir: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-data-'));
  data_dir = join(folder, 'data');
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8);

describe('the data folder', () => {
  it('is made accessible to this user only', () => {
    makeDataDir({ data_dir });
    expect(modeOf(data_dir)).toBe('700');
  });

  it('is closed to other users if it was open, with its files and folders', () => {
    mkdirSync(join(data_dir, 'runs'), { recursive: true });
    const outside = join(folder, 'outside');
    for (const path of ['events.jsonl', 'daemon.json', 'tool']
      .map((name) => join(data_dir, name))
      .concat(outside))
      writeFileSync(path, '');
    chmodSync(join(data_dir, 'tool'), 0o755);
    for (const path of [data_dir, join(data_dir, 'runs')]) chmodSync(path, 0o775);
    for (const path of [join(data_dir, 'events.jsonl'), join(data_dir, 'daemon.json'), outside])
      chmodSync(path, 0o664);
    symlinkSync(outside, join(data_dir, 'link'));
    makeDataDir({ data_dir });
    expect([data_dir, join(data_dir, 'runs'), join(data_dir, 'tool')].map(modeOf)).toEqual([
      '700',
      '700',
      '700',
    ]);
    expect([join(data_dir, 'events.jsonl'), join(data_dir, 'daemon.json')].map(modeOf)).toEqual([
      '600',
      '600',
    ]);
    expect(modeOf(outside)).toBe('664');
  });

  it('may be a link to a folder of this user', () => {
    const real = join(folder, 'real');
    mkdirSync(real, { mode: 0o755 });
    symlinkSync(real, data_dir);
    makeDataDir({ data_dir });
    expect(modeOf(real)).toBe('700');
  });

  it('is refused if all users share it, and is not changed', () => {
    mkdirSync(data_dir);
    chmodSync(data_dir, 0o1777);
    expect(() => makeDataDir({ data_dir })).toThrow(/is shared by all users; choose another path/);
    expect(modeOf(data_dir)).toBe('1777');
  });

  it.runIf(process.geteuid?.() === 0)('is refused if it belongs to another user', () => {
    mkdirSync(data_dir);
    chownSync(data_dir, 65_534, 65_534);
    expect(() => makeDataDir({ data_dir })).toThrow(/is not a folder of this user; choose another path/);
  });
});
