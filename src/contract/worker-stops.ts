/** Refusals for which a worker that runs waits for a person: a dialog at its start, and a usage limit. */
export const STOPS_A_WORKER: ReadonlySet<string> = new Set(['startup_unconfirmed', 'usage_limit']);
