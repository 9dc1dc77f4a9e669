import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { shellLine } from '../../src/base/shell-word.ts';
import { Mirror } from '../../src/recorder/mirror.ts';
import { mirrorArgs, mirrorStep, readSizes, scpArgv } from '../../src/recorder/mirror-copy.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { until } from '../kit/until.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

describe('[CAP-4] the next step of a copy', () => {
  const CHANGED = { kind: 'refused', why: expect.stringContaining('something else changed the file') };
  it.each([
    [{ ours: 0, theirs: 0, arrived: 0, sent: 0 }, { kind: 'done' }],
    [
      { ours: 10, theirs: 0, arrived: 0, sent: 0 },
      { kind: 'send', offset: 0, length: 10 },
    ],
    [
      { ours: 300_000, theirs: 100, arrived: 100, sent: 100 },
      { kind: 'send', offset: 100, length: 65_536 },
    ],
    // What a connection that was cut has delivered of its last order.
    [
      { ours: 300, theirs: 150, arrived: 100, sent: 200 },
      { kind: 'send', offset: 150, length: 150 },
    ],
    [{ ours: 10, theirs: 10, arrived: 5, sent: 10 }, { kind: 'done' }],
    // Removed, or moved away.
    [
      { ours: 10, theirs: 0, arrived: 10, sent: 10 },
      { kind: 'send', offset: 0, length: 10 },
    ],
    // Longer, also where the transcript is longer still; shorter.
    [{ ours: 10, theirs: 11, arrived: 10, sent: 10 }, CHANGED],
    [{ ours: 99, theirs: 11, arrived: 10, sent: 10 }, CHANGED],
    [{ ours: 11, theirs: 11, arrived: 10, sent: 10 }, CHANGED],
    [
      { ours: 10, theirs: 20, arrived: 20, sent: 20 },
      { kind: 'refused', why: expect.stringContaining('the transcript here was cut') },
    ],
    [{ ours: 99, theirs: 9, arrived: 10, sent: 20 }, CHANGED],
    [
      { ours: 10, theirs: 5, arrived: 0, sent: 0 },
      { kind: 'refused', why: expect.stringContaining('there is a file of that name already') },
    ],
  ])('for %j', (state, step) => expect(mirrorStep(state)).toEqual(step));

  it('is taken from whole lines alone', () => {
    expect(readSizes('12\n 345\n6')).toEqual({ sizes: [12, 345], rest: '6' });
    expect(readSizes('Welcome!\n12\n')).toEqual({ sizes: [12], rest: '' });
  });
});

describe('the far end of a copy', () => {
  /** Runs it as the login shell of the other host does; what it said. */
  const farEnd = (path: string, orders: string) => {
    const line = mirrorArgs({ alias: 'host-b', flags: [], path }).at(-1)!;
    return execFileSync('sh', ['-c', line], {
      input: orders,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: scratch.path },
    });
  };

  it('makes the file and its folders, and takes any name as a name', () => {
    const name = `it's "$(touch ${scratch.path}/run)" ; & meeting.txt`;
    expect(readSizes(farEnd(`~/.svc/meetings/${name}`, '0 6\n# vad\n')).sizes).toEqual([0, 6]);
    expect(readFileSync(join(scratch.path, '.svc/meetings', name), 'utf8')).toBe('# vad\n');
    expect(existsSync(join(scratch.path, 'run'))).toBe(false);
    farEnd(join(scratch.path, '-rf'), '0 1\nx');
    expect(readFileSync(join(scratch.path, '-rf'), 'utf8')).toBe('x');
  });

  it('writes the same bytes twice where a cut connection delivers them late', () => {
    const path = join(scratch.path, 'meeting.txt');
    farEnd(path, '0 11\none\ntwo\nfou');
    farEnd(path, '11 10\nr\nfive\nsix');
    farEnd(path, '0 11\none\ntwo\nfou');
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nfour\nfive\nsix');
  });

  it('overwrites nothing of others, and leaves no gap', () => {
    const path = join(scratch.path, 'meeting.txt');
    writeFileSync(path, 'one\nmine\n');
    expect(readSizes(farEnd(path, '4 4\ntwo\n0 4\none\n9 2\n2\n')).sizes).toEqual([9, 9, 9, 11]);
    expect(readFileSync(path, 'utf8')).toBe('one\nmine\n2\n');
  });

  it('ends where the copy is gone, and makes none with a gap', () => {
    const path = join(scratch.path, 'meeting.txt');
    const far = shellLine(['sh', '-c', mirrorArgs({ alias: 'host-b', flags: [], path }).at(-1)!]);
    const orders = `{ printf '0 4\\none\\n'; until grep -q one ${path}; do :; done; rm ${path}; printf '4 4\\ntwo\\n'; }`;
    const ran = spawnSync('sh', ['-c', `${orders} | ${far}`], { encoding: 'utf8' });
    expect(ran.status).not.toBe(0);
    expect(existsSync(path)).toBe(false);
  });

  it('keeps what came of an order that was cut off', () => {
    const path = join(scratch.path, 'meeting.txt');
    expect(readSizes(farEnd(path, '0 100\n# vad\n10:0')).sizes).toEqual([0, 10]);
  });

  it('answers each order before the next one, also one of many bytes', async () => {
    const path = join(scratch.path, 'meeting.txt');
    const line = mirrorArgs({ alias: 'host-b', flags: [], path }).at(-1)!;
    const child = spawn('sh', ['-c', line], { stdio: ['pipe', 'pipe', 'inherit'] });
    const sizes: number[] = [];
    const piece = 'x'.repeat(65_536);
    child.stdout.on('data', (text) => {
      sizes.push(...readSizes(String(text)).sizes);
      const size = sizes.at(-1) ?? 0;
      if (size < 3 * piece.length) child.stdin.write(`${size} ${piece.length}\n${piece}`);
      else child.stdin.end();
    });
    await new Promise((resolve) => child.on('close', resolve));
    expect(sizes).toEqual([0, 65_536, 131_072, 196_608]);
  });

  it('is asked by an ssh that asks nobody, and gets the flags of the remote', () => {
    const args = mirrorArgs({ alias: 'host-b', flags: ['-F', '/a'], path: '~/m.txt' });
    expect(args.join(' ')).toContain('BatchMode=yes');
    expect(args.slice(args.indexOf('-F'), -1)).toEqual(['-F', '/a', '--', 'host-b']);
  });
});

