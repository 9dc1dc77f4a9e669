import { openSync } from 'node:fs';
import { z } from 'zod';
import type { CallTable } from '../contract/threads/call-table.ts';
import type { Handlers } from './calls.ts';

/**
 * Calls that break the thread that serves them, so that tests meet real deaths. A thread serves them only
 * when its `workerData` says `fault_injection: true`, which the daemon never does.
 */
export const faultCalls = {
  /** `stuck` blocks in the kernel, opening the FIFO at `path`; `hang` is a call that is never answered. */
  __fault: {
    input: z.object({
      kind: z.enum(['throw', 'loop', 'out-of-memory', 'exit', 'stuck', 'hang', 'throw-later']),
      path: z.string().optional(),
    }),
    output: z.object({}),
    deadline_ms: 60_000,
  },
} satisfies CallTable;

export type FaultKind = z.infer<(typeof faultCalls)['__fault']['input']>['kind'];

export const faultHandlers: Handlers<typeof faultCalls> = {
  async __fault({ kind, path }) {
    if (kind === 'throw-later') setTimeout(die, 20);
    if (kind === 'throw') setImmediate(die);
    if (kind === 'exit') setImmediate(() => process.exit(7));
    if (kind === 'loop') for (;;);
    if (kind === 'out-of-memory') fillMemory();
    if (kind === 'stuck') openSync(path ?? '', 'r');
    return kind === 'throw-later' ? {} : await new Promise<never>(() => undefined);
  },
};

function die(): void {
  throw new Error('provoked fault: thrown outside of any call');
}

function fillMemory(): void {
  const kept: unknown[] = [];
  for (;;) kept.push(new Array(1_000).fill(kept.length));
}
