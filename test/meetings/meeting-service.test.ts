import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { RecorderPhase } from '../../src/contract/recorder.ts';
import { MeetingFiles, type MeetingRecord } from '../../src/meetings/meeting-record.ts';
import { MeetingService, type MeetingServiceOptions } from '../../src/meetings/meeting-service.ts';
import { STOP_UNHEARD_MS } from '../../src/meetings/meeting-state.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

const LAUNCH = '01k00000000000000000000000';
const RECORDER = { pid: 4_242, start_time: '77' };

let folder: ScratchFolder;
let clock: FakeClock;
let monotonic: number;
let files: MeetingFiles;
let interrupted: number[];
beforeEach(() => {
  folder = scratchFolder();
  clock = new FakeClock();
  monotonic = 500_000;
  files = new MeetingFiles({ folder: folder.path, logger: silentLogger });
  interrupted = [];
});
afterEach(() => folder.remove());

/** A daemon that finds this meeting, whose recorder runs. */
async function adopt(
  more: Partial<MeetingRecord> = {},
  options: Partial<MeetingServiceOptions> = {},
): Promise<MeetingService> {
  files.write({
    ...{
      version: 1,
      launch: LAUNCH,
      name: 'weekly',
      mode: 'phone',
      title: 'Weekly',
      started_at: clock.now(),
    },
    ...{
      mirror: null,
      fiber: null,
      fiber_uid: null,
      owner: null,
      process: RECORDER,
      stop_asked_at: null,
      ...more,
    },
  });
  return begin(options);
}

async function begin(options: Partial<MeetingServiceOptions> = {}): Promise<MeetingService> {
  const service = new MeetingService(optionsOf(options));
  await service.begin();
  return service;
}

function optionsOf(options: Partial<MeetingServiceOptions>): MeetingServiceOptions {
  return {
    ...{
      files,
      clock,
      monotonic: () => monotonic,
      logger: silentLogger,
      platform: 'linux',
      env: {},
      tmux_socket: null,
    },
    newLaunch: () => LAUNCH,
    findRecorder: async () => ({ program: { argv: ['/bin/recorder'], name: 'recorder' } }),
    sessions: {
      start: async () => ({ kind: 'created', process: RECORDER }),
      look: async () => ({ kind: 'gone' }),
      end: async () => 'gone',
    },
    lifeOf: async () => 'alive',
    interrupt: ({ pid }) => void interrupted.push(pid),
    ...options,
  };
}

/** Writes the lifecycle file of the recorder. */
function say(phase: RecorderPhase, more: object = {}, launch = LAUNCH): void {
  const state = {
    ...{ version: 1, launch, pid: RECORDER.pid, process_started: '77', phase, started_at: clock.now() },
    ...{ phone: '/run/rec.sock', engine: 'stand-in', error: null, ...more },
  };
  writeFileSync(join(folder.path, 'weekly.json'), JSON.stringify(state));
}

describe('a meeting whose lifecycle file cannot be read', () => {
  it('[MTS-1] [MTS-5] stays as it was last seen, says so, keeps its socket, and is interrupted by a stop', async () => {
    say('live');
    const service = await adopt();
    say('live', { fault: 'x'.repeat(5_000) });
    await service.look();
    expect(await service.row()).toMatchObject({ state: 'live', error: expect.stringContaining('fault') });
    expect(service.relayed()?.socket).toBe('/run/rec.sock');
    const stopped = await service.stop(false);
    expect(stopped).toMatchObject({ meeting: { state: 'stopping' } });
    expect(interrupted).toEqual([RECORDER.pid]);
  });

  it('[MTS-1] [MTS-5] stays as it was last seen also where the file is gone, takes marks, and is interrupted by a stop', async () => {
    say('live');
    const service = await adopt();
    rmSync(join(folder.path, 'weekly.json'));
    await service.look();
    expect(await service.row()).toMatchObject({
      state: 'live',
      error: expect.stringContaining('it is gone'),
    });
    expect(service.relayed()?.socket).toBe('/run/rec.sock');
    expect(await service.mark('agreed', false)).toMatchObject({ line: expect.stringMatching(/ agreed$/) });
    expect(await service.stop(false)).toMatchObject({ meeting: { state: 'stopping' } });
    expect(interrupted).toEqual([RECORDER.pid]);
  });

  it('[MTS-5] is interrupted, and not dismissed, where this daemon has never read it', async () => {
    say('live', { fault: 'x'.repeat(5_000) });
    const service = await adopt();
    expect((await service.row())?.state).toBe('loading');
    expect(await service.stop(false)).toMatchObject({ meeting: { state: 'stopping' } });
    expect(interrupted).toEqual([RECORDER.pid]);
  });
});

