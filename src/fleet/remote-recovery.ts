import { backoffDelay } from '../base/backoff.ts';

/**
 * What a cascade does before it asks once more: opens new connections; then has the tunnel to the remote restarted, if it
 * is kept up here; then looks up again where the remote answers.
 */
const CASCADE = ['reconnect', 'restart_tunnel', 'look_up'] as const;
type CascadeStep = (typeof CASCADE)[number];

/**
 * How it goes with a remote. `failing`: it did not answer so many times in a row; `cascade`: that step is tried now;
 * `tripped`: the breaker is open, and it is asked only now and then, or after a reset.
 */
export type Recovery =
  | { phase: 'well' }
  | { phase: 'failing'; failures: number }
  | { phase: 'cascade'; step: CascadeStep }
  | { phase: 'tripped' };

export const WELL: Recovery = { phase: 'well' };

/** Failures in a row that begin the cascade. */
const CASCADE_AFTER = 3;
const RETRY = { first: 500, most: 2_000 };
const STEP_MS = 250;
const TRIPPED_MS = 8_000;

/** The breaker trips when the last step of the cascade has failed; a tripped one runs no further cascade by itself. */
export function afterFailure(recovery: Recovery): Recovery {
  switch (recovery.phase) {
    case 'well':
      return { phase: 'failing', failures: 1 };
    case 'failing': {
      const failures = recovery.failures + 1;
      return failures < CASCADE_AFTER
        ? { phase: 'failing', failures }
        : { phase: 'cascade', step: CASCADE[0] };
    }
    case 'cascade': {
      const step = CASCADE[CASCADE.indexOf(recovery.step) + 1];
      return step === undefined ? { phase: 'tripped' } : { phase: 'cascade', step };
    }
    case 'tripped':
      return recovery;
  }
}

/** Begins one cascade; null where the breaker is not tripped (BRK-1). */
export function afterReset(recovery: Recovery): Recovery | null {
  return recovery.phase === 'tripped' ? { phase: 'cascade', step: CASCADE[0] } : null;
}

/**
 * Milliseconds until the next question after a failure; `random` is from 0 to 1, so that remotes that failed together are
 * not asked together.
 */
export function waitAfterFailure(recovery: Recovery, random: number): number {
  return Math.round(baseWait(recovery) * (0.75 + random / 2));
}

function baseWait(recovery: Recovery): number {
  switch (recovery.phase) {
    case 'well':
      return 0;
    case 'failing':
      return backoffDelay(RETRY, recovery.failures);
    case 'cascade':
      return STEP_MS;
    case 'tripped':
      return TRIPPED_MS;
  }
}

/**
 * Whether the known state of the remote may be out of date. A single request without an answer proves nothing yet.
 */
export function isDoubtful(recovery: Recovery): boolean {
  return recovery.phase === 'failing' ? recovery.failures > 1 : recovery.phase !== 'well';
}
