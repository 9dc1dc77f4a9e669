import { SAMPLE_RATE } from '../contract/recorder.ts';
import { ForcedCut, type Piece } from './audio/forced-cut.ts';
import { Lag } from './audio/lag.ts';
import { Timeline } from './audio/timeline.ts';
import type { Engine, EngineSegment } from './engines/engine.ts';

/** An engine that has more audio than this to look at is given no more, until it has half of it left; in seconds. */
const MOST_BACKLOG_SECONDS = 30;
/** Speaker of an engine that tells none apart. */
const ONLY_SPEAKER = 'S1';

/** What one engine makes of the audio. Times in milliseconds since the Unix epoch. */
export type SpeechListener = {
  spoken(from: number, to: number, speaker: string, text: string): void;
  /** The engine is behind; audio from here on is not given to it. */
  behind(from: number): void;
  /** Audio of this length was not given to the engine, which has caught up or ends. */
  skipped(from: number, ms: number): void;
};

/** Gives audio to an engine, with what it needs of silence, and says when that what it found was said. */
export class SpeechFeed {
  readonly engine: Engine;
  readonly #listener: SpeechListener;
  readonly #timeline: Timeline;
  readonly #cut = new ForcedCut();
  readonly #lag = new Lag();
  #skipped: { from: number; samples: number } | null = null;

  constructor(engine: Engine, now: number, listener: SpeechListener) {
    this.engine = engine;
    this.#listener = listener;
    this.#timeline = new Timeline(now);
    engine.onSegment((segment) => this.#spoken(segment));
  }

  /** A sender connected; its audio is recorded from now on. */
  connected(now: number): void {
    this.#endSkipped();
    this.#timeline.anchor(now);
    this.#lag.reset();
  }

  /** Takes audio whose last sample was recorded now. */
  push(pcm: Int16Array, now: number): void {
    if (this.#isBehind()) {
      this.#skip(pcm);
      return;
    }
    this.#endSkipped();
    this.#give(this.#cut.push(pcm));
    const duration = (pcm.length * 1_000) / SAMPLE_RATE;
    const behind = this.#lag.push(now - this.#timeline.end, duration);
    if (behind > 0) this.#timeline.anchor(this.#timeline.end + behind);
  }

  /** No audio comes for a while: what is being said is ended. */
  pause(): void {
    this.#give(this.#cut.flush());
  }

  /** Says all that is still open, and ends the engine; see `Engine.finish`. */
  async finish(deadline_ms: number): Promise<boolean> {
    this.pause();
    this.#endSkipped();
    return this.engine.finish(deadline_ms);
  }

  /** The engine ended by itself: says what it was not given. */
  abandon(): void {
    this.#endSkipped();
  }

  #give(pieces: readonly Piece[]): void {
    for (const { pcm, inserted } of pieces) {
      if (inserted) this.#timeline.inserted(pcm.length);
      else this.#timeline.recorded(pcm.length);
      this.engine.push(pcm);
    }
  }

  #isBehind(): boolean {
    const most = this.#skipped === null ? MOST_BACKLOG_SECONDS : MOST_BACKLOG_SECONDS / 2;
    return this.engine.backlog_seconds > most;
  }

  #skip(pcm: Int16Array): void {
    if (this.#skipped === null) {
      this.pause();
      this.#skipped = { from: this.#timeline.end, samples: 0 };
      this.#listener.behind(this.#skipped.from);
    }
    this.#skipped.samples += pcm.length;
    this.#timeline.skipped(pcm.length);
  }

  #endSkipped(): void {
    const skipped = this.#skipped;
    this.#skipped = null;
    if (skipped !== null) this.#listener.skipped(skipped.from, (skipped.samples * 1_000) / SAMPLE_RATE);
  }

  #spoken({ start, end, text, speaker = ONLY_SPEAKER }: EngineSegment): void {
    const [from, to] = [start, end].map((seconds) => Math.max(0, Math.round(seconds * SAMPLE_RATE))) as [
      number,
      number,
    ];
    this.#listener.spoken(this.#timeline.timeOf(from), this.#timeline.timeOf(to), speaker, text);
    this.#timeline.forgetBefore(from);
  }
}
