import { isCoded, messageOf } from '../base/errors.ts';
import { Mutex } from '../base/mutex.ts';
import { SAMPLE_RATE } from '../contract/recorder.ts';
import { createPositionedFile, type PositionedFile } from '../platform/positioned-file.ts';
import { storageFault } from '../platform/storage-error.ts';
import { MOST_WAV_BYTES, WAV_HEADER_BYTES, wavHeader } from './audio/wav-header.ts';

const BYTES_PER_SECOND = 2 * SAMPLE_RATE;
/** Audio that waits for the disk at most, in bytes: 30 s. */
const MOST_WAITING_BYTES = 960_000;
/** Audio after which the header is made to say how much there is: what a killed recorder loses at most. */
const HEADER_EVERY_BYTES = 5 * BYTES_PER_SECOND;
/** Audio leaves this much of the disk to the transcript and to others, in bytes. */
const LEFT_FREE_BYTES = 8 * 1024 * 1024;

/**
 * The audio of a meeting as a WAV file that can be played at any moment, also if the recorder was killed: it begins with
 * its header, which counts what is there every few seconds. Time without a phone is silence in it, which takes no space
 * on the disk.
 */
export class KeptAudio {
  readonly #path: string;
  readonly #onFault: (sentence: string) => void;
  readonly #create: typeof createPositionedFile;
  readonly #writes = new Mutex();
  #file: PositionedFile | null = null;
  #ended = false;
  /** Bytes of samples up to the end of what was taken; written ones, and those that the header counts. */
  #end = 0;
  #written = 0;
  #counted = 0;
  #waiting = 0;

  /** `onFault` is called once, if no more audio is kept from then on. */
  constructor(path: string, onFault: (sentence: string) => void, create = createPositionedFile) {
    this.#path = path;
    this.#onFault = onFault;
    this.#create = create;
  }

  /** Takes audio; never blocks, never throws. */
  push(pcm: Int16Array): void {
    if (this.#ended || pcm.length === 0) return;
    const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength).slice();
    if (this.#waiting + bytes.length > MOST_WAITING_BYTES)
      this.#giveUp('its disk is too slow; the audio up to here is kept');
    else if (this.#end + bytes.length > MOST_WAV_BYTES)
      this.#giveUp('the file has the most that a WAV file can hold');
    if (this.#ended) return;
    const at = this.#end;
    this.#end += bytes.length;
    this.#waiting += bytes.length;
    void this.#write(bytes, at);
  }

  /** What comes next was recorded this long after the beginning, in milliseconds; what is missing until then is silence. */
  skipTo(ms: number): void {
    this.#end = Math.max(this.#end, Math.min(Math.floor((ms * SAMPLE_RATE) / 1_000) * 2, MOST_WAV_BYTES));
  }

  /** Writes what waits, counts it in the header and closes the file. Never rejects. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.#writes.run(() => this.#finish());
  }

  async #write(bytes: Uint8Array, at: number): Promise<void> {
    await this.#writes.run(async () => {
      this.#waiting -= bytes.length;
      if (this.#file === null && this.#ended) return;
      try {
        if (this.#file === null) {
          this.#file = await this.#create(this.#path);
          await this.#file.write(wavHeader(0), 0);
        }
        await this.#file.write(bytes, WAV_HEADER_BYTES + at);
        this.#written = at + bytes.length;
        if (this.#counted === 0 || this.#written - this.#counted >= HEADER_EVERY_BYTES) await this.#count();
      } catch (error) {
        this.#giveUp(faultOf(this.#path, error));
        await this.#finish();
      }
    });
  }

  async #count(): Promise<void> {
    await this.#file!.write(wavHeader(this.#written), 0);
    this.#counted = this.#written;
    if ((await this.#file!.freeBytes()) >= LEFT_FREE_BYTES) return;
    this.#giveUp('its disk is almost full; free space there before the next meeting');
    await this.#finish();
  }

  async #finish(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    if (file === null) return;
    try {
      if (this.#counted !== this.#written) await file.write(wavHeader(this.#written), 0);
    } catch (error) {
      this.#giveUp(faultOf(this.#path, error));
    }
    await file.close();
  }

  #giveUp(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onFault(`no more audio is kept: ${why}`);
  }
}

function faultOf(path: string, error: unknown): string {
  const fault = storageFault(path, error);
  // It is not kept again, whatever is done during the meeting.
  if (fault !== null) return `${fault.said}; ${fault.mend} before the next meeting`;
  return isCoded(error)
    ? error.message
    : `${path} cannot be written (${messageOf(error)}); check the disk before the next meeting`;
}
