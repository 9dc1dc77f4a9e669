import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeClock, systemClock } from '../../src/base/clock.ts';
import { type RecorderState, recorderStateSchema } from '../../src/contract/recorder.ts';
import { LifecycleFile } from '../../src/recorder/lifecycle-file.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

const FIRST: RecorderState = {
  ...{ version: 1, launch: 'launch-1', pid: 1, process_started: null, phase: 'live', started_at: 0 },
  ...{ phone: null, engine: null, error: null, fault: null },
};
let scratch: ScratchFolder;
let path: string;
beforeEach(() => {
  scratch = scratchFolder();
  path = join(scratch.path, 'folder', 'm.json');
  mkdirSync(dirname(path));
});
afterEach(() => scratch.remove());

/** Whether the file has settled so far. */
function settling(file: LifecycleFile, deadline_ms: number): { is_done: boolean; promise: Promise<void> } {
  const settled = { is_done: false, promise: Promise.resolve() };
  settled.promise = file.settle(deadline_ms).then(() => {
    settled.is_done = true;
  });
  return settled;
}

/** Lets everything run that waits for no clock. */
const ticked = () => new Promise<void>((resolve) => setImmediate(resolve));

it('[MTS-1] waits with its last word until the disk takes it', async () => {
  const file = new LifecycleFile(path, systemClock, FIRST);
  rmSync(dirname(path), { recursive: true });
  expect(file.change({ phase: 'ended' })).toBe(false);
  const settled = file.settle(30_000);
  mkdirSync(dirname(path));
  await settled;
  expect(recorderStateSchema.parse(JSON.parse(readFileSync(path, 'utf8'))).phase).toBe('ended');
});

it('waits no longer than it may', async () => {
  const clock = new FakeClock();
  const file = new LifecycleFile(path, clock, FIRST);
  rmSync(dirname(path), { recursive: true });
  file.change({ phase: 'ended' });
  const settled = settling(file, 150);
  clock.advance(100);
  await ticked();
  expect(settled.is_done).toBe(false);
  clock.advance(100);
  await settled.promise;
});

it('waits for nothing where the disk has taken it', async () => {
  const file = new LifecycleFile(path, new FakeClock(), FIRST);
  file.change({ phase: 'ended' });
  const settled = settling(file, 30_000);
  await ticked();
  expect(settled.is_done).toBe(true);
});

it('says no sentence that is longer than a reader takes', () => {
  const file = new LifecycleFile(path, systemClock, FIRST);
  const long = 'x'.repeat(6_000);
  file.change({ engine: long, error: long, fault: long });
  const { engine, error, fault } = recorderStateSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  for (const sentence of [engine, error, fault]) expect(sentence).toMatch(/^x+…$/);
});
