/** Twenty milliseconds of audio. */
export const FRAME_BYTES = 640;
export const FRAME_MS = 20;

/** By the clock that all processes of a machine share, in milliseconds. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
/** Where a phone opens its WebSocket. */
export const AUDIO_PATH = '/api/v1/meeting/audio';
