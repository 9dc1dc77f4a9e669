import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, systemClock } from '../../src/base/clock.ts';
import { SenderWatch } from '../../src/recorder/sender-watch.ts';
import { SteadyTime } from '../../src/recorder/steady-time.ts';
import { Transcript } from '../../src/recorder/transcript.ts';
import { commentLine, spokenLine, timeOfDay } from '../../src/recorder/transcript-lines.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { until } from '../kit/until.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const at = (hours: number, minutes: number, seconds: number) =>
  new Date(2026, 2, 7, hours, minutes, seconds).getTime();

describe('a line of a transcript', () => {
  it('has the time of day, the speaker and one line of text', () => {
    expect(spokenLine(at(9, 5, 7), at(23, 0, 59), 'S2', ' we\tagreed \n# ended 10:00:00 ')).toBe(
      '09:05:07-23:00:59 S2 we agreed # ended 10:00:00',
    );
    expect(spokenLine(at(9, 5, 7), at(9, 5, 6), 'S1', 'a')).toBe('09:05:07-09:05:07 S1 a');
    expect(commentLine('phone lost at 10:00:00\u2028S1')).toBe('# phone lost at 10:00:00 S1');
  });
});

describe('a transcript', () => {
  it('keeps its lines in order, whole, after a torn one of a crashed writer', async () => {
    const path = scratch.write('meeting.txt', '# vad\n10:00:00-10:00:0');
    const transcript = new Transcript(path, systemClock, () => undefined);
    for (let nth = 0; nth < 50; nth += 1) transcript.push(`# line ${nth}`);
    expect(await transcript.flush(5_000)).toBe(true);
    const lines = Array.from({ length: 50 }, (_, nth) => `# line ${nth}\n`).join('');
    expect(readFileSync(path, 'utf8')).toBe(`# vad\n10:00:00-10:00:0\n${lines}`);
  });

  it('keeps lines that its disk does not take, says why, and writes them when it does', async () => {
    const path = join(scratch.path, 'later', 'meeting.txt');
    const faults: (string | null)[] = [];
    const transcript = new Transcript(path, systemClock, (sentence) => faults.push(sentence));
    transcript.push('# one');
    await until('the fault', () => faults.length > 0);
    expect(faults[0]).toContain(`${path} cannot be written: its folder is missing`);
    transcript.push('# two');
    expect(await transcript.flush(50)).toBe(false);
    mkdirSync(dirname(path));
    expect(await transcript.flush(5_000)).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('# one\n# two\n');
    expect(faults.at(-1)).toBe(null);
  });

  it('does not grow for ever while its disk is away: the newest lines are kept', async () => {
    const path = join(scratch.path, 'gone', 'meeting.txt');
    const transcript = new Transcript(path, systemClock, () => undefined);
    const text = 'x'.repeat(8_000);
    for (let nth = 0; nth < 1_000; nth += 1) transcript.push(`# ${nth} ${text}`);
    mkdirSync(dirname(path));
    expect(await transcript.flush(10_000)).toBe(true);
    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines.length).toBeLessThan(600);
    expect(lines.at(-2)).toContain('# 999 ');
  });

  it('is never written into what is no regular file', async () => {
    const path = scratch.mkdir('meeting.txt');
    const faults: (string | null)[] = [];
    const transcript = new Transcript(path, systemClock, (sentence) => faults.push(sentence));
    transcript.push('# one');
    expect(await transcript.flush(200)).toBe(false);
    expect(faults[0]).toContain(path);
  });
});

describe('the time of a recorder', () => {
  it('does not follow a clock that is set, until it looks at it', () => {
    const clock = new FakeClock(at(10, 0, 0));
    let monotonic = 5_000;
    const time = new SteadyTime(clock, () => monotonic);
    monotonic += 60_000;
    clock.jumpTo(at(3, 0, 0));
    expect(timeOfDay(time.now())).toBe('10:01:00');
    time.look();
    monotonic += 1_000;
    expect(timeOfDay(time.now())).toBe('03:00:01');
  });
});

describe('the watch for the phone', () => {
  it('says that it is lost after 90 s, with the time of the loss, and when it is back', () => {
    const clock = new FakeClock(at(10, 0, 0));
    const said: string[] = [];
    const watch = new SenderWatch(
      clock,
      () => clock.now(),
      (what, when) => said.push(`${what} ${timeOfDay(when)}`),
    );
    watch.gone();
    clock.advance(60_000);
    watch.connected();
    clock.advance(600_000);
    watch.gone();
    clock.advance(89_999);
    expect(said).toEqual([]);
    clock.advance(1);
    expect(said).toEqual(['lost 10:11:00']);
    clock.advance(30_000);
    watch.connected();
    watch.gone();
    clock.advance(10_000);
    watch.connected();
    expect(said).toEqual(['lost 10:11:00', 'back 10:13:00']);
    watch.gone();
    watch.stop();
    clock.advance(600_000);
    expect(said).toHaveLength(2);
  });
});
