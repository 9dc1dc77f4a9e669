import type { Clock } from '../base/clock.ts';
import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import type { MeetingMode, RecorderState } from '../contract/recorder.ts';
import { type AudioSocket, openAudioSocket } from './audio-socket.ts';
import { type Engine, engineLine } from './engines/engine.ts';
import { createVadEngine } from './engines/vad.ts';
import { KeptAudio } from './kept-audio.ts';
import { LifecycleFile } from './lifecycle-file.ts';
import { Mirror, type MirrorWorld } from './mirror.ts';
import type { MirrorTarget } from './mirror-copy.ts';
import { SenderWatch } from './sender-watch.ts';
import { SpeechFeed, type SpeechListener } from './speech-feed.ts';
import { SteadyTime } from './steady-time.ts';
import { Transcript } from './transcript.ts';
import { commentLine, spokenLine, timeOfDay } from './transcript-lines.ts';

/**
 * How long a disk may take for the first line, an engine for what is still open at the stop, and a disk for the last lines.
 * In milliseconds.
 */
const BEGIN_MS = 2_000;
const FINISH_MS = 25_000;
const FLUSH_MS = 5_000;
/** How long a disk may take for how the recording ended, in milliseconds: without that it is taken for one that was killed. */
const LAST_WORD_MS = 30_000;
/** How long the last lines may take to another host, in milliseconds. */
const MIRROR_MS = 10_000;

/** One recording. Paths are absolute. */
export type Recording = {
  mode: MeetingMode;
  launch: string;
  state_path: string;
  transcript_path: string;
  /** Where the audio is kept; null for none. */
  audio_path: string | null;
  socket_path: string;
  /** Where the transcript is copied to; null for nowhere. */
  mirror: MirrorTarget | null;
  process: { pid: number; started: string | null };
};

export type RecorderWorld = {
  clock: Clock;
  /** Milliseconds of the system's clock that nobody sets, the same for every process. */
  monotonic(): number;
  /**
   * The engine, ready for audio, and sentences on better ones that did not start; rejects with a `CodedError` where none can
   * be used. It is called a second time where the first one ended by itself.
   */
  startEngine(): Promise<{ engine: Engine; passed_over: readonly string[] }>;
  /** Aborted when the recording is to be stopped. */
  stop: AbortSignal;
  /** What a mirror needs. */
  mirror: MirrorWorld;
};

/**
 * Records a meeting until it is told to stop: see `ops/recorder.md`. Answers null when it ended well, and otherwise why it
 * failed, which its lifecycle file then says too. Throws the system error where that file cannot be written at all.
 */
export async function record(recording: Recording, world: RecorderWorld): Promise<string | null> {
  const lifecycle = new LifecycleFile(recording.state_path, world.clock, firstState(recording, world.clock));
  try {
    requirePhone(recording.mode);
    const begun = await startEngineOrStop(world);
    if (begun === null) {
      lifecycle.change({ phase: 'ended' });
      await lifecycle.settle(LAST_WORD_MS);
      return null;
    }
    const { engine, passed_over } = begun;
    const fault = await new RunningRecorder(recording, world, lifecycle, engine).run(passed_over);
    lifecycle.change(fault === null ? { phase: 'ended' } : { phase: 'failed', phone: null, error: fault });
    await lifecycle.settle(LAST_WORD_MS);
    return fault;
  } catch (error) {
    const said = isCoded(error) ? error.message : `the recorder failed: ${messageOf(error)}`;
    lifecycle.change({ phase: 'failed', phone: null, error: said });
    await lifecycle.settle(LAST_WORD_MS);
    return said;
  }
}

/** Null where the recording was stopped while the engine was loading: nothing was recorded. */
async function startEngineOrStop({
  startEngine,
  stop,
}: RecorderWorld): Promise<Awaited<ReturnType<RecorderWorld['startEngine']>> | null> {
  try {
    return await startEngine();
  } catch (error) {
    if (stop.aborted) return null;
    throw error;
  }
}

