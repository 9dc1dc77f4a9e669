import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, systemClock } from '../../src/base/clock.ts';
import { CodedError } from '../../src/base/errors.ts';
import { type RecorderState, recorderStateSchema } from '../../src/contract/recorder.ts';
import { createRunner } from '../../src/platform/process.ts';
import type { Engine, EngineSegment } from '../../src/recorder/engines/engine.ts';
import { createVadEngine } from '../../src/recorder/engines/vad.ts';
import { type RecorderWorld, type Recording, record } from '../../src/recorder/recorder.ts';
import { babble, joinedAudio, silence } from '../kit/made-audio.ts';
import { connectSender, type Sender } from '../kit/recording.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { pause, until } from '../kit/until.ts';

let scratch: ScratchFolder;
let stop: AbortController;
let running: Promise<string | null> | null;
beforeEach(() => {
  scratch = scratchFolder();
  stop = new AbortController();
  running = null;
});
afterEach(async () => {
  stop.abort();
  await running;
  scratch.remove();
});

const TEN = new Date(2026, 2, 7, 10, 0, 0).getTime();

/** A clock for times, whose timers are those of the machine, since sockets and files take their own time. */
class SetClock {
  wall = TEN;
  passed = 0;
  now = () => this.wall;
  monotonic = () => this.passed;
  after = systemClock.after;
  every = systemClock.every;
  /** Lets time pass. */
  pass(ms: number): void {
    this.wall += ms;
    this.passed += ms;
  }
}

function recordingIn(folder: string): Recording {
  return {
    ...{ mode: 'phone', launch: 'launch-1', audio_path: null, mirror: null },
    state_path: join(folder, 'm.json'),
    transcript_path: join(folder, 'm.txt'),
    socket_path: join(folder, 'm.sock'),
    process: { pid: process.pid, started: null },
  };
}

/** What answers a start of an engine. */
type Started = Awaited<ReturnType<RecorderWorld['startEngine']>>;

/** `again` answers each further start of an engine. */
function start(
  engine: Engine,
  clock: SetClock | FakeClock,
  { audio = false, again = [] }: { audio?: boolean; again?: (() => Promise<Started>)[] } = {},
): void {
  const starts = [async () => ({ engine, passed_over: ['sherpa-onnx had no model'] }), ...again];
  running = record(
    { ...recordingIn(scratch.path), audio_path: audio ? join(scratch.path, 'm.wav') : null },
    {
      clock,
      monotonic: () => clock.monotonic(),
      startEngine: () => starts.shift()!(),
      stop: stop.signal,
      mirror: { clock, runner: createRunner(), env: {}, ssh: '/nonexistent/ssh' },
    },
  );
}

const state = (): RecorderState =>
  recorderStateSchema.parse(JSON.parse(readFileSync(join(scratch.path, 'm.json'), 'utf8')));
const lines = () => readFileSync(join(scratch.path, 'm.txt'), 'utf8').trimEnd().split('\n');
const line = (pattern: RegExp) => until(`${pattern}`, () => lines().find((one) => pattern.test(one)));
async function sender(): Promise<Sender> {
  await until('live', () => {
    try {
      return state().phase === 'live';
    } catch {
      return false;
    }
  });
  return connectSender(join(scratch.path, 'm.sock'));
}

/** An engine that a test leads. */
function ledEngine(): Engine & {
  say(segment: EngineSegment): void;
  exit(why: string): void;
  readonly given: number;
  backlog: number;
} {
  let tell: (segment: EngineSegment) => void = () => undefined;
  let exited: (why: string) => void = () => undefined;
  let samples = 0;
  return {
    ...{ name: 'led 1', diarizes: true, caveat: null, backlog: 0 },
    get given() {
      return samples / 16_000;
    },
    get backlog_seconds() {
      return this.backlog;
    },
    start: async () => undefined,
    push(pcm) {
      samples += pcm.length;
      return true;
    },
    finish: async () => true,
    onSegment(listener) {
      tell = listener;
    },
    onExit(listener) {
      exited = listener;
    },
    say: (segment) => tell(segment),
    exit: (why) => exited(why),
  };
}

/** Speaks for so many seconds at the pace of the clock. */
async function speak(
  phone: Sender,
  clock: SetClock,
  engine: { given: number },
  seconds: number,
): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    const before = engine.given;
    clock.pass(1_000);
    await phone.send(babble(1));
    // Of 20 s without a pause the last 2 s are held back for a cut.
    if (second < 17) await until('the audio', () => engine.given >= before + 1);
    else await pause(20);
  }
}