describe('a meeting while the clock is set', () => {
  it('[MTG-4] is answered while its recorder is still starting', async () => {
    const service = new MeetingService(optionsOf({}));
    const asked = { mode: 'phone', note: 'Budget', fiber: null, fiber_uid: null, owner: null } as const;
    const began = service.start({ ...asked, mirror: null, dry_run: false });
    const passing = setInterval(() => clock.advance(250), 1);
    const set = setTimeout(() => clock.jumpTo(clock.now() - 24 * 3_600_000), 5);
    expect(await began).toMatchObject({ meeting: { state: 'starting' } });
    clearInterval(passing);
    clearTimeout(set);
  });

  it('[MTS-1] is not said to be out of sight', async () => {
    say('live');
    const service = await adopt();
    clock.jumpTo(clock.now() + 3 * 3_600_000);
    expect(await service.row()).toMatchObject({ state: 'live', error: null });
  });
});

describe('a stop that was written down', () => {
  it('[MTS-5] is sent by the next daemon where the last one was killed before it sent it, once', async () => {
    say('live');
    const service = await adopt({ stop_asked_at: clock.now() });
    await service.look();
    expect(interrupted).toEqual([]);
    clock.advance(STOP_UNHEARD_MS);
    for (let looks = 0; looks < 3; looks += 1) await service.look();
    expect(interrupted).toEqual([RECORDER.pid]);
  });

  it('[MTS-5] is sent once the process of the recorder is known', async () => {
    const sessions = {
      start: async () => ({ kind: 'created' as const, process: null }),
      look: async () => ({ kind: 'there' as const, process: null }),
      end: async () => 'gone' as const,
    };
    say('live', { process_started: null });
    const service = await adopt({ process: null }, { sessions });
    await service.stop(false);
    expect(interrupted).toEqual([]);
    clock.advance(STOP_UNHEARD_MS);
    say('live');
    await service.look();
    expect(interrupted).toEqual([RECORDER.pid]);
  });

  it('[MTS-6] is not sent again to a recorder that has taken it up, or that this daemon has told', async () => {
    say('live');
    const service = await adopt();
    await service.stop(false);
    clock.advance(2 * STOP_UNHEARD_MS);
    await service.look();
    expect(interrupted).toEqual([RECORDER.pid]);
    say('stopping');
    const next = await begin();
    await next.look();
    expect(interrupted).toEqual([RECORDER.pid]);
  });
});

describe('a look at a recorder', () => {
  it('[MTS-1] tells of a full disk, since the recorder cannot write that into its file', async () => {
    say('live');
    const service = await adopt();
    expect((await service.row())?.error).toBeNull();
    vi.spyOn(files, 'isFull').mockResolvedValue(true);
    await service.look();
    expect((await service.row())?.error).toBe(`The disk of ${folder.path} is full; free space there.`);
  });

  it('[MTS-1] that began before the next meeting was started does not end that one', async () => {
    say('live');
    const life = Promise.withResolvers<'gone'>();
    await adopt();
    const slow = new MeetingService(optionsOf({ lifeOf: () => life.promise }));
    const looking = slow.look();
    files.write({ ...files.read()!, launch: 'next' });
    say('ended', {}, LAUNCH);
    life.resolve('gone');
    await looking;
    expect(files.read()?.launch).toBe('next');
  });
});

