import { SAMPLE_RATE } from '../../contract/recorder.ts';
import { Frames } from '../audio/frames.ts';
import { FRAME, levelOf } from '../audio/level.ts';

/** Speech in seconds of the audio that was given. */
export type Speech = { start: number; end: number };

const FRAME_SECONDS = FRAME / SAMPLE_RATE;
/** A frame is voiced above this level, and above this multiple of the noise. */
const LEAST_LEVEL = 150;
const ABOVE_NOISE = 3;
/** How the level of the noise follows: quickly down to a quiet frame, slowly up, by two in 14 s. */
const NOISE_FALL = 0.3;
const NOISE_RISE = 1.001;
/** Of the last five frames as many are voiced at the beginning of speech; after so many without one it has ended. */
const BEGIN_OF = 5;
const BEGIN_VOICED = 3;
const END_FRAMES = 30;
/** Speech that is shorter than this many seconds is a click. */
const LEAST_SPEECH_SECONDS = 0.2;

/** Finds speech by its level alone. */
export class SpeechDetector {
  readonly #frames = new Frames();
  #at = 0;
  #noise = LEAST_LEVEL;
  /** Places of the voiced ones among the last frames. */
  #voiced: number[] = [];
  #speech: { start: number; last: number } | null = null;

  push(pcm: Int16Array): Speech[] {
    return this.#frames.push(pcm).flatMap((frame) => this.#frame(levelOf(frame)));
  }

  /** The speech that is still going on. */
  finish(): Speech[] {
    const speech = this.#speech;
    this.#speech = null;
    return speech === null ? [] : ended(speech);
  }

  #frame(level: number): Speech[] {
    const at = this.#at;
    this.#at += 1;
    this.#noise =
      level < this.#noise
        ? this.#noise + (level - this.#noise) * NOISE_FALL
        : Math.max(this.#noise, 1) * NOISE_RISE;
    const is_voiced = level > Math.max(LEAST_LEVEL, this.#noise * ABOVE_NOISE);
    if (is_voiced) this.#voiced.push(at);
    this.#voiced = this.#voiced.filter((one) => one > at - BEGIN_OF);
    if (this.#speech === null) {
      if (this.#voiced.length >= BEGIN_VOICED) this.#speech = { start: this.#voiced[0]!, last: at };
      return [];
    }
    if (is_voiced) this.#speech.last = at;
    return at - this.#speech.last >= END_FRAMES ? this.finish() : [];
  }
}

function ended({ start, last }: { start: number; last: number }): Speech[] {
  const speech = { start: start * FRAME_SECONDS, end: (last + 1) * FRAME_SECONDS };
  return speech.end - speech.start < LEAST_SPEECH_SECONDS ? [] : [speech];
}
