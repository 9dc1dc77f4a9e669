import { CodedError } from '../base/errors.ts';
import type { CallInput, CallOutput, CallSpec, CallTable } from '../contract/threads/call-table.ts';
import type { hostCalls } from '../contract/threads/host.ts';
import { poolJobs } from '../contract/threads/pool.ts';
import { withBulk } from './bulk.ts';
import type { Caller, Handlers } from './calls.ts';

type JobOptions = {
  /** Transferred if it fills its buffer. */
  bulk?: Uint8Array | null;
  /** In milliseconds, including the wait in the queue; of a patient job, see `CallSpec`. Default: the job's deadline. */
  deadline_ms?: number;
};

/** A job as the thread that owns the pool sees it. */
export type OwnJobOptions = JobOptions & {
  /** Cancels the job: it rejects with `cancelled`; if it runs already, its thread is ended. */
  signal?: AbortSignal;
};

/** Runs jobs of the pool; rejects as a `Caller` does. */
export type PoolCaller<J extends CallTable = typeof poolJobs> = {
  run<N extends keyof J & string>(
    job: N,
    input: CallInput<J, N>,
    options?: JobOptions,
  ): Promise<{ value: CallOutput<J, N>; bulk: Uint8Array | null }>;
};

/** Extra time of the call to the main thread, so that the pool's deadline passes first. */
const HOST_SLACK_MS = 2_000;

/** How long a patient job is waited for, in milliseconds: its thread is watched meanwhile. */
export const PATIENCE_MS = 24 * 3_600_000;

/** The pool for a worker thread, called through the main thread. */
export function createPoolCaller(host: Caller<typeof hostCalls>): PoolCaller {
  return {
    async run(job, input, options = {}) {
      const deadline_ms = options.deadline_ms ?? poolJobs[job].deadline_ms;
      const { patient = false } = poolJobs[job] as CallSpec;
      const reply = await host.exchange('pool', { job, input, deadline_ms }, options.bulk, {
        deadline_ms: patient ? PATIENCE_MS : deadline_ms + HOST_SLACK_MS,
      });
      return { value: poolJobs[job].output.parse(reply.value) as never, bulk: reply.bulk };
    },
  };
}

/** Serves the calls of worker threads: from the pool that the main thread owns, and from the poller. */
export function hostHandlers(
  pool: PoolCaller,
  poller: Omit<Handlers<typeof hostCalls>, 'pool'>,
): Handlers<typeof hostCalls> {
  return {
    ...poller,
    async pool({ job, input, deadline_ms }, bulk) {
      if (!isJob(job)) throw new CodedError('invalid_request', `The pool has no job ${job}`);
      const done = await pool.run(job, input as never, { bulk, deadline_ms });
      return done.bulk === null ? done.value : withBulk(done.value as unknown, done.bulk);
    },
  };
}

function isJob(name: string): name is keyof typeof poolJobs {
  return Object.hasOwn(poolJobs, name);
}
