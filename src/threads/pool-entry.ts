import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { silentLogger } from '../base/logger.ts';
import { runForRequest } from '../base/request-scope.ts';
import type { CallTable } from '../contract/threads/call-table.ts';
import { bulkBuffer } from './bulk.ts';
import type { Handlers } from './calls.ts';
import { decodeFrame, encodeFrame, type Frame } from './frame.ts';
import { createHeapRelease } from './heap-release.ts';
import { JobStep } from './job-step.ts';
import { errorFrame, serveCall } from './serve-call.ts';
import { stepBack } from './thread-priority.ts';
import { ownThreadId } from './thread-work.ts';

/** The message that carries a job to a pool thread and its result back: a msgpack frame and bulk bytes. */
export type JobPacket = {
  frame: Uint8Array<ArrayBuffer>;
  bulk: ArrayBuffer | null;
  /** Memory of a `JobStep`; absent in a result. */
  step?: SharedArrayBuffer;
};

/** Records the current step of the job on this thread; null between named steps, where it tells that the job went on. */
export type NoteStep = (token: string | null) => void;

/**
 * The function that a pool thread runs for each job. An error of the job returns as an error frame, so that a rejection
 * always means that the thread died.
 */
export function createPoolEntry<J extends CallTable>(
  jobs: J,
  makeHandlers: (noteStep: NoteStep) => Handlers<J>,
): (packet: JobPacket) => Promise<unknown> {
  stepBack();
  const releaseHeapLater = createHeapRelease();
  const thread = ownThreadId();
  // A thread runs one job at a time.
  let step: JobStep | null = null;
  const handlers = makeHandlers((token) => step?.note(token));
  const served = withFaults(jobs, handlers as Handlers<CallTable>);
  return async (packet) => {
    releaseHeapLater();
    step = packet.step === undefined ? null : new JobStep(packet.step);
    if (step !== null) step.thread = thread;
    const frame = decodeFrame(packet.frame);
    if (frame.kind !== 'call') throw new TypeError(`A pool job arrived as a frame of kind ${frame.kind}`);
    const bulk = packet.bulk === null ? null : new Uint8Array(packet.bulk);
    const [table, serve] = await served;
    const answer = await runForRequest(frame.request_id, () =>
      serveCall(table, serve, frame, bulk, silentLogger),
    );
    return moved(encoded(answer.frame, frame.id), answer.bulk === null ? null : bulkBuffer(answer.bulk));
  };
}

async function withFaults(
  jobs: CallTable,
  handlers: Handlers<CallTable>,
): Promise<[CallTable, Handlers<CallTable>]> {
  if (workerData?.fault_injection !== true) return [jobs, handlers];
  const { faultCalls, faultHandlers } = await import('./fault-injection.ts');
  return [
    { ...jobs, ...faultCalls },
    { ...handlers, ...(faultHandlers as Handlers<CallTable>) },
  ];
}

function encoded(frame: Frame, id: number): Uint8Array<ArrayBuffer> {
  try {
    return encodeFrame(frame);
  } catch (error) {
    return encodeFrame(errorFrame(id, error));
  }
}

function moved(frame: Uint8Array<ArrayBuffer>, bulk: ArrayBuffer | null): unknown {
  return move({
    [transferableSymbol]: bulk === null ? [frame.buffer] : [frame.buffer, bulk],
    [valueSymbol]: { frame, bulk } satisfies JobPacket,
  } as never);
}
