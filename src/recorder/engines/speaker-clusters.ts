/** Speakers that are told apart at most; a further voice counts as the most similar one. */
const MOST_SPEAKERS = 8;
/** Voices more similar than this, as the cosine of their angle, are one speaker. */
const SAME_VOICE = 0.5;

/** Tells speakers apart by what an embedding model says of each utterance: `S1`, `S2`, … in the order of appearance. */
export class SpeakerClusters {
  /** Sums of unit vectors. */
  readonly #voices: Float64Array[] = [];

  speakerOf(embedding: Float32Array): string {
    const unit = unitOf(embedding);
    const similar = this.#voices.map((voice) => dot(unitOf(voice), unit));
    const best = similar.indexOf(Math.max(...similar));
    const known = best >= 0 && (similar[best]! >= SAME_VOICE || this.#voices.length >= MOST_SPEAKERS);
    if (!known) return `S${this.#voices.push(unit)}`;
    const voice = this.#voices[best]!;
    for (const [at, value] of unit.entries()) voice[at]! += value;
    return `S${best + 1}`;
  }
}

function unitOf(vector: Float32Array | Float64Array): Float64Array {
  const length = Math.hypot(...vector) || 1;
  return Float64Array.from(vector, (value) => value / length);
}

function dot(first: Float64Array, second: Float64Array): number {
  return first.reduce((sum, value, at) => sum + value * (second[at] ?? 0), 0);
}
