import { mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, systemClock } from '../../src/base/clock.ts';
import { mountOf, parseMounts } from '../../src/platform/disk-walk.cjs';
import { createDisks, type Disks } from '../../src/platform/disks.ts';
import type { PipedProcess } from '../../src/platform/piped-process.ts';
import { createRunner } from '../../src/platform/process.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

const TABLE = [
  '21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw',
  '30 21 0:40 / /srv/two\\040words rw - nfs4 host:/x rw',
  '31 21 0:41 / /srv rw - xfs /dev/sdb rw',
  '32 31 0:42 / /srv/two rw - fuse.sshfs host: rw',
  '33 32 0:43 / /srv/two rw - tmpfs none rw',
  '',
].join('\n');

describe('the mount of a path', () => {
  it.each([
    ['/etc/x', '/', 'ext4'],
    ['/srv', '/srv', 'xfs'],
    ['/srvx/y', '/', 'ext4'],
    ['/srv/two/x', '/srv/two', 'tmpfs'],
    ['/srv/twox', '/srv', 'xfs'],
    ['/srv/two words/a', '/srv/two words', 'nfs4'],
    ['/srv/./two//x', '/srv/two', 'tmpfs'],
    ['/srv/x/../two/y', '/srv', 'xfs'],
  ])('of %s is %s, from its text alone', (path, point, type) => {
    expect(mountOf(path, parseMounts(TABLE))).toEqual({ point, type });
  });

  it.each([
    ['/Users/me/x', '/'],
    ['/Volumes/nas/x', '/Volumes/nas'],
    ['/Volumes', '/'],
  ])('of %s is %s if the system has no mount table', (path, point) => {
    expect(mountOf(path, null).point).toBe(point);
  });
});

describe('a check of a path', () => {
  let scratch: ScratchFolder;
  let disks: Disks;
  beforeEach(() => {
    scratch = scratchFolder();
    disks = createDisks({ clock: systemClock, runner: createRunner() });
  });
  afterEach(() => {
    disks.stop();
    scratch.remove();
  });

  it('[DSP-4] follows links as the kernel does, and reports what it finds', async () => {
    const at = (name: string) => join(scratch.path, name);
    mkdirSync(at('real/inner'), { recursive: true });
    scratch.write('file', 'x');
    symlinkSync('real', at('relative'));
    symlinkSync(at('real'), at('absolute'));
    symlinkSync('/dev/shm', at('elsewhere'));
    symlinkSync(at('loop'), at('loop'));
    symlinkSync('gone', at('dangling'));
    const checks: [string, object][] = [
      ['real/inner', { kind: 'directory', real: at('real/inner') }],
      ['relative/inner', { kind: 'directory', real: at('real/inner') }],
      ['absolute/inner/..', { kind: 'directory', real: at('real') }],
      ['absolute/../file', { kind: 'file', real: at('file') }],
      ['./real//', { kind: 'directory', real: at('real') }],
      ['file/below', { kind: 'missing' }],
      ['nothing', { kind: 'missing' }],
      ['dangling', { kind: 'missing' }],
      ['loop', { kind: 'unreadable', detail: 'ELOOP' }],
      ['x'.repeat(300), { kind: 'unreadable', detail: 'ENAMETOOLONG' }],
    ];
    for (const [name, found] of checks)
      expect(await disks.check(`${scratch.path}/${name}`), name).toEqual(found);
    expect(await disks.check('/dev/null')).toEqual({ kind: 'other', real: '/dev/null' });
    expect(await disks.check('/')).toEqual({ kind: 'directory', real: '/' });
    expect(await disks.check(at('elsewhere'))).toEqual({ kind: 'directory', real: '/dev/shm' });
  });

  it('finds the work tree of a folder by the nearest .git at or above it', async () => {
    const at = (name: string) => join(scratch.path, name);
    mkdirSync(at('repo/.git'), { recursive: true });
    mkdirSync(at('repo/docs/deep'), { recursive: true });
    mkdirSync(at('repo/module'), { recursive: true });
    // A linked work tree and a submodule have a file of that name.
    scratch.write('repo/module/.git', 'gitdir: elsewhere');
    symlinkSync(at('repo/docs'), at('linked'));
    const checks: [string, string][] = [
      ['repo', 'repo'],
      ['repo/docs/deep', 'repo'],
      ['repo/module', 'repo/module'],
      ['linked/deep', 'repo'],
    ];
    for (const [name, tree] of checks)
      expect(await disks.check(at(name)), name).toMatchObject({ kind: 'directory', tree: at(tree) });
  });

  it('follows as many links as the kernel does, and not one more', async () => {
    const at = (nth: number) => join(scratch.path, `link-${nth}`);
    mkdirSync(at(0));
    for (let nth = 1; nth <= 41; nth += 1) symlinkSync(at(nth - 1), at(nth));
    expect(await disks.check(at(40))).toEqual({ kind: 'directory', real: at(0) });
    expect(await disks.check(at(41))).toEqual({ kind: 'unreadable', detail: 'ELOOP' });
    expect(() => statSync(at(41))).toThrow('ELOOP');
  });
});

