import { poolJobs } from '../src/contract/threads/pool.ts';
import type { Handlers } from '../src/threads/calls.ts';
import { createPoolEntry } from '../src/threads/pool-entry.ts';

const served = { ping: poolJobs.ping };

const handlers = {
  ping: () => ({}),
} satisfies Handlers<typeof served>;

/** Runs one job of the pool. */
export default createPoolEntry(served, handlers);
