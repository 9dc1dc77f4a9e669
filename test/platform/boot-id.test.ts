import { expect, it } from 'vitest';
import { readBootId } from '../../src/platform/boot-id.ts';
import { spawnPiped } from '../../src/platform/piped-process.ts';
import { createRunner, type ProcessResult } from '../../src/platform/process.ts';

const UUID = '0b5e1f6c-6f2e-4a52-9f0e-2f1f3c1d9a77';

it.runIf(process.platform === 'linux')('stays the same while the machine is up', async () => {
  const first = await readBootId({ platform: 'linux', runner: createRunner() });
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(await readBootId({ platform: 'linux', runner: createRunner() })).toBe(first);
});

it.each<[string, ProcessResult, string | null]>([
  ['an id', { kind: 'exited', code: 0, stdout: `${UUID.toUpperCase()}\n`, stderr: '' }, UUID],
  ['another text', { kind: 'exited', code: 0, stdout: 'no\n', stderr: '' }, null],
  ['a failure', { kind: 'exited', code: 1, stdout: '', stderr: 'unknown oid\n' }, null],
  ['no answer', { kind: 'timed_out' }, null],
])('reads %s of sysctl on macOS', async (_what, result, id) => {
  const runner = { run: async () => result, spawnPiped };
  expect(await readBootId({ platform: 'darwin', runner })).toBe(id);
});
