import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { CallTable, EventTable, NoEvents } from '../contract/threads/call-table.ts';
import { hostCalls } from '../contract/threads/host.ts';
import { type Caller, type CallOptions, type Handlers, unavailable } from './calls.ts';
import type { ChildSpec } from './child.ts';
import { FirstStart } from './first-start.ts';
import { createPeer, MAX_IN_FLIGHT, type Notify, type OnEvent, type Peer } from './peer.ts';
import { launchThread } from './thread-life.ts';

/** Default time limit from its beginning to ready, in milliseconds. */
export const START_LIMIT_MS = 30_000;

/**
 * A component in its own thread, for the supervisor and for callers. Callers keep the same handle across restarts.
 * Calls before the first start is over wait for it, within their deadlines. Later, while the component is down, every
 * call rejects with `component_unavailable`.
 */
export type ThreadComponent<
  C extends CallTable,
  E extends EventTable,
  H extends EventTable = NoEvents,
> = ChildSpec &
  Caller<C> & {
    /** Number of pending calls to it. */
    waiting(): number;
    /** Sends a notice to the thread of this life; a notice that it has not received when it ends is lost. */
    notify: Notify<H>;
    /** As in a peer, but across restarts. */
    onEvent: OnEvent<E>;
  };

export type ThreadComponentOptions<C extends CallTable, E extends EventTable, H extends EventTable> = {
  name: string;
  url: URL;
  calls: C;
  /** Its notices. */
  events: E;
  /** Notices to it. */
  hears?: H;
  /** Serves the thread's calls to the main thread. */
  host: Handlers<typeof hostCalls>;
  /** Plain data, cloned into the thread. */
  settings: unknown;
  memory_mb: number;
  /** Of these, for what is new; `YOUNG_MB` unless it is given. */
  young_mb?: number;
  clock: Clock;
  logger: Logger;
  essential?: boolean;
  start_limit_ms?: number;
  /** Lets callers break the thread on purpose (`fault-injection.ts`); for tests only. */
  fault_injection?: boolean;
};

export function createThreadComponent<
  C extends CallTable,
  E extends EventTable,
  H extends EventTable = NoEvents,
>(options: ThreadComponentOptions<C, E, H>): ThreadComponent<C, E, H> {
  const { name, clock, logger } = options;
  const hearers = new Map<string, Set<(payload: unknown, bulk: Uint8Array | null) => void>>();
  let serving: Peer<C, H, E> | null = null;

  const first = new FirstStart(name, clock, MAX_IN_FLIGHT);
  const current = (): Peer<C, H, E> => {
    if (serving === null) throw unavailable(name);
    return serving;
  };
  /** The options with which a call goes to the component now. */
  const arrive = async (call: keyof C & string, asked: CallOptions | undefined): Promise<CallOptions> => {
    const deadline_ms = asked?.deadline_ms ?? options.calls[call]!.deadline_ms;
    return { deadline_ms: await first.wait(call, deadline_ms) };
  };
  const mustWait = (asked: CallOptions | undefined) => serving === null && asked?.at_once !== true;
  const spread = (event: string, payload: unknown, bulk: Uint8Array | null): void => {
    for (const hear of hearers.get(event) ?? []) hear(payload, bulk);
  };

  return {
    name,
    essential: options.essential ?? false,
    start_limit_ms: options.start_limit_ms ?? START_LIMIT_MS,
    launch(heard) {
      let opened: Peer<C, H, E> | null = null;
      const life = launchThread({
        url: options.url,
        data: { name, settings: options.settings, fault_injection: options.fault_injection ?? false },
        memory_mb: options.memory_mb,
        young_mb: options.young_mb,
        clock,
        logger,
        heard,
        converse(channel) {
          const peer: Peer<C, H, E> = createPeer({
            channel,
            other: name,
            serves: hostCalls,
            handlers: options.host,
            calls: options.calls,
            emits: options.hears ?? ({} as H),
            hears: options.events,
            clock,
            logger,
          });
          for (const event of Object.keys(options.events))
            peer.onEvent(event, (payload, bulk) => spread(event, payload, bulk));
          channel.onClose(() => {
            if (serving === peer) serving = null;
          });
          opened = peer;
          return peer;
        },
      });
      void life.ready.then(() => {
        serving = opened;
        first.end();
      });
      void life.ended.then(() => {
        if (serving === opened) serving = null;
        first.end();
      });
      return life;
    },
    async call(call, input, asked) {
      const callOptions = mustWait(asked) ? await arrive(call, asked) : asked;
      return current().call(call, input, callOptions);
    },
    async exchange(call, input, bulk, asked) {
      const callOptions = mustWait(asked) ? await arrive(call, asked) : asked;
      return current().exchange(call, input, bulk, callOptions);
    },
    waiting: () => first.waiting + (serving?.waiting() ?? 0),
    notify: (event, payload, bulk) => serving?.notify(event, payload, bulk) ?? false,
    onEvent(event: string, hear: (payload: never, bulk: Uint8Array | null) => void) {
      const set = hearers.get(event) ?? new Set();
      hearers.set(event, set.add(hear as (payload: unknown) => void));
      return () => void set.delete(hear as (payload: unknown) => void);
    },
  };
}
