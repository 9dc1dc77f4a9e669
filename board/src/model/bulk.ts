import type { Gesture, GestureId, WriteAct } from './gestures.ts';

/** One thing for several fibers; `rest` asks first until which day. */
export type BulkId = GestureId | 'rest';

/** What can be done to several fibers at once, in this order. */
export const BULK: readonly { id: BulkId; name: string }[] = [
  { id: 'accept', name: 'Accept' },
  { id: 'set_aside', name: 'Set aside' },
  { id: 'launch', name: 'Launch' },
  { id: 'rest', name: 'Rest' },
  { id: 'review', name: 'Close for review' },
  { id: 'drafts', name: 'Move to Drafts' },
  { id: 'stop', name: 'Stop worker' },
];

type Offer =
  /** What is sent for it, and what that does. */
  { can: true; act: WriteAct; says: string } | { can: false; why: string };

/** What a fiber answers to one thing that is to be done to several: `offered` is all that can be done to it. */
export function offerOf(offered: readonly Gesture[], id: GestureId): Offer {
  const gesture = offered.find((one) => one.id === id);
  if (gesture === undefined) return { can: false, why: NOT_OFFERED[id.split(':')[0] ?? ''] ?? IS_THERE };
  if (gesture.refused !== null) return { can: false, why: gesture.refused };
  const { act, says } = gesture;
  if (act.kind === 'write') return { can: true, act, says };
  return act.kind === 'form' && act.as_it_is !== undefined
    ? { can: true, ...act.as_it_is }
    : { can: false, why: 'It is no task yet: launch it alone, and choose its folder and agent.' };
}

const IS_THERE = 'It is there already.';
const NOT_OFFERED: Readonly<Record<string, string>> = {
  stop: 'It has no worker.',
  launch: 'It is being launched.',
  rest: 'It rests until then already, or cannot rest.',
};
