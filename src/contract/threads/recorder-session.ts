import { z } from 'zod';

/** A process and its start time, as `platform/process-facts.ts` tells it. */
export const processIdentitySchema = z.object({ pid: z.number().int(), start_time: z.string() });

/** Has the poller start the multiplexer session of a recorder. */
export const startRecorderSchema = z.object({
  name: z.string(),
  cwd: z.string(),
  command: z.array(z.string()),
});

/** `process` is the recorder; null where the kernel does not tell. */
export const recorderStartedSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('created'), process: processIdentitySchema.nullable() }),
  /** A session of that name is there. */
  z.object({ kind: z.literal('duplicate') }),
  z.object({ kind: z.literal('failed'), code: z.string(), detail: z.string() }),
]);
export type RecorderStarted = z.infer<typeof recorderStartedSchema>;

/** The pane of the recorder of a meeting, looked for by the name of its files: its process, if the kernel tells. */
export const recorderSessionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('there'), process: processIdentitySchema.nullable() }),
  z.object({ kind: z.literal('gone') }),
  z.object({ kind: z.literal('unknown'), detail: z.string() }),
]);
export type RecorderSession = z.infer<typeof recorderSessionSchema>;