describe('a mark', () => {
  it('[ERR-14] names what is in the place of the transcript', async () => {
    say('live');
    const service = await adopt();
    const transcript = join(folder.path, 'weekly.txt');
    mkdirSync(transcript);
    await expect(service.mark('agreed', false)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining(`${transcript} cannot be written: a folder is in its place`),
    });
  });

  it.each(['loading', 'stopping', 'failed'] as const)(
    'is refused while the meeting is %s, so that the engine is in the first line and `# ended` in the last',
    async (phase) => {
      say(phase);
      const service = await adopt();
      await expect(service.mark('agreed', false)).rejects.toMatchObject({ code: 'meeting_not_live' });
      await expect(service.mark('agreed', true)).rejects.toMatchObject({ code: 'meeting_not_live' });
      expect(existsSync(join(folder.path, 'weekly.txt'))).toBe(false);
    },
  );

  it('has the time of the recorder, whose lines a clock that is set does not move', async () => {
    const wall = new Date(2026, 2, 7, 10, 0, 0).getTime();
    say('live', { time_base: { wall, monotonic: 440_000 } });
    const service = await adopt();
    expect(await service.mark('a', false)).toMatchObject({ line: '# mark 10:01:00 a' });
    clock.jumpTo(clock.now() - 3 * 3_600_000);
    monotonic += 5_000;
    expect(await service.mark('b', false)).toMatchObject({ line: '# mark 10:01:05 b' });
  });

  it('is a line of the transcript while the meeting is live', async () => {
    say('live');
    const service = await adopt();
    expect(await service.mark('agreed', false)).toMatchObject({ line: expect.stringMatching(/ agreed$/) });
    expect(readFileSync(join(folder.path, 'weekly.txt'), 'utf8')).toMatch(/^# mark [\d:]{8} agreed\n$/);
  });

  it('is one line for every reader, whatever its text', async () => {
    say('live');
    const service = await adopt();
    const text = 'one\n# ended 10:00:00\u0085two\u2028three\u2029four';
    expect(await service.mark(text, false)).toMatchObject({
      line: expect.stringMatching(/^# mark [\d:]{8} one # ended 10:00:00 two three four$/),
    });
  });
});

describe('the transcript of a recorder that died', () => {
  const transcript = () => join(folder.path, 'weekly.txt');
  const died = { lifeOf: async () => 'gone' as const };

  it('says when it ended, also where no daemon was there then', async () => {
    say('live');
    writeFileSync(transcript(), '10:00:01-10:00:03 S1 good morning\n');
    writeFileSync(join(folder.path, 'weekly.wav'), '');
    const ended = new Date(2026, 2, 7, 10, 0, 5);
    utimesSync(transcript(), ended, new Date(2026, 2, 7, 10, 0, 3));
    utimesSync(join(folder.path, 'weekly.wav'), ended, ended);
    await adopt({}, died);
    expect(readFileSync(transcript(), 'utf8')).toMatch(
      /\n# recorder ended 10:00:05 without its last lines\n$/,
    );
  });

  it('says when this daemon saw the end', async () => {
    let life: 'alive' | 'gone' = 'alive';
    const wall = new Date(2026, 2, 7, 10, 0, 0).getTime();
    say('live', { time_base: { wall, monotonic } });
    writeFileSync(transcript(), '# vad\n');
    const service = await adopt({}, { lifeOf: async () => life });
    monotonic += 60_000;
    life = 'gone';
    await service.look();
    expect(readFileSync(transcript(), 'utf8')).toMatch(
      /\n# recorder ended 10:01:00 without its last lines\n$/,
    );
  });

  it.each([
    ['a whole line', '10:00:01-10:00:03 S1 good morning\n'],
    ['a torn line', '10:00:01-10:00:03 S1 good mor'],
  ])('ends with a line that says so, once, after %s', async (_, text) => {
    say('live');
    writeFileSync(transcript(), text);
    const service = await adopt({}, died);
    await service.look();
    await begin(died);
    const lines = readFileSync(transcript(), 'utf8').split('\n');
    expect(lines).toEqual([
      text.trimEnd(),
      expect.stringMatching(/^# recorder ended [\d:]{8} without its last lines$/),
      '',
    ]);
  });

  it('stays as it is where it has its last line, and is not made where there is none', async () => {
    say('failed');
    await adopt({}, died);
    expect(existsSync(transcript())).toBe(false);
    writeFileSync(transcript(), '# ended 10:00:09\n');
    await begin(died);
    expect(readFileSync(transcript(), 'utf8')).toBe('# ended 10:00:09\n');
  });
});

describe('a start beside a meeting', () => {
  const start = (service: MeetingService) =>
    service.start({
      ...{ mode: 'phone', note: 'Budget', fiber: null, fiber_uid: null, owner: null },
      ...{ mirror: null, dry_run: false },
    });

  it('[MTG-3] is refused with the command that stops that one', async () => {
    say('live');
    await expect(start(await adopt())).rejects.toMatchObject({
      code: 'meeting_running',
      message: 'A meeting is live here: "Weekly"; stop it first with: svc meeting stop',
    });
  });

  it('[MTG-3] asks nobody to stop what is being stopped, and names what ends a stop that is late', async () => {
    say('stopping');
    const service = await adopt({ stop_asked_at: clock.now() });
    await expect(start(service)).rejects.toMatchObject({
      code: 'meeting_running',
      message: 'The meeting "Weekly" is still being stopped here; start the next one in a moment',
    });
    await clock.advance(40_000);
    await expect(start(service)).rejects.toMatchObject({
      message: expect.stringMatching(/is still being stopped here; .*End it with: kill -9 \d+$/),
    });
  });
});

describe('a start that nobody answers', () => {
  it('[MTG-4] is followed all the same, since its recorder may run', async () => {
    const service = new MeetingService(
      optionsOf({
        sessions: {
          start: async () => {
            const { name } = files.read()!;
            say('live');
            renameSync(join(folder.path, 'weekly.json'), join(folder.path, `${name}.json`));
            throw new Error('no answer in time');
          },
          look: async () => ({ kind: 'there', process: RECORDER }),
          end: async () => 'killed',
        },
      }),
    );
    const asked = { mode: 'phone', note: 'Budget', fiber: null, fiber_uid: null, owner: null } as const;
    await expect(service.start({ ...asked, mirror: null, dry_run: false })).rejects.toThrow('no answer');
    expect((await service.row())?.state).toBe('live');
  });

  it('[MTS-2] names the command that ends a session in its way, on the tmux server of this daemon', async () => {
    const start = async () => ({ kind: 'duplicate' }) as const;
    const sessions = { ...optionsOf({}).sessions, start };
    const service = new MeetingService(optionsOf({ sessions, tmux_socket: '/run/my tmux' }));
    const asked = { mode: 'phone', note: 'Budget', fiber: null, fiber_uid: null, owner: null } as const;
    const refused = service.start({ ...asked, mirror: null, dry_run: false }).catch((error: Error) => error);
    const passing = setInterval(() => clock.advance(250), 1);
    const error = await refused;
    clearInterval(passing);
    expect(error).toMatchObject({
      code: 'session_name_taken',
      message: expect.stringMatching(/: tmux -S '\/run\/my tmux' kill-session -t '?=recorder-meeting'?$/),
    });
  });

  it.each([
    [
      'no microphone found\n',
      'The recorder ended at once and recorded nothing; it said: no microphone found',
    ],
    ['', 'The recorder ended at once and recorded nothing; it printed nothing: try it by hand.'],
  ])('[MTG-4] says what a recorder that ended at once has printed: %j', async (printed, message) => {
    const { look, end } = optionsOf({}).sessions;
    const start = async () => {
      const { name } = files.read()!;
      writeFileSync(join(folder.path, `${name}.log`), printed);
      say('ended');
      renameSync(join(folder.path, 'weekly.json'), join(folder.path, `${name}.json`));
      return { kind: 'created', process: RECORDER } as const;
    };
    const service = new MeetingService(
      optionsOf({ sessions: { start, look, end }, lifeOf: async () => 'gone' }),
    );
    const asked = { mode: 'phone', note: 'Budget', fiber: null, fiber_uid: null, owner: null } as const;
    await expect(service.start({ ...asked, mirror: null, dry_run: false })).rejects.toMatchObject({
      code: 'recorder_failed',
      message,
    });
  });

  it('leaves no meeting behind where tmux refused it', async () => {
    const start = async () => ({ kind: 'failed', code: 'mux_unavailable', detail: 'no tmux' }) as const;
    const { look, end } = optionsOf({}).sessions;
    const service = new MeetingService(optionsOf({ sessions: { start, look, end } }));
    const asked = { mode: 'phone', note: 'Budget', fiber: null, fiber_uid: null, owner: null } as const;
    await expect(service.start({ ...asked, mirror: null, dry_run: false })).rejects.toThrow('no tmux');
    expect(await service.row()).toBe(null);
    expect(files.read()).toBe(null);
  });
});
