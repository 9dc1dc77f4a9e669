import { MessageChannel, Worker } from 'node:worker_threads';
import { type Clock, within } from '../base/clock.ts';
import { createDeferred } from '../base/deferred.ts';
import { CodedError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { type Channel, portChannel } from './channel.ts';
import type { Life } from './child.ts';
import type { ControlKind } from './frame.ts';
import { THREAD_FLAGS, YOUNG_MB } from './thread-flags.ts';
import { readThreadWork } from './thread-work.ts';

/** How long to wait for a thread that was told to end before it is abandoned. */
const END_GRACE_MS = 1_000;

/** The `workerData` of the thread's entry. */
export type ThreadData = {
  name: string;
  settings: unknown;
  fault_injection: boolean;
  /** Where the thread writes its number, as the kernel has it. */
  thread: Int32Array;
};

/** The part of a peer that a life needs. */
type Conversation = {
  control(kind: ControlKind): void;
  onControl(hear: (kind: ControlKind) => void): void;
  close(reason?: Error): void;
};

export type ThreadLifeOptions = {
  url: URL;
  data: Omit<ThreadData, 'thread'>;
  memory_mb: number;
  young_mb?: number | undefined;
  clock: Clock;
  logger: Logger;
  heard(): void;
  /** Creates the peer over the new thread's channel. */
  converse(channel: Channel): Conversation;
};

/** Starts a worker thread and tracks it to its end. An error inside it never becomes an error of this thread. */
export function launchThread(options: ThreadLifeOptions): Life {
  const { clock, data } = options;
  const ready = createDeferred<void>();
  const stopped = createDeferred<void>();
  const ended = createDeferred<Error>();
  let is_stopping = false;
  const { port1, port2 } = new MessageChannel();
  const channel = portChannel(port1, options.logger);
  const peer = options.converse(channel);
  const end = (reason: Error): void => {
    ended.resolve(reason);
    peer.close(reason);
  };
  const thread = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const worker = startWorker(options, { port: port2, thread }, end);
  const kill = (reason: Error): void => {
    end(reason);
    void worker?.terminate();
  };

  peer.onControl((kind) => {
    if (kind === 'ready') ready.resolve();
    else if (kind === 'pong') options.heard();
    else if (kind === 'stopped') stopped.resolve();
    else
      kill(new CodedError('internal', `The ${data.name} thread sent ${kind}, which only the supervisor may`));
  });
  channel.onClose((reason) => {
    if (reason !== null) kill(reason);
    // The port of a dying thread closes before its `error` event; without that event the thread has exited.
    else clock.after(END_GRACE_MS, () => kill(new Error(`The ${data.name} thread closed its channel`)));
  });
  worker?.on('error', (error: unknown) => end(deathOf(error, options)));
  const wasStopped = () => new Error(`The ${data.name} component was stopped`);
  worker?.on('exit', (code) =>
    end(
      is_stopping && code === 0
        ? wasStopped()
        : new Error(`The ${data.name} thread exited with status ${code}`),
    ),
  );

  return {
    ready: ready.promise,
    ended: ended.promise,
    begin: () => peer.control('begin'),
    ask: () => peer.control('ping'),
    work: () => readThreadWork(thread[0]!),
    kill,
    async stop(limit_ms) {
      is_stopping = true;
      peer.control('stop');
      await within(clock, limit_ms, Promise.race([stopped.promise, ended.promise]));
      end(wasStopped());
      if (worker !== null) await within(clock, END_GRACE_MS, worker.terminate());
    },
  };
}

function startWorker(
  options: ThreadLifeOptions,
  own: { port: MessageChannel['port2']; thread: Int32Array },
  end: (reason: Error) => void,
): Worker | null {
  try {
    return new Worker(options.url, {
      name: options.data.name,
      workerData: { ...options.data, ...own },
      transferList: [own.port],
      execArgv: THREAD_FLAGS,
      resourceLimits: {
        maxOldGenerationSizeMb: options.memory_mb,
        maxYoungGenerationSizeMb: options.young_mb ?? YOUNG_MB,
      },
    });
  } catch (error) {
    end(error instanceof Error ? error : new Error(messageOf(error)));
    return null;
  }
}

function deathOf(error: unknown, options: ThreadLifeOptions): Error {
  if (isOutOfMemory(error))
    return new CodedError(
      'component_unavailable',
      `The ${options.data.name} thread ran out of memory (limit ${options.memory_mb} MB); raise SVC_WORKER_MEMORY_MB`,
      { cause: error },
    );
  return error instanceof Error ? error : new Error(messageOf(error));
}

/** True if a thread ended because it reached its heap limit. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}
