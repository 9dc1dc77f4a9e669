import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isTemporaryName, removeLeftTemporaries, writeFileAtomic } from '../../src/platform/atomic-write.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'atomic-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('writeFileAtomic', () => {
  it('writes a new file with mode 0600 by default, and keeps the mode of an old one', () => {
    const path = join(folder, 'a');
    writeFileAtomic(path, 'one');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const open = join(folder, 'b');
    writeFileSync(open, 'old', { mode: 0o644 });
    writeFileAtomic(open, new Uint8Array([111, 107]), { mode: 0o600 });
    expect(readFileSync(open, 'utf8')).toBe('ok');
    expect(statSync(open).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder)).toEqual(['a', 'b']);
  });

  it('replaces the file that a symlink names, not the link', () => {
    writeFileSync(join(folder, 'real'), 'old');
    symlinkSync('real', join(folder, 'link'));
    writeFileAtomic(join(folder, 'link'), 'new');
    expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('new');
  });

  it('makes the file that a symlink names where it is missing, and keeps the link', () => {
    symlinkSync('real', join(folder, 'middle'));
    symlinkSync('middle', join(folder, 'link'));
    writeFileAtomic(join(folder, 'link'), 'new');
    expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('new');
    expect(readlinkSync(join(folder, 'link'))).toBe('middle');
  });

  it('leaves the old file and nothing else if it is interrupted before the rename', () => {
    const path = join(folder, 'a');
    writeFileSync(path, 'old');
    const stop = () => {
      throw new Error('stop');
    };
    expect(() => writeFileAtomic(path, 'new', { beforeRename: stop })).toThrow('stop');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['a']);
  });

  it('removes what crashed writers of that file left, and nothing else', () => {
    const names = [
      '.a.tmp-12-0123456789ab',
      '.b.tmp-12-0123456789ab',
      '.a.tmp-notes',
      'a.tmp-12-0123456789ab',
    ];
    for (const name of names) writeFileSync(join(folder, name), '');
    expect(names.map(isTemporaryName)).toEqual([true, true, false, false]);
    removeLeftTemporaries(join(folder, 'a'));
    expect(readdirSync(folder).sort()).toEqual(names.slice(1).sort());
  });
});
