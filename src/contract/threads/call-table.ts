import type { z } from 'zod';

/** One call that may cross a thread boundary: both sides parse with these schemas. */
export type CallSpec = {
  input: z.ZodType;
  output: z.ZodType;
  /** Timeout in milliseconds, after which the caller gets `deadline_exceeded`. */
  deadline_ms: number;
  /** For a pool job: time limit of one named step in milliseconds; beyond it the thread is ended. */
  step_ms?: number;
};
export type CallTable = { readonly [name: string]: CallSpec };

/** One-way notices: name → schema of the payload. */
export type EventTable = { readonly [name: string]: z.ZodType };
export type NoEvents = Record<never, never>;

export type CallInput<T extends CallTable, N extends keyof T> = z.input<T[N]['input']>;
export type CallOutput<T extends CallTable, N extends keyof T> = z.output<T[N]['output']>;