describe('a copy whose other host stops to answer', () => {
  /** A mirror of a file with one line; the test speaks for the other host. */
  const open = () => {
    const clock = new FakeClock();
    const path = join(scratch.path, 'm.txt');
    writeFileSync(path, '# vad\n');
    const orders: string[] = [];
    const faults: (string | null)[] = [];
    let answer = (_: string) => {};
    const runner = {
      spawnPiped: () => ({
        ...{ pid: 1, onExit: () => undefined, end: () => undefined, kill: () => undefined },
        write: (data: string | Uint8Array) => orders.push(Buffer.from(data).toString()) > 0,
        onStdout: (heard: (chunk: Uint8Array) => void) => {
          answer = (text) => heard(Buffer.from(text));
        },
      }),
    };
    const target = { alias: 'host-b', flags: [], path: '~/m.txt' };
    const mirror = new Mirror(path, target, { clock, runner, env: {}, ssh: 'ssh' }, (one) =>
      faults.push(one),
    );
    mirror.start();
    return { clock, path, orders, faults, mirror, answer: (text: string) => answer(text) };
  };

  it('[CAP-4] says so after 30 s, and no longer once it answers', async () => {
    const { clock, orders, faults, answer } = open();
    answer('0\n');
    await until('the order', () => orders.length === 1);
    clock.advance(29_999);
    expect(faults.at(-1)).toBeNull();
    clock.advance(1);
    expect(faults.at(-1)).toMatch(/^the transcript is not copied to host-b: it has not answered for 30 s; /);
    answer('6\n');
    expect(faults.at(-1)).toBeNull();
    clock.advance(60_000);
    expect(faults.at(-1)).toBeNull();
  });

  it('[CAP-4] says at the end how many bytes the copy lacks, and the command that copies them', async () => {
    const { clock, path, orders, faults, mirror, answer } = open();
    answer('0\n');
    await until('the order', () => orders.length === 1);
    answer('6\n');
    writeFileSync(path, '# ended 10:00:00\n', { flag: 'a' });
    const whole = mirror.finish(10_000);
    await until('the last order', () => orders.length === 2);
    clock.advance(10_000);
    expect(await whole).toBe(false);
    expect(faults.at(-1)).toBe(
      `the copy on host-b lacks the last 17 bytes; copy it with: scp -- ${path} host-b:m.txt`,
    );
  });

  it('is copied by scp with the flags of ssh', () => {
    const target = { alias: 'host-b', flags: ['-p', '2222', '-F', '/a'], path: '/m.txt' };
    expect(scpArgv('/here.txt', target)).toEqual([
      'scp',
      '-P',
      '2222',
      '-F',
      '/a',
      '--',
      '/here.txt',
      'host-b:/m.txt',
    ]);
  });
});
