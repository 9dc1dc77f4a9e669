import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { JobPacket } from './pool-entry.ts';
import { THREAD_FLAGS, YOUNG_GENERATION } from './thread-flags.ts';

/** Idle time after which every thread but one ends. */
const IDLE_MS = 30_000;

/** The piscina threads of one life of the pool. The job queue is not piscina's: it does not bound abortable jobs. */
export class PoolThreads {
  readonly #piscina: Piscina<JobPacket, JobPacket>;
  readonly #alive = new Set<Worker>();

  /** `idleDeath` hears of a thread that died while it ran no job. */
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
      resourceLimits: { maxOldGenerationSizeMb: options.memory_mb, ...YOUNG_GENERATION },
      workerData: { fault_injection: options.fault_injection },
    });
    this.#piscina.on('error', idleDeath);
    this.#follow();
  }

  /** Runs one job on a free thread; an aborted one rejects at once and its thread is ended. */
  async run(packet: JobPacket, signal: AbortSignal): Promise<JobPacket> {
    const transferList = packet.bulk === null ? [packet.frame.buffer] : [packet.frame.buffer, packet.bulk];
    const result = this.#piscina.run(packet, { transferList, signal });
    this.#follow();
    return await result;
  }

  /** Threads that were ended but have not left: something in the kernel holds them. */
  get stuck(): number {
    return Math.max(0, this.#alive.size - this.#piscina.threads.length);
  }

  /** Ends every thread; resolves when they have left, which a stuck one may never do. */
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
