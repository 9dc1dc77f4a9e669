import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  acquireFileLock,
  isLockName,
  type LockHolder,
  readProcessStart,
  removeLeftLockFiles,
  tryFileLock,
} from '../../src/platform/file-lock.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(folder, '.a.md.lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What this process would write into a lock file, with changes. */
function holder(changes: Partial<LockHolder>): LockHolder {
  const lock = tryFileLock(join(folder, '.probe.lock'))!;
  const own = JSON.parse(readFileSync(join(folder, '.probe.lock'), 'utf8')) as LockHolder;
  lock.release();
  return { ...own, nonce: 'ab', ...changes };
}
const put = (value: LockHolder) => writeFileSync(path, JSON.stringify(value));

describe('file lock', () => {
  it('is held by one holder at a time and free again after release', async () => {
    const lock = await acquireFileLock(path);
    expect(tryFileLock(path)).toBeNull();
    const waiting = acquireFileLock(path, { timeoutMs: 10_000 });
    lock.release();
    (await waiting).release();
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is never taken from a live holder, which the timeout error names', async () => {
    tryFileLock(path);
    await expect(acquireFileLock(path, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining(`process ${process.pid} on`),
    });
  });

  it('is taken over from a process that is gone', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    const { pid } = child;
    await once(child, 'exit');
    put(holder({ pid: pid! }));
    expect(tryFileLock(path)).not.toBeNull();
    expect(readdirSync(folder)).toEqual(['.a.md.lock']);
  });

  it.runIf(process.platform === 'linux')('is taken over from a zombie', async () => {
    const child = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [output] = await once(child.stdout!, 'data');
      const pid = Number(String(output));
      while (readProcessStart(pid) !== null) await new Promise((resolve) => setTimeout(resolve, 5));
      put(holder({ pid, start_time: null }));
      expect(tryFileLock(path)).not.toBeNull();
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  it.runIf(process.platform === 'linux').each<[string, Partial<LockHolder>]>([
    ['a reused process id', { start_time: '1' }],
    ['an earlier boot', { boot_id: 'other' }],
  ])('is taken over after %s', (_what, changes) => {
    put(holder(changes));
    expect(tryFileLock(path)).not.toBeNull();
  });

  it.each<[string, Partial<LockHolder>]>([
    ['another host', { host: 'elsewhere', pid: 999_999_999, boot_id: 'other' }],
    ['another process namespace', { pid_ns: 'pid:[1]', pid: 999_999_999 }],
    ['a live process', {}],
    ['another owner in this process', { owner: { name: 'other', generation: 0 } }],
    ['its own generation', { owner: { name: 'poller', generation: 5 } }],
  ])('is never taken from %s', (_what, changes) => {
    put(holder(changes));
    expect(tryFileLock(path, { name: 'poller', generation: 5 })).toBeNull();
  });

  it('is taken over by the next generation of its owner in the same process', () => {
    put(holder({ owner: { name: 'poller', generation: 4 } }));
    expect(tryFileLock(path, { name: 'poller', generation: 5 })).not.toBeNull();
  });

  it('is not broken if its content cannot be read', () => {
    writeFileSync(path, '');
    expect(tryFileLock(path)).toBeNull();
  });

  it('survives a process that died while breaking it', () => {
    const dead = holder({ start_time: '1', boot_id: 'other' });
    put(dead);
    writeFileSync(`${path}.break`, JSON.stringify({ ...dead, nonce: 'cd' }));
    expect(tryFileLock(path)).not.toBeNull();
  });

  it('leaves no file of a dead process behind, and every file of a live one', () => {
    const dead = holder({ boot_id: 'other' });
    writeFileSync(
      `${path}.new-abc`,
      JSON.stringify(process.platform === 'linux' ? dead : { ...dead, pid: 999_999_999 }),
    );
    writeFileSync(`${path}.new-def`, JSON.stringify(holder({})));
    writeFileSync(join(folder, '.a.md.lock.notes'), 'mine');
    writeFileSync(`${path}.new-0a1`, '');
    writeFileSync(`${path}.new-0a2`, '{"host":"x","pi');
    removeLeftLockFiles(path);
    expect(readdirSync(folder).sort()).toEqual(['.a.md.lock.new-def', '.a.md.lock.notes']);
    expect(isLockName('.a.md.lock.new-def')).toBe(true);
    expect(isLockName('.a.md.lock.notes')).toBe(false);
  });
});
