import { SAMPLE_RATE } from '../../contract/recorder.ts';
import { Frames } from './frames.ts';
import { FRAME, levelOf } from './level.ts';

/** A piece of audio for an engine: as it was recorded, or inserted silence. */
export type Piece = { pcm: Int16Array; inserted: boolean };

/** Frames after which speech without a pause is cut, and how many of the last ones the quietest is looked for in. */
const UNBROKEN_FRAMES = (20 * SAMPLE_RATE) / FRAME;
const SEARCHED_FRAMES = (2 * SAMPLE_RATE) / FRAME;
/** Frames in a row that are a pause if all are quiet. */
const PAUSE_FRAMES = SAMPLE_RATE / 2 / FRAME;
/** Silence that every engine takes for the end of what was said. */
const CUT_SAMPLES = 0.8 * SAMPLE_RATE;
/** A frame is quiet below this level, or below this share of the loudest of the last seconds. */
const QUIET_LEVEL = 40;
const QUIET_SHARE = 0.06;
/** What is left after one frame of the level that counts as loud: a seventh after 20 s. */
const FADE = 0.998;

/**
 * Breaks up speech without pauses, since an engine says nothing before a pause: into every 20 s of it, 0.8 s of silence
 * are inserted behind the quietest 20 ms of the last 2 s. A pause is only what is clearly one: a cut too many in noise
 * does no harm, a missing one does.
 */
export class ForcedCut {
  readonly #frames = new Frames();
  #held: { pcm: Int16Array; level: number }[] = [];
  #unbroken = 0;
  #quiet = 0;
  #loudest = 0;

  push(pcm: Int16Array): Piece[] {
    return this.#frames.push(pcm).flatMap((frame) => this.#frame(frame));
  }

  /** All that was held back, with the silence that ends what is being said. */
  flush(): Piece[] {
    const pieces = [...this.#release(), recorded(this.#frames.take()), silence()];
    this.#unbroken = 0;
    this.#quiet = 0;
    return pieces.filter((piece) => piece.pcm.length > 0);
  }

  #frame(pcm: Int16Array): Piece[] {
    const level = levelOf(pcm);
    this.#loudest = Math.max(level, this.#loudest * FADE);
    this.#quiet = level < Math.max(QUIET_LEVEL, this.#loudest * QUIET_SHARE) ? this.#quiet + 1 : 0;
    this.#unbroken += 1;
    if (this.#quiet >= PAUSE_FRAMES) {
      this.#unbroken = 0;
      return [...this.#release(), recorded(pcm)];
    }
    if (this.#unbroken <= UNBROKEN_FRAMES - SEARCHED_FRAMES) return [recorded(pcm)];
    this.#held.push({ pcm, level });
    return this.#unbroken < UNBROKEN_FRAMES ? [] : this.#cut();
  }

  #cut(): Piece[] {
    const quietest = this.#held.reduce((least, { level }, at) => {
      return level < this.#held[least]!.level ? at : least;
    }, 0);
    this.#unbroken = this.#held.length - quietest - 1;
    const pieces = this.#release();
    return [...pieces.slice(0, quietest + 1), silence(), ...pieces.slice(quietest + 1)];
  }

  #release(): Piece[] {
    const pieces = this.#held.map(({ pcm }) => recorded(pcm));
    this.#held = [];
    return pieces;
  }
}

function recorded(pcm: Int16Array): Piece {
  return { pcm, inserted: false };
}

function silence(): Piece {
  return { pcm: new Int16Array(CUT_SAMPLES), inserted: true };
}
