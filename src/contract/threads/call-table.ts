import type { z } from 'zod';

/** One call that may cross a thread boundary: both sides parse with these schemas. */
export type CallSpec = {
  input: z.ZodType;
  output: z.ZodType;
  /** Milliseconds after which the caller gives up with `deadline_exceeded`. */
  deadline_ms: number;
  /** Of a pool job: milliseconds for one step that it names; a longer one costs the job its thread. */
  step_ms?: number;
};
export type CallTable = { readonly [name: string]: CallSpec };

/** One-way notices: name → schema of the payload. */
export type EventTable = { readonly [name: string]: z.ZodType };
export type NoEvents = Record<never, never>;

export type CallInput<T extends CallTable, N extends keyof T> = z.input<T[N]['input']>;
export type CallOutput<T extends CallTable, N extends keyof T> = z.output<T[N]['output']>;
