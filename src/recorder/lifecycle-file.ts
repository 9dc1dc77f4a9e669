import { type Clock, sleep } from '../base/clock.ts';
import { MOST_TEXT_CHARS, type RecorderState } from '../contract/recorder.ts';
import { writeFileAtomic } from '../platform/atomic-write.ts';

const RETRY_MS = 1_000;
/** Between two tries while the recorder waits for nothing else, in milliseconds. */
const SETTLE_MS = 100;

/**
 * The lifecycle file of this recorder. The first write throws the system error; what a disk does not take later is tried
 * again every second, since the recording goes on.
 */
export class LifecycleFile {
  readonly #path: string;
  readonly #clock: Clock;
  #state: RecorderState;
  #cancelRetry = () => {};
  #isWritten = true;

  constructor(path: string, clock: Clock, first: RecorderState) {
    this.#path = path;
    this.#clock = clock;
    this.#state = first;
    writeFileAtomic(path, text(first));
  }

  get state(): RecorderState {
    return this.#state;
  }

  /** Replaces the file with these members changed; false if the disk did not take it yet. */
  change(change: Partial<RecorderState>): boolean {
    this.#state = { ...this.#state, ...change };
    this.#cancelRetry();
    try {
      writeFileAtomic(this.#path, text(this.#state));
      this.#isWritten = true;
      return true;
    } catch {
      this.#isWritten = false;
      this.#cancelRetry = this.#clock.after(RETRY_MS, () => void this.change({}));
      return false;
    }
  }

  /** Waits until the disk has taken the last change, but no longer than this many milliseconds. */
  async settle(deadline_ms: number): Promise<void> {
    let overdue = false;
    const cancel = this.#clock.after(deadline_ms, () => {
      overdue = true;
    });
    while (!this.#isWritten && !overdue) {
      await sleep(this.#clock, SETTLE_MS);
      this.change({});
    }
    cancel();
    this.#cancelRetry();
  }
}

/** Its sentences repeat what engines and disks said, of any length; a longer one than a reader takes is cut. */
function text(state: RecorderState): string {
  const { engine, error, fault = null } = state;
  return `${JSON.stringify({ ...state, engine: cut(engine), error: cut(error), fault: cut(fault) }, null, 2)}\n`;
}

function cut(sentence: string | null): string | null {
  if (sentence === null || sentence.length <= MOST_TEXT_CHARS) return sentence;
  return `${sentence.slice(0, MOST_TEXT_CHARS - 1)}…`;
}