function requirePhone(mode: MeetingMode): void {
  if (mode === 'phone') return;
  throw new CodedError(
    'invalid_request',
    `this recorder takes a phone’s audio alone, and cannot record in the mode ${mode}; record with --mode phone, or set SVC_RECORDER to a recorder that can`,
  );
}

function firstState({ launch, process }: Recording, clock: Clock): RecorderState {
  return {
    version: 1,
    launch,
    pid: process.pid,
    process_started: process.started,
    phase: 'loading',
    started_at: clock.now(),
    phone: null,
    engine: null,
    error: null,
    fault: null,
    time_base: null,
  };
}

/** What of a recording may be wrong while it goes on. */
type Part = 'transcript' | 'audio' | 'engine' | 'mirror';

class RunningRecorder {
  readonly #recording: Recording;
  readonly #world: RecorderWorld;
  readonly #lifecycle: LifecycleFile;
  readonly #time: SteadyTime;
  readonly #transcript: Transcript;
  readonly #audio: KeptAudio | null;
  readonly #mirror: Mirror | null;
  readonly #watch: SenderWatch;
  readonly #faults = new Map<Part, string>();
  #feed: SpeechFeed;
  /** The second start of an engine, which is the last; null while the first one runs. */
  #startedAnew: Promise<void> | null = null;
  #firstAudio: number | null = null;

