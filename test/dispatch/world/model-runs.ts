/** The seed of every run that names no other, so that a change is judged by the same sequences as the one before it. */
const SEED = 20_260_725;

/**
 * How long a model is driven: as many runs as `SVC_MODEL_RUNS` says, from the seed `SVC_MODEL_SEED`; `random` searches
 * where nobody has looked yet.
 */
export function modelRuns(numRuns: number): {
  numRuns: number;
  seed?: number;
  interruptAfterTimeLimit: number;
} {
  const { SVC_MODEL_RUNS, SVC_MODEL_SEED } = process.env;
  return {
    numRuns: Number(SVC_MODEL_RUNS ?? numRuns),
    ...(SVC_MODEL_SEED === 'random' ? {} : { seed: Number(SVC_MODEL_SEED ?? SEED) }),
    interruptAfterTimeLimit: 540_000,
  };
}