/** Processes that answer nothing, or answer as `answers` says. */
function silentProcesses(answers: (path: string) => object | null, begins = true) {
  const started: { path: string | null; killed: boolean; exit(): void }[] = [];
  const spawnPiped = (): PipedProcess => {
    let hear: (chunk: Uint8Array) => void = () => {};
    let exited: (detail: string) => void = () => {};
    const process = { path: null as string | null, killed: false, exit: () => exited('ended') };
    started.push(process);
    return {
      pid: started.length,
      write(text) {
        const { id, path } = JSON.parse(text.toString());
        process.path = path;
        const told = answers(path);
        const found = told === null ? [] : [{ kind: 'proven' }, told];
        const lines = begins ? [{ kind: 'begun' }, ...found] : [];
        for (const line of lines.map((one) => ({ id, ...one })))
          hear(Buffer.from(`${JSON.stringify(line)}\n`));
        return true;
      },
      onStdout: (listener) => {
        hear = listener;
      },
      onExit: (listener) => {
        exited = listener;
      },
      end() {},
      kill() {
        process.killed = true;
      },
    };
  };
  return { started, runner: { spawnPiped } };
}

describe('a check of a disk that does not answer', () => {
  it('[DSP-4] blocks one process, answers every caller, and is retried until it answers', async () => {
    const clock = new FakeClock();
    let back = false;
    const { started, runner } = silentProcesses((path) => (back ? { kind: 'directory', real: path } : null));
    const disks = createDisks({ clock, runner });
    let told = 0;
    disks.onAnswer(() => {
      told += 1;
    });
    const checks = ['/x/a', '/x/a', '/x/b', '/x/c'].map((path) => disks.check(path));
    expect(started).toHaveLength(1);
    clock.advance(5_100);
    for (const check of await Promise.all(checks))
      expect(check).toMatchObject({ kind: 'silent', after_ms: 5_000 });
    expect([started.length, started[0]!.killed]).toEqual([1, true]);
    expect(disks.isSilent('/x/d')).toBe(true);
    expect(await disks.prove('/x/d')).toBe('silent');
    clock.advance(60_000);
    expect(started).toHaveLength(1);
    back = true;
    started[0]!.exit();
    clock.advance(1);
    expect([told, disks.isSilent('/x/a'), await disks.prove('/x/a')]).toEqual([1, false, 'answers']);
    disks.stop();
  });

  it('gives no answer about a path that got no slot, and releases every caller when it is stopped', async () => {
    const clock = new FakeClock();
    const { runner } = silentProcesses(() => null);
    const disks = createDisks({ clock, runner });
    const first = disks.check('/x/a');
    const second = disks.check('/x/b');
    disks.stop();
    for (const check of [first, second, disks.check('/x/c')])
      expect(await check).toEqual({ kind: 'unchecked' });
  });

  it('[DSP-4] reports no disk as silent if the process cannot even start its check', async () => {
    const clock = new FakeClock();
    const { started, runner } = silentProcesses(() => null, false);
    const disks = createDisks({ clock, runner });
    const check = disks.check('/x/a');
    clock.advance(10_000);
    expect([await check, disks.isSilent('/x/a'), started[0]!.killed]).toEqual([
      { kind: 'unchecked' },
      false,
      true,
    ]);
    disks.stop();
  });

  it('[DSP-4] probes a silent disk as often as before although the clock was set back', async () => {
    const clock = new FakeClock();
    let answers = false;
    const { started, runner } = silentProcesses((path) => (answers ? { kind: 'file', real: path } : null));
    const disks = createDisks({ clock, runner });
    const check = disks.check('/x/a');
    clock.advance(10_000);
    expect((await check).kind).toBe('silent');
    clock.jumpTo(clock.now() - 6 * 3_600_000);
    answers = true;
    started[0]!.exit();
    clock.advance(30_000);
    await Promise.resolve();
    expect(disks.isSilent('/x/a')).toBe(false);
    disks.stop();
  });

  it('starts another process when one exits', async () => {
    const clock = new FakeClock();
    let dies = true;
    const { started, runner } = silentProcesses((path) => (dies ? null : { kind: 'file', real: path }));
    const disks = createDisks({ clock, runner });
    const check = disks.check('/x/a');
    started[0]!.exit();
    expect(await check).toEqual({ kind: 'unchecked' });
    dies = false;
    expect(await disks.check('/x/a')).toEqual({ kind: 'file', real: '/x/a' });
    expect(started).toHaveLength(2);
    disks.stop();
  });
});