  constructor(recording: Recording, world: RecorderWorld, lifecycle: LifecycleFile, engine: Engine) {
    this.#recording = recording;
    this.#world = world;
    this.#lifecycle = lifecycle;
    this.#time = new SteadyTime(world.clock, world.monotonic);
    this.#transcript = new Transcript(recording.transcript_path, world.clock, (sentence) =>
      this.#fault('transcript', sentence),
    );
    this.#mirror =
      recording.mirror === null
        ? null
        : new Mirror(recording.transcript_path, recording.mirror, world.mirror, (sentence) =>
            this.#fault('mirror', sentence),
          );
    this.#audio =
      recording.audio_path === null
        ? null
        : new KeptAudio(recording.audio_path, (sentence) => {
            this.#comment(sentence);
            this.#fault('audio', sentence);
          });
    this.#watch = new SenderWatch(
      world.clock,
      () => this.#time.now(),
      (what, at) => this.#comment(`phone ${what} at ${timeOfDay(at)}`),
    );
    this.#feed = this.#feedOf(engine);
  }

  /** Answers null after a clean end, else what went wrong. `notes` are comments of the transcript. */
  async run(notes: readonly string[]): Promise<string | null> {
    const engine = engineLine(this.#feed.engine);
    for (const text of [engine, ...notes]) this.#comment(text);
    if (!(await this.#transcript.flush(BEGIN_MS))) return this.#notWritten('the transcript cannot be begun');
    this.#mirror?.start();
    const socket = await this.#open();
    this.#watch.gone();
    this.#lifecycle.change({
      ...{ phase: 'live', phone: this.#recording.socket_path, engine },
      time_base: this.#time.base,
    });
    await stopped(this.#world.stop);
    // Before the sender is closed: whoever sees it closed looks here for the reason.
    this.#lifecycle.change({ phase: 'stopping', phone: null });
    await socket.close();
    this.#watch.stop();
    await this.#startedAnew;
    const [is_heard] = await Promise.all([this.#feed.finish(FINISH_MS), this.#audio?.close()]);
    if (!is_heard)
      this.#comment(`what was said last is not transcribed: ${this.#feed.engine.name} was not done in time`);
    this.#comment(`ended ${timeOfDay(this.#time.now())}`);
    const is_whole = await this.#transcript.flush(FLUSH_MS);
    await this.#mirror?.finish(MIRROR_MS);
    return is_whole ? null : this.#notWritten('the transcript is not whole');
  }

  #notWritten(what: string): string {
    return `${what}: ${this.#faults.get('transcript') ?? 'its disk is too slow; see what slows it'}`;
  }

  #open(): Promise<AudioSocket> {
    return openAudioSocket(this.#recording.socket_path, {
      connected: () => {
        this.#time.look();
        this.#lifecycle.change({ time_base: this.#time.base });
        this.#watch.connected();
        this.#firstAudio ??= this.#world.monotonic();
        this.#audio?.skipTo(this.#world.monotonic() - this.#firstAudio);
        this.#feed.connected(this.#time.now());
      },
      samples: (pcm) => {
        this.#audio?.push(pcm);
        this.#feed.push(pcm, this.#time.now());
      },
      gone: () => {
        this.#feed.pause();
        this.#watch.gone();
      },
    });
  }

  #feedOf(engine: Engine): SpeechFeed {
    engine.onExit((why) => this.#goOnWithout(engine, why));
    const listener: SpeechListener = {
      spoken: (from, to, speaker, text) => this.#transcript.push(spokenLine(from, to, speaker, text)),
      behind: (from) => {
        this.#comment(`${engine.name} is behind: what is said from ${timeOfDay(from)} on is not transcribed`);
        this.#fault('engine', `${engine.name} is behind; give this machine less to do`);
      },
      skipped: (from, ms) => {
        this.#comment(
          `${Math.ceil(ms / 1_000)} s from ${timeOfDay(from)} on are not transcribed: ${engine.name} was behind`,
        );
        this.#fault('engine', null);
      },
    };
    return new SpeechFeed(engine, this.#time.now(), listener);
  }

  /**
   * An engine that ended by itself is started anew, once in a recording. Until then, and after a second end, the one goes on
   * that cannot end.
   */
  #goOnWithout(engine: Engine, why: string): void {
    if (this.#feed.engine !== engine) return;
    this.#feed.abandon();
    this.#feed = this.#feedOf(createVadEngine());
    const from = `from ${timeOfDay(this.#time.now())} on: ${this.#nameEngine()}`;
    const is_second = this.#startedAnew !== null;
    const sentence = `${engine.name} ended ${is_second ? 'again ' : ''}(${why}), what was said just before may be missing`;
    if (is_second || this.#world.stop.aborted) {
      this.#comment(`${sentence}; ${from}`);
      this.#fault('engine', `${sentence}; start a new recording to have it again`);
      return;
    }
    this.#comment(`${sentence}; it is started anew, and until then, ${from}`);
    this.#fault('engine', `${sentence}; it is started anew`);
    this.#startedAnew = this.#startAnew(sentence);
  }

  /** Never rejects. `ended` says how the engine before ended. */
  async #startAnew(ended: string): Promise<void> {
    try {
      const { engine, passed_over } = await this.#world.startEngine();
      if (this.#world.stop.aborted) {
        await engine.finish(0);
        return;
      }
      for (const text of passed_over) this.#comment(text);
      if (engineLine(engine) === engineLine(this.#feed.engine)) {
        this.#goOnFor('no other engine can be used', ended);
        return;
      }
      void this.#feed.finish(0);
      this.#feed = this.#feedOf(engine);
      this.#comment(
        `${engine.name} was started anew; from ${timeOfDay(this.#time.now())} on: ${this.#nameEngine()}`,
      );
      this.#fault('engine', null);
    } catch (error) {
      if (!this.#world.stop.aborted) this.#goOnFor(messageOf(error), ended);
    }
  }

  /** No engine was started anew: the rest of the recording is that of the one that is there. */
  #goOnFor(why: string, ended: string): void {
    this.#comment(`${why}; the recording goes on with: ${engineLine(this.#feed.engine)}`);
    this.#fault('engine', `${ended}; ${why}; start a new recording to have it again`);
  }

  /** The engine that is heard now, which the lifecycle file names from now on. */
  #nameEngine(): string {
    const engine = engineLine(this.#feed.engine);
    this.#lifecycle.change({ engine });
    return engine;
  }

  #comment(text: string): void {
    this.#transcript.push(commentLine(text));
  }

  #fault(part: Part, sentence: string | null): void {
    if ((this.#faults.get(part) ?? null) === sentence) return;
    if (sentence === null) this.#faults.delete(part);
    else this.#faults.set(part, sentence);
    this.#lifecycle.change({ fault: this.#faults.size === 0 ? null : [...this.#faults.values()].join('; ') });
  }
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
