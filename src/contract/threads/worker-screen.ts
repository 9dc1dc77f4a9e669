import { z } from 'zod';

/** Where the screen of a worker was when it was read; given back unread to ask what changed since. */
export const screenMarkSchema = z.object({
  /** The pane by tmux's id, and its process. */
  pane: z.object({ id: z.string(), pid: z.number().int() }),
  columns: z.number().int(),
  rows: z.number().int(),
  /** Lines above the visible screen. */
  history: z.number().int(),
  /** Whole seconds since the Unix epoch. */
  read_at_s: z.number().int(),
});
export type WorkerScreenMark = z.infer<typeof screenMarkSchema>;

/** `cheap`: it was asked without starting a process, so it may be asked more often. */
export const workerScreenSchema = z.discriminatedUnion('kind', [
  /** The first line has the index `first`, counted from the oldest line of the history. */
  z.object({ kind: z.literal('read'), mark: screenMarkSchema, first: z.number().int(), cheap: z.boolean() }),
  z.object({ kind: z.literal('same'), cheap: z.boolean() }),
  /** No worker of this host has a session of that name. */
  z.object({ kind: z.literal('no_worker') }),
  /** There is the worker, but no session of it: it starts, or ends. */
  z.object({ kind: z.literal('no_session') }),
  z.object({ kind: z.literal('unknown'), detail: z.string() }),
]);
export type WorkerScreen = z.infer<typeof workerScreenSchema>;
