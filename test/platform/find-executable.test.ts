import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findExecutable } from '../../src/platform/find-executable.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-find-'));
  for (const folder of ['a', 'b', 'c']) mkdirSync(join(dir, folder));
  writeFileSync(join(dir, 'a', 'tool'), '');
  chmodSync(join(dir, 'a', 'tool'), 0o644);
  mkdirSync(join(dir, 'b', 'tool'));
  writeFileSync(join(dir, 'c', 'tool'), '', { mode: 0o755 });
  writeFileSync(join(dir, 'c', 'odd $(name)'), '', { mode: 0o755 });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it('finds the first file on the PATH that can be executed', async () => {
  const path = `${dir}/missing:${dir}/a:${dir}/b:${dir}/c`;
  expect(await findExecutable('tool', path)).toBe(join(dir, 'c', 'tool'));
  expect(await findExecutable('odd $(name)', path)).toBe(join(dir, 'c', 'odd $(name)'));
  expect(await findExecutable('other', path)).toBeNull();
});

it('treats a name with a slash as a path', async () => {
  expect(await findExecutable('./tool', '', join(dir, 'c'))).toBe(join(dir, 'c', 'tool'));
  expect(await findExecutable(join(dir, 'c', 'tool'), '')).toBe(join(dir, 'c', 'tool'));
  expect(await findExecutable(join(dir, 'a', 'tool'), `${dir}/c`)).toBeNull();
});

it('skips PATH entries that depend on the working directory', async () => {
  expect(await findExecutable('tool', ':.:c', join(dir, 'c'))).toBeNull();
  expect(await findExecutable('', `${dir}/c`)).toBeNull();
  expect(await findExecutable('tool\0', `${dir}/c`)).toBeNull();
});
