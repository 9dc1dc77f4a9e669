import type { z } from 'zod';
import type { audioCalls } from '../contract/threads/audio.ts';
import type { CallInput, CallOutput, CallTable, EventTable } from '../contract/threads/call-table.ts';
import type { fleetCalls } from '../contract/threads/fleet.ts';
import type { ledgersCalls, ledgersEvents } from '../contract/threads/ledgers.ts';
import type { pollerCalls, pollerEvents } from '../contract/threads/poller.ts';

/**
 * Typed calls to one component. They reject with a `CodedError`: its own, or `component_unavailable`,
 * `deadline_exceeded` or `queue_full`.
 */
export type Caller<C extends CallTable> = {
  call<N extends keyof C & string>(
    name: N,
    input: CallInput<C, N>,
    options?: { deadline_ms?: number },
  ): Promise<CallOutput<C, N>>;
  /** As `call`, with the bytes that came beside the value. */
  exchange<N extends keyof C & string>(
    name: N,
    input: CallInput<C, N>,
  ): Promise<{ value: CallOutput<C, N>; bulk: Uint8Array | null }>;
};

/** Notices from one component, across its restarts. */
export type Notices<E extends EventTable> = {
  onEvent<N extends keyof E & string>(event: N, hear: (payload: z.output<E[N]>) => void): unknown;
};

/** Everything a handler may ask; it is given these and no room. */
export type Callers = {
  poller: Caller<typeof pollerCalls> & Notices<typeof pollerEvents>;
  ledgers: Caller<typeof ledgersCalls> & Notices<typeof ledgersEvents>;
  fleet: Caller<typeof fleetCalls>;
  audio: Caller<typeof audioCalls>;
};
