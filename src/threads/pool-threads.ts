import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { runForRequest } from '../base/request-scope.ts';
import type { JobPacket } from './pool-entry.ts';
import { THREAD_FLAGS, YOUNG_MB } from './thread-flags.ts';

/** Idle time after which all threads but one end. */
const IDLE_MS = 30_000;

/**
 * The piscina threads of one life of the pool. The job queue is our own, because piscina does not limit abortable jobs.
 */
export class PoolThreads {
  readonly #piscina: Piscina<JobPacket, JobPacket>;
  readonly #alive = new Set<Worker>();

  /** `idleDeath` is called when a thread dies without a job. */
  constructor(
    options: { url: URL; max_threads: number; memory_mb: number; fault_injection: boolean },
    idleDeath: (error: Error) => void,
  ) {
    this.#piscina = new Piscina({
      filename: options.url.href,
      minThreads: 1,
      maxThreads: options.max_threads,
      idleTimeout: IDLE_MS,
      atomics: 'disabled',
      recordTiming: false,
      execArgv: THREAD_FLAGS,
      resourceLimits: { maxOldGenerationSizeMb: options.memory_mb, maxYoungGenerationSizeMb: YOUNG_MB },
      workerData: { fault_injection: options.fault_injection },
    });
    this.#piscina.on('error', idleDeath);
    this.#follow();
  }

  /** Runs one job on a free thread; an abort rejects at once and ends the thread. */
  async run(packet: JobPacket, signal: AbortSignal): Promise<JobPacket> {
    const transferList = packet.bulk === null ? [packet.frame.buffer] : [packet.frame.buffer, packet.bulk];
    // A thread that is started for it lives longer than its request; the packet says whose the job is.
    const result = runForRequest(undefined, () => this.#piscina.run(packet, { transferList, signal }));
    this.#follow();
    return await result;
  }

  /** Threads that were ended but have not exited, because they are stuck in the kernel. */
  get stuck(): number {
    return Math.max(0, this.#alive.size - this.#piscina.threads.length);
  }

  /** Ends every thread; resolves when all have exited, which may never happen if one is stuck. */
  async destroy(): Promise<void> {
    await this.#piscina.destroy();
  }

  #follow(): void {
    for (const thread of this.#piscina.threads) {
      if (this.#alive.has(thread)) continue;
      this.#alive.add(thread);
      thread.once('exit', () => this.#alive.delete(thread));
    }
  }
}
