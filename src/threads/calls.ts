import type { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import type { LentBytes } from '../base/lent-bytes.ts';
import type { CallInput, CallOutput, CallTable } from '../contract/threads/call-table.ts';
import type { WithBulk, WithParts } from './bulk.ts';

type Answer<T> = T | WithBulk<T> | WithParts<T>;

/** The handlers of a call table: parsed input and bulk bytes in, output (or `withBulk`, `WithParts`) out. */
export type Handlers<C extends CallTable> = {
  [N in keyof C]: (
    input: z.output<C[N]['input']>,
    bulk: Uint8Array | null,
  ) => Answer<z.input<C[N]['output']>> | Promise<Answer<z.input<C[N]['output']>>>;
};

export type CallOptions = {
  /** In milliseconds; default: the deadline of the call table. */
  deadline_ms?: number;
  /** Rejects at once while the component starts for the first time; a call of a component that starts before it must. */
  at_once?: boolean;
};

/**
 * Typed calls to another thread. They reject with a `CodedError`: the other side's own, or `component_unavailable` (it
 * is down, or died before it answered), `deadline_exceeded`, `queue_full`, `internal` (its answer is malformed).
 */
export type Caller<C extends CallTable> = {
  call<N extends keyof C & string>(
    name: N,
    input: CallInput<C, N>,
    options?: CallOptions,
  ): Promise<CallOutput<C, N>>;
  /** As `call`, with bulk bytes both ways, and parts in answers. Bytes that fill their buffer are transferred. */
  exchange<N extends keyof C & string>(
    name: N,
    input: CallInput<C, N>,
    bulk?: Uint8Array | null,
    options?: CallOptions,
  ): Promise<{ value: CallOutput<C, N>; bulk: Uint8Array | null; parts: LentBytes[] }>;
};

/** The error of every call to a component that is down or went down before it answered. */
export function unavailable(component: string, cause?: unknown): CodedError {
  return new CodedError(
    'component_unavailable',
    `The ${component} component is not running at the moment; try again shortly, or see: svc doctor`,
    { details: { component }, cause },
  );
}

/** The error of a call that got no answer in time. */
export function lateAnswer(component: string, name: string, deadline_ms: number): CodedError {
  return new CodedError(
    'deadline_exceeded',
    `The ${component} component did not answer ${name} within ${deadline_ms} ms; try again`,
    { details: { component, call: name, deadline_ms } },
  );
}

/** The error of a pool job whose thread was ended because a step took too long; `details.step` is the step's token. */
export function stuckStep(name: string, step_ms: number, step: string): CodedError {
  return new CodedError(
    'deadline_exceeded',
    `A step of the pool job ${name} took longer than ${step_ms} ms`,
    {
      details: { component: 'pool', call: name, step },
    },
  );
}

/** The error of a pool job whose thread died during a step. */
export function diedInStep(name: string, step: string, cause: unknown): CodedError {
  return new CodedError('component_unavailable', `The thread of the pool job ${name} died; try again`, {
    details: { component: 'pool', call: name, step },
    cause,
  });
}

/** The error of a call that exceeds the limit of pending calls. */
export function tooManyCalls(component: string, bound: number): CodedError {
  return new CodedError(
    'queue_full',
    `${bound} calls to the ${component} component are already waiting; try again shortly`,
    { details: { component, bound } },
  );
}

/** The error of a call that its caller cancelled. */
export function takenBack(component: string, name: string): CodedError {
  return new CodedError('cancelled', `${name} of the ${component} component was cancelled`, {
    details: { component, call: name },
  });
}
