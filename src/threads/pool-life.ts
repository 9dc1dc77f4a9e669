import { type Clock, within } from '../base/clock.ts';
import { createDeferred, type Deferred } from '../base/deferred.ts';
import { CodedError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { requestScope, runForRequest } from '../base/request-scope.ts';
import { bulkBuffer } from './bulk.ts';
import { diedInStep, lateAnswer, stuckStep, takenBack, tooManyCalls, unavailable } from './calls.ts';
import type { Life } from './child.ts';
import { decodeFrame, encodeFrame } from './frame.ts';
import { JobStep } from './job-step.ts';
import type { JobPacket } from './pool-entry.ts';
import { PoolThreads } from './pool-threads.ts';
import { decideRestart, type RestartPolicy } from './restart-policy.ts';
import { START_LIMIT_MS } from './thread-component.ts';
import { isOutOfMemory } from './thread-life.ts';
import { readThreadWork } from './thread-work.ts';
import { TimeHad } from './time-had.ts';

/** Limit of ended threads that are stuck in the kernel; beyond it the pool refuses jobs until some have exited. */
const MAX_STUCK_THREADS = 16;
const END_GRACE_MS = 1_000;
/** How often the thread of a job is looked at, in milliseconds. */
const LOOK_MS = 1_000;

export type PoolLifeOptions = {
  url: URL;
  max_threads: number;
  max_queue: number;
  memory_mb: number;
  fault_injection: boolean;
  thread_deaths: RestartPolicy;
  clock: Clock;
  logger: Logger;
};

export type RunOptions = {
  /** How long the caller waits, and the time (`time-had.ts`) that a thread may have for it. */
  deadline_ms: number;
  /** The caller waits as long as the job goes on; its thread may have `deadline_ms` for each step. */
  patient?: boolean | undefined;
  /** The time that a thread may have for a named step. */
  step_ms?: number | undefined;
  signal?: AbortSignal | undefined;
};
export type JobResult = { value: unknown; bulk: Uint8Array | null };

type Job = {
  name: string;
  request_id: string | undefined;
  packet: JobPacket;
  answer: Deferred<JobResult>;
  abort: AbortController;
  step: JobStep;
  limits: { deadline_ms: number; step_ms: number | undefined };
  cancelDeadline: () => void;
};

/** One life of the pool: its threads, the jobs on them and the jobs that wait. */
export class PoolLife implements Life {
  readonly #options: PoolLifeOptions;
  readonly #heard: () => void;
  readonly #threads: PoolThreads;
  readonly #ready = createDeferred<void>();
  readonly #ended = createDeferred<Error>();
  readonly #waiting = new Set<Job>();
  readonly #running = new Set<Job>();
  #idle = createDeferred<void>();
  #over: Error | null = null;
  #isReady = false;
  #deaths = { in_a_row: 0, last_at: Number.NEGATIVE_INFINITY };
  #lastId = 0;

  constructor(options: PoolLifeOptions, heard: () => void) {
    this.#options = options;
    this.#heard = heard;
    this.#threads = new PoolThreads(options, (error) => this.#threadDied(error));
  }

  begin(): void {
    this.run('ping', {}, null, { deadline_ms: START_LIMIT_MS, patient: true }).then(
      () => {
        this.#isReady = true;
        this.#ready.resolve();
      },
      (error: Error) => this.kill(error),
    );
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Queued and running jobs. */
  get waiting(): number {
    return this.#waiting.size + this.#running.size;
  }

  get ended(): Promise<Error> {
    return this.#ended.promise;
  }

  /**
   * Runs a job; rejects with a `CodedError`. The answer is waited for within `deadline_ms`, the wait for a thread included. A
   * job that runs then goes on, and its thread is ended only when it had its time. The error of a named step names it, as it
   * does when the thread dies.
   */
  async run(
    name: string,
    input: unknown,
    bulk: Uint8Array | null,
    { deadline_ms, patient = false, step_ms, signal }: RunOptions,
  ): Promise<JobResult> {
    if (signal?.aborted === true) throw takenBack('pool', name);
    const { clock, max_threads, max_queue } = this.#options;
    if (this.#over !== null) throw unavailable('pool', this.#over);
    if (this.#threads.stuck >= MAX_STUCK_THREADS)
      throw unavailable('pool', new Error(`${this.#threads.stuck} of its threads are stuck in the kernel`));
    if (this.#waiting.size >= max_queue && this.#running.size >= max_threads)
      throw tooManyCalls('pool', max_queue);
    this.#lastId += 1;
    const request_id = requestScope();
    const frame = encodeFrame({ kind: 'call', id: this.#lastId, name, input, request_id });
    const step = new JobStep();
    const job: Job = {
      name,
      request_id,
      packet: {
        frame,
        bulk: bulk === null ? null : bulkBuffer(bulk),
        step: step.memory,
      },
      step,
      limits: { deadline_ms, step_ms },
      answer: createDeferred(),
      abort: new AbortController(),
      cancelDeadline: patient
        ? () => undefined
        : clock.after(deadline_ms, () => {
            job.answer.reject(lateAnswer('pool', name, deadline_ms));
            this.#waiting.delete(job);
          }),
    };
    const takeBack = () => this.#drop(job, takenBack('pool', name));
    signal?.addEventListener('abort', takeBack, { once: true });
    this.#waiting.add(job);
    this.#dispatch();
    try {
      return await job.answer.promise;
    } finally {
      signal?.removeEventListener('abort', takeBack);
    }
  }

  /** Each thread is watched while it has a job. */
  ask(): void {
    this.#heard();
  }

  work(): null {
    return null;
  }

  async stop(limit_ms: number): Promise<void> {
    const { clock } = this.#options;
    if (this.#running.size > 0) await within(clock, limit_ms, this.#idle.promise);
    this.#end(new Error('The pool was stopped'));
    await within(clock, END_GRACE_MS, this.#threads.destroy());
  }

  kill(reason: Error): void {
    this.#end(reason);
    void this.#threads.destroy();
  }

  /** A running job is ended together with its thread. */
  #drop(job: Job, reason: Error): void {
    job.answer.reject(reason);
    job.cancelDeadline();
    this.#waiting.delete(job);
    job.abort.abort();
  }

  #end(reason: Error): void {
    if (this.#over !== null) return;
    this.#over = reason;
    this.#ended.resolve(reason);
    for (const job of [...this.#waiting, ...this.#running]) {
      job.cancelDeadline();
      job.answer.reject(unavailable('pool', reason));
    }
    this.#waiting.clear();
  }

  #dispatch(): void {
    for (const job of this.#waiting) {
      if (this.#running.size >= this.#options.max_threads) return;
      this.#waiting.delete(job);
      this.#running.add(job);
      // The job that made room may be one of another request.
      void runForRequest(job.request_id, () => this.#carry(job));
    }
  }

  async #carry(job: Job): Promise<void> {
    const stopWatch = this.#watch(job);
    try {
      const result = await this.#threads.run(job.packet, job.abort.signal);
      this.#settle(job, result);
    } catch (error) {
      if (!job.abort.signal.aborted && this.#over === null) {
        const token = job.step.token();
        job.answer.reject(token === null ? unavailable('pool', error) : diedInStep(job.name, token, error));
        this.#threadDied(error instanceof Error ? error : new Error(messageOf(error)));
      }
    }
    stopWatch();
    job.cancelDeadline();
    this.#running.delete(job);
    if (this.#running.size === 0) {
      this.#idle.resolve();
      this.#idle = createDeferred();
    }
    if (this.#over === null) this.#dispatch();
  }

  /** Ends the thread of a job that had its time and did not go on. */
  #watch(job: Job): () => void {
    const { clock } = this.#options;
    const { deadline_ms, step_ms = deadline_ms } = job.limits;
    const interval_ms = Math.min(LOOK_MS, Math.max(1, Math.min(deadline_ms, step_ms) / 4));
    const time_had = new TimeHad(interval_ms);
    let number = job.step.number;
    const look = () => {
      if (job.step.number !== number) time_had.reset();
      number = job.step.number;
      const token = job.step.token();
      const had = time_had.look(clock.monotonic(), readThreadWork(job.step.thread));
      if (token !== null && had >= step_ms) this.#drop(job, stuckStep(job.name, step_ms, token));
      else if (token === null && had >= deadline_ms)
        this.#drop(job, lateAnswer('pool', job.name, deadline_ms));
    };
    look();
    return clock.every(interval_ms, look);
  }

  #settle(job: Job, result: JobPacket): void {
    const frame = decodeFrame(result.frame);
    if (frame.kind === 'reply')
      job.answer.resolve({
        value: frame.value,
        bulk: result.bulk === null ? null : new Uint8Array(result.bulk),
      });
    else if (frame.kind === 'error')
      job.answer.reject(new CodedError(frame.code, frame.message, { details: frame.details }));
    else
      job.answer.reject(
        new CodedError('internal', `The pool answered ${job.name} with a frame of kind ${frame.kind}`),
      );
  }

  /** Threads that die too often end this life of the pool; the supervisor then decides about a restart. */
  #threadDied(error: Error): void {
    const { clock, logger, memory_mb, thread_deaths } = this.#options;
    if (this.#over !== null) return;
    const why = isOutOfMemory(error)
      ? `out of memory (limit ${memory_mb} MB); raise SVC_WORKER_MEMORY_MB`
      : messageOf(error);
    const at = clock.monotonic();
    const { in_a_row: before, last_at } = this.#deaths;
    const decision = decideRestart(thread_deaths, { before, ran_ms: at - last_at });
    if (!this.#isReady || decision.action === 'give_up') {
      this.kill(new Error(`The pool's threads died too often, most recently: ${why}`, { cause: error }));
      return;
    }
    this.#deaths = { in_a_row: decision.nth, last_at: at };
    logger.warn({ err: error, nth: decision.nth }, 'a pool thread died; starting another one');
  }
}
