import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { temporaryPath } from '../../src/platform/atomic-write.ts';
import { keepSweepingTemporaries, sweepLeftTemporaries } from '../../src/platform/left-temporaries.ts';
import { until } from '../kit/until.ts';

const HOURS = 2 * 3_600_000;
const HEX = '0123456789ab';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-left-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A process that is killed in the middle of an atomic write; answers its process id. */
async function killedWriter(path: string): Promise<number> {
  const source = new URL('../../src/platform/atomic-write.ts', import.meta.url).href;
  const script = `import { writeFileAtomic } from ${JSON.stringify(source)};
    writeFileAtomic(${JSON.stringify(path)}, 'new', { beforeRename: () => process.kill(process.pid, 'SIGKILL') });
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  return child.pid!;
}

describe('temporary files of writers that were killed', () => {
  it('are removed once they are old, anywhere below the folder, and the old text is kept', async () => {
    mkdirSync(join(folder, 'runs', 'one'), { recursive: true });
    const path = join(folder, 'runs', 'one', 'status.json');
    writeFileSync(path, 'old');
    const pid = await killedWriter(path);
    const left = readdirSync(join(folder, 'runs', 'one')).filter((name) => name !== 'status.json');
    expect(left).toEqual([expect.stringContaining(`.status.json.tmp-${pid}-`)]);
    expect(await sweepLeftTemporaries(folder, 3, Date.now())).toBe(0);
    expect(await sweepLeftTemporaries(folder, 1, Date.now() + HOURS)).toBe(0);
    expect(await sweepLeftTemporaries(folder, 3, Date.now() + HOURS)).toBe(1);
    expect(readdirSync(join(folder, 'runs', 'one'))).toEqual(['status.json']);
  });

  it('are only files with such a name whose writer has ended: no links, folders or other names', async () => {
    const gone = await killedWriter(join(folder, 'x'));
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    const target = join(folder, 'target');
    writeFileSync(target, 'x');
    const kept = [
      `.a.tmp-${process.pid}-${HEX}`,
      `a.tmp-${gone}-${HEX}`,
      `.a.tmp-${gone}-${HEX}0`,
      `.a.tmp-${gone}-${HEX.toUpperCase()}`,
      `.a.tmp-x-${HEX}`,
    ];
    for (const name of kept) writeFileSync(join(folder, name), '');
    symlinkSync(target, join(folder, `.link.tmp-${gone}-${HEX}`));
    mkdirSync(join(folder, `.folder.tmp-${gone}-${HEX}`));
    const outside = mkdtempSync(join(tmpdir(), 'svc-left-'));
    writeFileSync(join(outside, `.a.tmp-${gone}-${HEX}`), '');
    symlinkSync(outside, join(folder, 'elsewhere'));
    writeFileSync(join(folder, `.a.tmp-${gone}-${HEX}`), '');
    expect(await sweepLeftTemporaries(folder, 3, Date.now() + HOURS)).toBe(1);
    expect(existsSync(join(folder, `.a.tmp-${gone}-${HEX}`))).toBe(false);
    expect(readdirSync(folder)).toHaveLength(kept.length + 4);
    expect(readdirSync(outside)).toHaveLength(1);
    rmSync(outside, { recursive: true });
  });

  it('are removed an hour after a start that came too soon after the kill', async () => {
    const path = join(folder, 'message.json');
    await killedWriter(path);
    const clock = new FakeClock(Date.now());
    const end = keepSweepingTemporaries({
      folders: [{ path: folder, depth: 0 }],
      clock,
      logger: silentLogger,
    });
    clock.advance(HOURS);
    await until('the removal', () => readdirSync(folder).length === 0);
    end();
  });

  it('are also those of an earlier process that had the id of this one', async () => {
    const [left, written] = [join(folder, `.a.tmp-${process.pid}-${HEX}`), temporaryPath(join(folder, 'a'))];
    for (const path of [left, written]) writeFileSync(path, '');
    utimesSync(left, new Date(0), new Date(0));
    expect(await sweepLeftTemporaries(folder, 0, Date.now() + HOURS)).toBe(1);
    expect(readdirSync(folder)).toEqual([basename(written)]);
  });

  it('are none in a missing folder', async () => {
    expect(await sweepLeftTemporaries(join(folder, 'missing'), 3, Date.now())).toBe(0);
  });
});