describe('a recording', () => {
  it('begins with its engine and with what was passed over, and tells speakers apart where the engine does', async () => {
    const engine = ledEngine();
    start(engine, new SetClock());
    const phone = await sender();
    await phone.send(babble(4));
    await until('the audio', () => engine.given >= 4);
    engine.say({ start: 1, end: 2, text: 'yes', speaker: 'S3' });
    await line(/ S3 /);
    expect(lines()).toEqual(['# led 1', '# sherpa-onnx had no model', '10:00:01-10:00:02 S3 yes']);
    expect(state().engine).toBe('led 1');
  });

  it('keeps the times of its lines when the clock is set, and takes the new time over at the next connection', async () => {
    const engine = ledEngine();
    const clock = new SetClock();
    start(engine, clock);
    const phone = await sender();
    await speak(phone, clock, engine, 10);
    expect(state().time_base).toEqual({ wall: TEN, monotonic: 0 });
    // Somebody sets the clock three hours back.
    clock.wall -= 3 * 3_600_000;
    await speak(phone, clock, engine, 5);
    engine.say({ start: 9, end: 14, text: 'across' });
    expect(await line(/across/)).toBe('10:00:09-10:00:14 S1 across');
    phone.close();
    await phone.closed;
    await until('the pause', () => engine.given > 15.5);
    const again = await sender();
    await until('its times', () => state().time_base?.monotonic === 15_000);
    expect(state().time_base?.wall).toBe(clock.wall);
    await speak(again, clock, engine, 2);
    engine.say({ start: 16, end: 17, text: 'after' });
    expect(await line(/after/)).toBe('07:00:15-07:00:16 S1 after');
  });

  it('counts no time for silence that it inserted, and all of it for a phone that was away', async () => {
    const engine = ledEngine();
    const clock = new SetClock();
    start(engine, clock);
    const phone = await sender();
    await speak(phone, clock, engine, 30);
    // 30 s of speech have one cut in them.
    await until('the audio', () => engine.given >= 30.8);
    engine.say({ start: 25, end: 25.8, text: 'behind the cut' });
    expect(await line(/behind/)).toMatch(/^10:00:24-/);
    phone.close();
    await phone.closed;
    clock.pass(3_600_000);
    const again = await sender();
    await speak(again, clock, engine, 2);
    engine.say({ start: engine.given - 1, end: engine.given, text: 'an hour later' });
    expect(await line(/later/)).toMatch(/^11:00:3[01]-/);
  });

  it('gives an engine that is behind no more audio, and says what was not transcribed', async () => {
    const engine = ledEngine();
    start(engine, new SetClock());
    const phone = await sender();
    await phone.send(babble(2));
    await until('the audio', () => engine.given >= 2);
    engine.backlog = 31;
    const before = engine.given;
    await phone.send(babble(6));
    await until('the pause', () => engine.given > before);
    expect(await line(/is behind/)).toMatch(
      /^# led 1 is behind: what is said from 10:00:0\d on is not transcribed$/,
    );
    await until('the fault', () => state().fault?.startsWith('led 1 is behind'));
    engine.backlog = 16;
    await phone.send(babble(1));
    engine.backlog = 14;
    await phone.send(babble(1));
    expect(await line(/was behind/)).toMatch(
      /^# \d s from 10:00:0\d on are not transcribed: led 1 was behind$/,
    );
    await until('no fault', () => state().fault === null);
  });

  it('starts an engine that ends anew, once, and goes on by the level of speech until then and after that', async () => {
    const [first, second] = [ledEngine(), ledEngine()];
    const loading = Promise.withResolvers<Started>();
    const clock = new SetClock();
    start(first, clock, { again: [() => loading.promise] });
    const phone = await sender();
    await phone.send(babble(1));
    await until('the audio', () => first.given >= 1);
    first.exit('it ended: out of memory');
    await phone.send(joinedAudio(silence(1), babble(2), silence(2)));
    await line(/\[speech/);
    expect(lines()[2]).toBe(
      '# led 1 ended (it ended: out of memory), what was said just before may be missing; it is started anew, and until then, from 10:00:00 on: vad, not diarized, not transcribed',
    );
    expect(state()).toMatchObject({
      engine: 'vad, not diarized, not transcribed',
      fault: expect.stringMatching(/^led 1 ended .*; it is started anew$/),
    });
    clock.pass(6_000);
    loading.resolve({ engine: second, passed_over: [] });
    expect(await line(/was started anew/)).toBe('# led 1 was started anew; from 10:00:06 on: led 1');
    await until('no fault', () => state().fault === null && state().engine === 'led 1');
    await speak(phone, clock, second, 3);
    second.say({ start: 1, end: 2, text: 'once more' });
    expect(await line(/once more/)).toBe('10:00:07-10:00:08 S1 once more');
    second.exit('it ended');
    await phone.send(joinedAudio(babble(2), silence(2)));
    expect(await line(/ended again/)).toBe(
      '# led 1 ended again (it ended), what was said just before may be missing; from 10:00:09 on: vad, not diarized, not transcribed',
    );
    await until('speech after it', () => lines().at(-1)?.includes('[speech'));
    expect(state()).toMatchObject({
      phase: 'live',
      fault: expect.stringMatching(/ended again .*; start a new recording to have it again$/),
    });
  });

  it.each<[string, () => Promise<Started>, string]>([
    [
      'does not start a second time',
      () => Promise.reject(new CodedError('invalid_config', 'led 1 cannot be used: no memory')),
      'led 1 cannot be used: no memory',
    ],
    [
      'has given way to the one that is there anyway',
      async () => ({ engine: createVadEngine(), passed_over: ['led 1 cannot be used: no memory'] }),
      'no other engine can be used',
    ],
  ])('goes on by the level of speech where an engine that ended %s', async (_, again, why) => {
    const engine = ledEngine();
    start(engine, new SetClock(), { again: [again] });
    const phone = await sender();
    engine.exit('it ended');
    expect(await line(/goes on with/)).toBe(
      `# ${why}; the recording goes on with: vad, not diarized, not transcribed`,
    );
    expect(lines().join()).toContain('# led 1 cannot be used: no memory');
    await phone.send(joinedAudio(silence(1), babble(2), silence(2)));
    await line(/\[speech/);
    expect(state().fault).toMatch(/^led 1 ended .*; start a new recording to have it again$/);
  });

  it('that is stopped while its engine is started anew ends that one too, and well', async () => {
    const engine = ledEngine();
    const loading = Promise.withResolvers<Started>();
    start(engine, new SetClock(), { again: [() => loading.promise] });
    await sender();
    engine.exit('it ended');
    await line(/is started anew/);
    stop.abort();
    await until('the stop', () => state().phase === 'stopping');
    let ended = false;
    const late = { ...ledEngine(), finish: async () => (ended = true) };
    loading.resolve({ engine: late, passed_over: [] });
    expect(await running).toBe(null);
    expect(ended).toBe(true);
    expect(lines().at(-1)).toMatch(/^# ended /);
    expect(lines().join()).not.toContain('was started anew');
  });

  it('says that a phone is lost after 90 s, and that it is back', async () => {
    const clock = new FakeClock(TEN);
    start(createVadEngine(), clock);
    const phone = await sender();
    clock.advance(5_000);
    phone.close();
    await until('the loss', () => {
      clock.advance(1_000);
      return lines().some((one) => one.startsWith('# phone lost'));
    });
    expect(await line(/^# phone lost at 10:0\d:\d\d$/)).toBeTruthy();
    await sender();
    await line(/^# phone back at 10:0\d:\d\d$/);
  });

  it('that is stopped before its engine is ready ends well', async () => {
    stop.abort();
    start(createVadEngine(), new SetClock());
    expect(await running).toBe(null);
    expect(state().phase).toBe('ended');
    expect(lines().at(-1)).toBe('# ended 10:00:00');
  });

  it('that is stopped while its engine is loading ends at once, without a transcript', async () => {
    const loading = Promise.withResolvers<never>();
    const clock = new SetClock();
    running = record(recordingIn(scratch.path), {
      ...{ clock, monotonic: clock.monotonic, stop: stop.signal },
      startEngine: () => loading.promise,
      mirror: { clock, runner: createRunner(), env: {}, ssh: '/nonexistent/ssh' },
    });
    await until('loading', () => state().phase === 'loading');
    stop.abort();
    loading.reject(new CodedError('invalid_config', 'led 1 cannot be used: it was stopped'));
    expect(await running).toBe(null);
    expect(state()).toMatchObject({ phase: 'ended', error: null });
    expect(existsSync(join(scratch.path, 'm.txt'))).toBe(false);
  });

  it('whose engine did not say all in time says so before its end', async () => {
    const engine = { ...createVadEngine(), finish: async () => false };
    start(engine, new SetClock());
    await sender();
    stop.abort();
    expect(await running).toBe(null);
    expect(lines().slice(-2)).toEqual([
      '# what was said last is not transcribed: vad was not done in time',
      '# ended 10:00:00',
    ]);
  });

  it('whose engine cannot be started fails with its sentence', async () => {
    const failing = { ...createVadEngine() };
    const clock = new SetClock();
    running = record(recordingIn(scratch.path), {
      ...{ clock, monotonic: clock.monotonic, stop: stop.signal },
      startEngine: async () => {
        throw new CodedError('invalid_config', `${failing.name} is not here; install it`);
      },
      mirror: { clock, runner: createRunner(), env: {}, ssh: '/nonexistent/ssh' },
    });
    expect(await running).toBe('vad is not here; install it');
    expect(state()).toMatchObject({ phase: 'failed', error: 'vad is not here; install it' });
  });

  it('keeps silence in its audio for the time without a phone, so that its times are those of the meeting', async () => {
    const clock = new SetClock();
    start(createVadEngine(), clock, { audio: true });
    const phone = await sender();
    clock.pass(1_000);
    await phone.send(babble(1));
    phone.close();
    await phone.closed;
    clock.pass(9_000);
    const again = await sender();
    await again.send(babble(1));
    clock.pass(1_000);
    await until('the audio', () => {
      try {
        return readFileSync(join(scratch.path, 'm.wav')).length >= 44 + 11 * 32_000;
      } catch {
        return false;
      }
    });
    stop.abort();
    expect(await running).toBe(null);
    const wav = readFileSync(join(scratch.path, 'm.wav'));
    expect(wav.readUInt32LE(40)).toBe(11 * 32_000);
    expect(wav.subarray(44 + 5 * 32_000, 44 + 6 * 32_000).every((byte) => byte === 0)).toBe(true);
    expect(wav.subarray(44 + 10 * 32_000).some((byte) => byte !== 0)).toBe(true);
  });
});
