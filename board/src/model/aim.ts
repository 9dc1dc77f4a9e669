import { keyOf } from './feed-copy.ts';
import type { FiberRow } from './wire.ts';

/** A fiber that a person means to do something to. */
export type Aim = {
  /** That of its row, by `keyOf`. */
  row_key: string;
  /** What it was when they saw it, by `standingOf`. */
  saw: string;
  /** Since when its card has a focus that it got by itself, as `Event.timeStamp`; absent where a person gave it. */
  since?: number;
};

/** What decides what a gesture on the fiber does; another one is another decision. */
export function standingOf({ uid, status, tempered, horizon, due, held, runtime }: FiberRow): string {
  const worker = runtime === undefined ? '' : 'worker';
  return [uid, status, tempered, horizon, due, held, worker].map((one) => String(one ?? '')).join(' ');
}

export function aimAt(row: FiberRow): Aim {
  return { row_key: keyOf(row), saw: standingOf(row) };
}
