import { SAMPLE_RATE } from '../../contract/recorder.ts';

/** From this sample on, time passes from `wall` on; or stands still there, where silence was inserted. */
type Mark = { sample: number; wall: number; still: boolean };

/** When each sample that an engine was given was recorded, in milliseconds since the Unix epoch. */
export class Timeline {
  #marks: Mark[];
  #given = 0;

  constructor(wall: number) {
    this.#marks = [{ sample: 0, wall, still: false }];
  }

  /** When the next sample is recorded. */
  get end(): number {
    return this.timeOf(this.#given);
  }

  /** The next sample is recorded at this time. */
  anchor(wall: number): void {
    this.#mark({ sample: this.#given, wall, still: false });
  }

  recorded(samples: number): void {
    this.#given += samples;
  }

  /** The next samples were never recorded: no time passes in them. */
  inserted(samples: number): void {
    const wall = this.end;
    this.#mark({ sample: this.#given, wall, still: true });
    this.#given += samples;
    this.#mark({ sample: this.#given, wall, still: false });
  }

  /** Samples that were recorded and that the engine was not given. */
  skipped(samples: number): void {
    this.anchor(this.end + duration(samples));
  }

  timeOf(sample: number): number {
    const { sample: from, wall, still } = this.#marks.findLast((mark) => mark.sample <= sample)!;
    return still ? wall : wall + duration(sample - from);
  }

  /** Forgets what is needed for earlier samples alone, so that a long meeting takes no more memory than a short one. */
  forgetBefore(sample: number): void {
    const first = this.#marks.findLastIndex((mark) => mark.sample <= sample);
    if (first > 0) this.#marks = this.#marks.slice(first);
  }

  #mark(mark: Mark): void {
    if (this.#marks.at(-1)!.sample === mark.sample) this.#marks.pop();
    this.#marks.push(mark);
  }
}

function duration(samples: number): number {
  return (samples * 1_000) / SAMPLE_RATE;
}
