import { existsSync, mkdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { keepRemovingOldAudio } from '../../src/meetings/old-audio.ts';
import { scratchFolder } from '../kit/scratch-folder.ts';
import { until } from '../kit/until.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RECORDER_STATE = {
  ...{ version: 1, launch: 'l', pid: 1, process_started: null, phase: 'ended', started_at: 0 },
  ...{ phone: null, engine: null, error: null },
};
const scratch = scratchFolder();
afterAll(scratch.remove);

/** A file that was last written this many days before the clock's time. */
function written(clock: FakeClock, name: string, days: number, content: unknown = ''): string {
  const path = scratch.write(name, content);
  const at = (clock.now() - days * DAY_MS) / 1_000;
  utimesSync(path, at, at);
  return path;
}

it('kept audio that is older than the operator keeps it is removed, and nothing else', async () => {
  const clock = new FakeClock();
  const old = written(clock, 'a/old.wav', 31);
  const kept = [
    written(clock, 'a/new.wav', 29),
    written(clock, 'a/new.json', 29, RECORDER_STATE),
    written(clock, 'a/old.txt', 31),
    written(clock, 'a/old.json', 31, RECORDER_STATE),
    written(clock, 'a/song.wav', 31),
    written(clock, 'a/interview.wav', 31),
    written(clock, 'a/interview.json', 31, { title: 'a person’s own' }),
    written(clock, 'a/talk.wav', 31),
    written(clock, 'a/talk.json', 31, 'not JSON'),
  ];
  mkdirSync(join(scratch.path, 'a/folder.wav'));
  const stop = keepRemovingOldAudio({ folder: join(scratch.path, 'a'), keep_days: 30, clock });
  expect(existsSync(old)).toBe(true);
  clock.advance(HOUR_MS);
  await until('its removal', () => !existsSync(old));
  for (const path of kept) expect(existsSync(path), path).toBe(true);
  stop();
});

it('kept audio is not made old by a clock that is set ahead, until that clock has gone on for an hour', async () => {
  const clock = new FakeClock();
  const audio = written(clock, 'b/talk.wav', 1);
  written(clock, 'b/talk.json', 1, RECORDER_STATE);
  const stop = keepRemovingOldAudio({ folder: join(scratch.path, 'b'), keep_days: 30, clock });
  clock.advance(HOUR_MS);
  clock.jumpTo(clock.now() + 365 * DAY_MS);
  clock.advance(HOUR_MS);
  expect(existsSync(audio)).toBe(true);
  clock.advance(HOUR_MS);
  await until('its removal', () => !existsSync(audio));
  stop();
});

it('a folder of meetings that is missing is nothing to remove from', () => {
  const clock = new FakeClock();
  const stop = keepRemovingOldAudio({ folder: join(scratch.path, 'missing'), keep_days: 30, clock });
  expect(() => clock.advance(2 * HOUR_MS)).not.toThrow();
  stop();
});
