/** The seed of every run that names no other, so that a change is judged by the same sequences as the one before it. */
const SEED = 20_260_725;

/** How long a model may be driven, in milliseconds; `SVC_MODEL_MS` gives a search longer. */
const MODEL_MS = Number(process.env.SVC_MODEL_MS ?? 540_000);

/** When vitest gives a model up: after it should have ended by itself. */
export const MODEL_TIMEOUT_MS = MODEL_MS + 60_000;

/**
 * How long a model is driven: as many runs as `SVC_MODEL_RUNS` says, from the seed `SVC_MODEL_SEED`; `random` searches
 * where nobody has looked yet.
 */
export function modelRuns(numRuns: number): {
  numRuns: number;
  seed?: number;
  interruptAfterTimeLimit: number;
  markInterruptAsFailure: boolean;
} {
  const { SVC_MODEL_RUNS, SVC_MODEL_SEED } = process.env;
  return {
    numRuns: Number(SVC_MODEL_RUNS ?? numRuns),
    ...(SVC_MODEL_SEED === 'random' ? {} : { seed: Number(SVC_MODEL_SEED ?? SEED) }),
    interruptAfterTimeLimit: MODEL_MS,
    // A search that was cut off has not held for as many runs as were asked for.
    markInterruptAsFailure: SVC_MODEL_RUNS !== undefined,
  };
}
