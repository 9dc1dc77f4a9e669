import { SAMPLE_RATE } from '../../contract/recorder.ts';

/** Samples of 20 ms, the piece of audio whose level is looked at. */
export const FRAME = SAMPLE_RATE / 50;

/** The level of samples: the root of their mean square, from 0 to 32768. */
export function levelOf(pcm: Int16Array): number {
  let sum = 0;
  for (const sample of pcm) sum += sample * sample;
  return pcm.length === 0 ? 0 : Math.sqrt(sum / pcm.length);
}
