/** Runs on the audio thread: makes frames of the microphone’s sound, and hands them to whoever has the node’s port. */
import { Framer } from '../model/frames.ts';
import { Resampler } from '../model/resampler.ts';

declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;
/** Of the context, in samples per second. */
declare const sampleRate: number;

class Tap extends AudioWorkletProcessor {
  readonly #resampler = new Resampler(sampleRate);
  readonly #framer = new Framer();

  process([input]: readonly (readonly Float32Array[])[]): boolean {
    const sound = input?.[0];
    if (sound !== undefined)
      this.#framer.push(this.#resampler.push(sound), ({ buffer }) => this.port.postMessage(buffer, [buffer]));
    return true;
  }
}

registerProcessor('tap', Tap);
