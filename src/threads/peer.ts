import type { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { createDeferred, type Deferred } from '../base/deferred.ts';
import { CodedError } from '../base/errors.ts';
import type { LentBytes } from '../base/lent-bytes.ts';
import type { Logger } from '../base/logger.ts';
import { requestAskedBy, requestPatience, requestScope, runForRequest } from '../base/request-scope.ts';
import type { CallSpec, CallTable, EventTable } from '../contract/threads/call-table.ts';
import { type Caller, type Handlers, lateAnswer, tooManyCalls, unavailable } from './calls.ts';
import type { Channel } from './channel.ts';
import type { ControlKind, Frame } from './frame.ts';
import { IncomingNotices, OutgoingNotices, type WhenBehind } from './notices.ts';
import { errorFrame, serveCall } from './serve-call.ts';

/** Limit of pending calls of one side. */
export const MAX_IN_FLIGHT = 1024;

/**
 * Sends a one-way notice. False if it was not sent, because the connection is closed or the other side is too far
 * behind; the bulk bytes then still belong to the caller. Otherwise bytes that fill their buffer are transferred.
 */
export type Notify<E extends EventTable> = <N extends keyof E & string>(
  event: N,
  payload: z.input<E[N]>,
  bulk?: Uint8Array | null,
) => boolean;

/** Listeners of notices by name; each gets the parsed notice and its bulk bytes. */
export type Hear<E extends EventTable, N extends keyof E> = (
  payload: z.output<E[N]>,
  bulk: Uint8Array | null,
) => void;

/** Calls `hear` with each notice; returns the function that unsubscribes. */
export type OnEvent<E extends EventTable> = <N extends keyof E & string>(
  event: N,
  hear: Hear<E, N>,
) => () => void;

/** One side of a typed connection to another thread: calls, events and control frames both ways. */
export type Peer<C extends CallTable, Emits extends EventTable, Hears extends EventTable> = Caller<C> & {
  notify: Notify<Emits>;
  onEvent: OnEvent<Hears>;
  /** Number of pending calls. */
  waiting(): number;
  control(kind: ControlKind): void;
  onControl(hear: (kind: ControlKind) => void): void;
  /** Fails every pending and later call with `component_unavailable`. */
  close(reason?: Error): void;
};

export type PeerOptions<
  S extends CallTable,
  C extends CallTable,
  Emits extends EventTable,
  Hears extends EventTable,
> = {
  channel: Channel;
  /** Name of the component at the other end, for messages. */
  other: string;
  serves: S;
  handlers: Handlers<S>;
  calls: C;
  emits: Emits;
  hears: Hears;
  /** What happens to its own notices while the other side is too far behind; default: refused. */
  when_behind?: WhenBehind;
  clock: Clock;
  logger: Logger;
  max_in_flight?: number;
};

type Answer = { value: unknown; bulk: Uint8Array | null; parts: LentBytes[] };
type Pending = {
  name: string;
  answer: Deferred<Answer>;
  cancelDeadline: () => void;
};

/** Serves call tables over a channel, from now on. */
export function createPeer<
  S extends CallTable,
  C extends CallTable,
  Emits extends EventTable,
  Hears extends EventTable,
>(options: PeerOptions<S, C, Emits, Hears>): Peer<C, Emits, Hears> {
  const { channel, other, logger } = options;
  const bound = options.max_in_flight ?? MAX_IN_FLIGHT;
  const pending = new Map<number, Pending>();
  const hearers = new Map<string, Set<(payload: unknown, bulk: Uint8Array | null) => void>>();
  const outgoing = new OutgoingNotices(
    ({ name, payload, bulk }) => channel.post({ kind: 'event', name, payload }, bulk),
    options.when_behind ?? 'refuse',
  );
  const incoming = new IncomingNotices((notices, bytes) => channel.post({ kind: 'heard', notices, bytes }));
  let hearControl: (kind: ControlKind) => void = () => undefined;
  let lastId = 0;
  let closed: { reason: Error | null } | null = null;

  const take = (id: number): Pending | undefined => {
    const entry = pending.get(id);
    if (entry === undefined) {
      if (id > lastId) logger.error({ id, other }, 'an answer arrived for a call that was never made');
      return undefined;
    }
    pending.delete(id);
    entry.cancelDeadline();
    return entry;
  };

  const serve = async (call: Frame & { kind: 'call' }, bulk: Uint8Array | null): Promise<void> => {
    const served = await runForRequest(
      call.request_id,
      () => serveCall(options.serves, options.handlers, call, bulk, logger),
      call.asked_by,
    );
    outgoing.flush();
    try {
      channel.post(served.frame, served.bulk, served.parts);
    } catch (error) {
      logger.error({ err: error, call: call.name }, 'an answer could not be sent to another thread');
      channel.post(errorFrame(call.id, error));
    }
  };

  const hearEvent = (name: string, payload: unknown, bulk: Uint8Array | null): void => {
    const schema = Object.hasOwn(options.hears, name) ? options.hears[name] : undefined;
    const parsed = schema?.safeParse(payload);
    if (!parsed?.success) {
      logger.error(
        { other, event: name, err: parsed?.error },
        'closing a channel: unknown or malformed event',
      );
      channel.close(new CodedError('internal', `The ${other} component sent a malformed event ${name}`));
      return;
    }
    const bytes = bulk?.byteLength ?? 0;
    for (const hear of hearers.get(name) ?? []) hear(parsed.data, bulk);
    incoming.heard(bytes);
  };

  channel.onClose((reason) => {
    closed = { reason };
    for (const entry of pending.values()) {
      entry.cancelDeadline();
      entry.answer.reject(unavailable(other, reason ?? undefined));
    }
    pending.clear();
  });
  channel.onMessage((frame, bulk, parts) => {
    switch (frame.kind) {
      case 'call':
        void serve(frame, bulk);
        break;
      case 'reply':
        take(frame.id)?.answer.resolve({ value: frame.value, bulk, parts });
        break;
      case 'error':
        take(frame.id)?.answer.reject(new CodedError(frame.code, frame.message, { details: frame.details }));
        break;
      case 'event':
        hearEvent(frame.name, frame.payload, bulk);
        break;
      case 'heard':
        outgoing.heard(frame.notices, frame.bytes);
        break;
      default:
        hearControl(frame.kind);
    }
  });

  const exchange = async (
    name: string,
    input: unknown,
    bulk: Uint8Array | null = null,
    deadline?: number,
  ): Promise<Answer> => {
    const spec: CallSpec = options.calls[name]!;
    const deadline_ms = deadline ?? spec.deadline_ms;
    if (closed !== null) throw unavailable(other, closed.reason ?? undefined);
    if (pending.size >= bound) throw tooManyCalls(other, bound);
    const id = ++lastId;
    const answer = createDeferred<Answer>();
    const scope = { request_id: requestScope(), asked_by: requestAskedBy() };
    channel.post({ kind: 'call', id, name, input, ...scope }, bulk);
    const patience = requestPatience();
    const cancelDeadline = options.clock.after(deadline_ms, () => {
      const error = lateAnswer(other, name, deadline_ms);
      if (patience !== undefined && patience.late !== null) {
        patience.late(error);
        return;
      }
      pending.delete(id);
      answer.reject(error);
    });
    pending.set(id, { name, answer, cancelDeadline });
    const reply = await answer.promise;
    const parsed = spec.output.safeParse(reply.value);
    if (!parsed.success)
      throw new CodedError('internal', `The ${other} component sent a malformed answer to ${name}`, {
        cause: parsed.error,
      });
    return { ...reply, value: parsed.data };
  };

  const peer = {
    async call(name: string, input: unknown, callOptions?: { deadline_ms?: number }) {
      return (await exchange(name, input, null, callOptions?.deadline_ms)).value;
    },
    exchange: (
      name: string,
      input: unknown,
      bulk?: Uint8Array | null,
      callOptions?: { deadline_ms?: number },
    ) => exchange(name, input, bulk ?? null, callOptions?.deadline_ms),
    notify: (name: string, payload: unknown, bulk: Uint8Array | null = null) =>
      closed === null && outgoing.send({ name, payload, bulk }),
    onEvent(event: string, hear: (payload: unknown, bulk: Uint8Array | null) => void) {
      const set = hearers.get(event) ?? new Set();
      hearers.set(event, set.add(hear));
      return () => void set.delete(hear);
    },
    waiting: () => pending.size,
    control: (kind: ControlKind) => channel.post({ kind }),
    onControl(hear: (kind: ControlKind) => void) {
      hearControl = hear;
    },
    close: (reason?: Error) => channel.close(reason),
  };
  return peer as Peer<C, Emits, Hears>;
}
