// The thread of the question `frame-path`: takes audio frames and says how long each was on its way.
import { z } from 'zod';
import type { CallTable, EventTable } from '../src/contract/threads/call-table.ts';
import { runComponent } from '../src/threads/worker-main.ts';

export const sinkHears = {
  /** An audio frame as bulk, and when it was sent, in microseconds of the process's own clock. */
  frame: z.object({ sent_us: z.number() }),
} satisfies EventTable;

export const sinkCalls = {
  /** Microseconds that each frame since the last question was on its way, and their bytes together. */
  taken: {
    input: z.object({}),
    output: z.object({ ways_us: z.array(z.number()), bytes: z.number() }),
    deadline_ms: 10_000,
  },
} satisfies CallTable;

export const nowUs = () => Number(process.hrtime.bigint()) / 1_000;

export async function runSink(): Promise<void> {
  let ways_us: number[] = [];
  let bytes = 0;
  await runComponent<{ log_level: string }, typeof sinkCalls, Record<never, never>, typeof sinkHears>({
    name: 'sink',
    calls: sinkCalls,
    events: {},
    hears: sinkHears,
    start: async () => ({
      hearers: {
        frame({ sent_us }, bulk) {
          ways_us.push(nowUs() - sent_us);
          bytes += bulk?.byteLength ?? 0;
        },
      },
      handlers: {
        taken() {
          const taken = { ways_us, bytes };
          ways_us = [];
          bytes = 0;
          return taken;
        },
      },
      stop: async () => undefined,
    }),
  });
}
