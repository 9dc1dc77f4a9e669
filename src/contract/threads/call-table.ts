import type { z } from 'zod';

/** One call that may cross a thread boundary: both sides parse with these schemas. */
export type CallSpec = {
  input: z.ZodType;
  output: z.ZodType;
  /** Timeout in milliseconds, after which the caller gets `deadline_exceeded`. */
  deadline_ms: number;
  /**
   * For a pool job: its caller waits as long as it goes on. It fails with `deadline_exceeded` where its thread had
   * `deadline_ms` of time for one step: it ran or waited for something, and others did not have the processor.
   */
  patient?: boolean;
  /** For a pool job: the time in milliseconds that its thread may have for one named step; beyond it the thread is ended. */
  step_ms?: number;
};
export type CallTable = { readonly [name: string]: CallSpec };

/** One-way notices: name → schema of the payload. */
export type EventTable = { readonly [name: string]: z.ZodType };
export type NoEvents = Record<never, never>;

export type CallInput<T extends CallTable, N extends keyof T> = z.input<T[N]['input']>;
export type CallOutput<T extends CallTable, N extends keyof T> = z.output<T[N]['output']>;
