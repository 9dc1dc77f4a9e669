import type { z } from 'zod';
import type { LentBytes } from '../base/lent-bytes.ts';
import type { audioCalls, audioEvents, audioHears } from '../contract/threads/audio.ts';
import type { CallInput, CallOutput, CallTable, EventTable } from '../contract/threads/call-table.ts';
import type { fleetCalls, fleetEvents } from '../contract/threads/fleet.ts';
import type { ledgersCalls, ledgersEvents } from '../contract/threads/ledgers.ts';
import type { messagesCalls } from '../contract/threads/messages.ts';
import type { pollerCalls, pollerEvents } from '../contract/threads/poller.ts';
import type { FileStamp, poolJobs } from '../contract/threads/pool.ts';

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
  /** As `call`, with bytes beside the value both ways, and parts of them in answers; those given are transferred if they fill their buffer. */
  exchange<N extends keyof C & string>(
    name: N,
    input: CallInput<C, N>,
    bulk?: Uint8Array | null,
  ): Promise<{ value: CallOutput<C, N>; bulk: Uint8Array | null; parts: LentBytes[] }>;
};

/** Notices from one component, across its restarts. */
export type Notices<E extends EventTable> = {
  onEvent<N extends keyof E & string>(
    event: N,
    hear: (payload: z.output<E[N]>, bulk: Uint8Array | null) => void,
  ): unknown;
};

/** Notices to one component; false where one was not sent, as while the component is down or too far behind. */
type Notifies<E extends EventTable> = {
  notify<N extends keyof E & string>(event: N, payload: z.input<E[N]>, bulk?: Uint8Array | null): boolean;
};

/** Jobs of the pool, with bulk bytes both ways; they reject as a `Caller` does. */
export type Pool = {
  run<N extends keyof typeof poolJobs & string>(
    job: N,
    input: CallInput<typeof poolJobs, N>,
    options?: {
      /** Given away when it fills its buffer. */
      bulk?: Uint8Array | null;
      /** Takes the job back with `cancelled`; one that runs already loses its thread. */
      signal?: AbortSignal;
    },
  ): Promise<{ value: CallOutput<typeof poolJobs, N>; bulk: Uint8Array | null }>;
};

/** Regular files of this host, read without waiting for a disk; rejects with `file_…` codes. */
export type Files = {
  stat(
    path: string,
  ): Promise<
    | { kind: 'missing' }
    | { kind: 'file'; stamp: FileStamp; mtime_ms: number }
    | { kind: 'directory' | 'other'; mtime_ms: number }
  >;
  stamp(path: string): Promise<{ stamp: FileStamp; mtime_ms: number }>;
  head(path: string, stamp: FileStamp, most: number): Promise<Uint8Array>;
  read(path: string, stamp: FileStamp, from: number, end: number): AsyncGenerator<Uint8Array>;
};

/** Everything a handler may ask; it is given these and no room. */
export type Callers = {
  poller: Caller<typeof pollerCalls> & Notices<typeof pollerEvents>;
  ledgers: Caller<typeof ledgersCalls> & Notices<typeof ledgersEvents>;
  fleet: Caller<typeof fleetCalls> & Notices<typeof fleetEvents>;
  audio: Caller<typeof audioCalls> & Notices<typeof audioEvents> & Notifies<typeof audioHears>;
  messages: Caller<typeof messagesCalls>;
  pool: Pool;
  files: Files;
};
