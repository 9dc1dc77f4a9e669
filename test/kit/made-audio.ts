/** Samples in one second. */
const RATE = 16_000;

/** So many seconds of silence, as bytes. */
export function silence(seconds: number): Uint8Array {
  return new Uint8Array(Math.round(seconds * RATE) * 2);
}

/** So many seconds of a sound as loud as speech, whose level rises and falls as that of syllables does, as bytes. */
export function babble(seconds: number, level = 6_000): Uint8Array {
  const pcm = new Int16Array(Math.round(seconds * RATE));
  // The same sound each time: a linear congruential generator.
  let seed = 1;
  for (let at = 0; at < pcm.length; at += 1) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const syllable = 0.6 + 0.4 * Math.sin((2 * Math.PI * 4 * at) / RATE);
    pcm[at] = Math.round((seed / 1_073_741_824 - 1) * level * syllable);
  }
  return new Uint8Array(pcm.buffer);
}

export function joinedAudio(...pieces: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces));
}
