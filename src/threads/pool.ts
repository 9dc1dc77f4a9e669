import { availableParallelism } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { CallInput, CallOutput, CallSpec, CallTable } from '../contract/threads/call-table.ts';
import { unavailable } from './calls.ts';
import type { ChildSpec } from './child.ts';
import { FirstStart } from './first-start.ts';
import { type OwnJobOptions, PATIENCE_MS } from './pool-caller.ts';
import { PoolLife } from './pool-life.ts';
import type { RestartPolicy } from './restart-policy.ts';
import { START_LIMIT_MS } from './thread-component.ts';

const MAX_THREADS = 2;
const MAX_QUEUE = 256;

export type PoolOptions<J extends CallTable> = {
  url: URL;
  /** The jobs that the entry at `url` serves; `ping` is the heartbeat. */
  jobs: J & { ping: CallSpec };
  memory_mb: number;
  clock: Clock;
  logger: Logger;
  /** How often threads may crash before the whole pool is restarted. */
  thread_deaths: Pick<RestartPolicy, 'intensity' | 'window_ms'>;
  max_threads?: number;
  /** Limit of queued jobs; beyond it a job is refused with `queue_full`. */
  max_queue?: number;
  essential?: boolean;
  /** Also serves the jobs of `fault-injection.ts`; for tests only. */
  fault_injection?: boolean;
};

/** The pool: a supervised component, and the handle that callers keep across restarts. */
export type PoolComponent<J extends CallTable> = ChildSpec & {
  run<N extends keyof J & string>(
    job: N,
    input: CallInput<J, N>,
    options?: OwnJobOptions,
  ): Promise<{ value: CallOutput<J, N>; bulk: Uint8Array | null }>;
  /** Number of queued and running jobs. */
  waiting(): number;
};

/**
 * The pool of stateless jobs. A job that comes before the first start is over waits for it, within its deadline. A job
 * that exceeds its deadline fails with `deadline_exceeded`; its thread is ended if it had so much time (`time-had.ts`). A job whose
 * thread dies fails with `component_unavailable`. In both cases a new thread replaces the old one and other jobs are not
 * affected.
 */
export function createPoolComponent<J extends CallTable>(options: PoolOptions<J>): PoolComponent<J> {
  let current: PoolLife | null = null;
  const max_queue = options.max_queue ?? MAX_QUEUE;
  const first = new FirstStart('pool', options.clock, max_queue);
  return {
    name: 'pool',
    essential: options.essential ?? false,
    start_limit_ms: START_LIMIT_MS,
    launch(heard) {
      const life = new PoolLife(
        {
          url: options.url,
          max_threads: options.max_threads ?? Math.min(MAX_THREADS, availableParallelism()),
          max_queue,
          memory_mb: options.memory_mb,
          fault_injection: options.fault_injection ?? false,
          thread_deaths: { ...options.thread_deaths, backoff: { first: 0, most: 0 } },
          clock: options.clock,
          logger: options.logger,
        },
        heard,
      );
      void life.ready.then(() => {
        current = life;
        first.end();
      });
      void life.ended.then(() => {
        if (current === life) current = null;
        first.end();
      });
      return life;
    },
    waiting: () => first.waiting + (current?.waiting ?? 0),
    async run(job, input, { bulk = null, deadline_ms, signal } = {}) {
      const spec: CallSpec = options.jobs[job]!;
      const limit_ms = deadline_ms ?? spec.deadline_ms;
      const left_ms =
        current !== null ? limit_ms : await first.wait(job, spec.patient === true ? PATIENCE_MS : limit_ms);
      if (current === null) throw unavailable('pool');
      const done = await current.run(job, input, bulk, {
        deadline_ms: spec.patient === true ? limit_ms : left_ms,
        patient: spec.patient,
        step_ms: spec.step_ms,
        signal,
      });
      const parsed = spec.output.safeParse(done.value);
      if (!parsed.success)
        throw new CodedError('internal', `The pool sent a malformed answer to ${job}`, {
          cause: parsed.error,
        });
      return { value: parsed.data as never, bulk: done.bulk };
    },
  };
}
