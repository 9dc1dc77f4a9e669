import { type MessagePort, workerData } from 'node:worker_threads';
import { type Clock, systemClock } from '../base/clock.ts';
import { createDeferred } from '../base/deferred.ts';
import { CodedError } from '../base/errors.ts';
import { createLogger, type Logger, standardOutput } from '../base/logger.ts';
import type { CallTable, EventTable, NoEvents } from '../contract/threads/call-table.ts';
import { hostCalls } from '../contract/threads/host.ts';
import type { Caller, Handlers } from './calls.ts';
import { portChannel } from './channel.ts';
import { createPeer, type Hear, type Notify } from './peer.ts';
import { createPoolCaller, type PoolCaller } from './pool-caller.ts';
import type { ThreadData } from './thread-life.ts';
import { ownThreadId } from './thread-work.ts';

/** What a component receives inside its thread. */
export type ComponentContext<S, E extends EventTable> = {
  settings: S;
  logger: Logger;
  clock: Clock;
  /** Calls to the main thread. */
  host: Caller<typeof hostCalls>;
  pool: PoolCaller;
  /** Sends a notice to the main thread; while it is too far behind, the last one of each name is queued. */
  notify: Notify<E>;
};

/** A component that has started. */
export type RunningComponent<C extends CallTable, H extends EventTable = NoEvents> = {
  handlers: Handlers<C>;
  /** Handles each notice from the main thread. */
  hearers?: { [N in keyof H]: Hear<H, N> };
  /** Finishes work that must not be interrupted; afterwards, or after the stop timeout, the thread ends. */
  stop(): Promise<void>;
};

export type ComponentProgram<S, C extends CallTable, E extends EventTable, H extends EventTable> = {
  name: string;
  calls: C;
  /** Its notices to the main thread. */
  events: E;
  /** Notices of the main thread to it. */
  hears?: H;
  start(context: ComponentContext<S, E>): Promise<RunningComponent<C, H>>;
};

/**
 * The body of a worker thread: starts the component when it may begin, sends `ready`, serves its calls, answers
 * heartbeats and stops on request. An error of `start` or `stop` ends the thread and is reported to the supervisor.
 */
export async function runComponent<
  S extends { readonly log_level: string },
  C extends CallTable,
  E extends EventTable,
  H extends EventTable = NoEvents,
>(program: ComponentProgram<S, C, E, H>): Promise<void> {
  const data = workerData as ThreadData & { settings: S; port: MessagePort };
  data.thread[0] = ownThreadId();
  const logger = createLogger({
    component: program.name,
    level: data.settings.log_level,
    // Its lines depend on no event loop of another thread.
    destination: standardOutput({ sync: true }),
  });
  const faults = data.fault_injection === true ? await import('./fault-injection.ts') : null;
  const serves: CallTable = { ...program.calls, ...faults?.faultCalls };
  const handlers: Record<string, unknown> = {};
  const channel = portChannel(data.port, logger);
  const peer = createPeer({
    channel,
    other: 'main',
    serves,
    handlers: handlers as Handlers<CallTable>,
    calls: hostCalls,
    emits: program.events,
    hears: program.hears ?? ({} as H),
    when_behind: 'keep_latest',
    clock: systemClock,
    logger,
  });
  /** False: it was stopped before it could begin. */
  const begins = createDeferred<boolean>();
  const context = {
    settings: data.settings,
    logger,
    clock: systemClock,
    host: peer,
    pool: createPoolCaller(peer),
    notify: peer.notify,
  };
  const started = begins.promise.then((may) => (may ? program.start(context) : null));
  peer.onControl((kind) => {
    if (kind === 'ping') peer.control('pong');
    else if (kind === 'begin') begins.resolve(true);
    else if (kind === 'stop') void stop();
    else throw new CodedError('internal', `The main thread sent ${kind}, which only a component may`);
  });
  const stop = async (): Promise<void> => {
    begins.resolve(false);
    const running = await started;
    await running?.stop();
    peer.control('stopped');
    peer.close();
  };
  const running = await started;
  if (running === null) return;
  Object.assign(handlers, running.handlers, faults?.faultHandlers);
  const hearers: [string, unknown][] = Object.entries(running.hearers ?? {});
  for (const [event, hear] of hearers) peer.onEvent(event as keyof H & string, hear as never);
  peer.control('ready');
}
