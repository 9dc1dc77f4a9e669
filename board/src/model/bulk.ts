import type { Gesture, GestureId, WriteAct } from './gestures.ts';

/** What can be done to several fibers at once, in this order. */
export const BULK: readonly { id: GestureId; name: string }[] = [
  { id: 'accept', name: 'Accept' },
  { id: 'set_aside', name: 'Set aside' },
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
  if (gesture === undefined) return { can: false, why: 'It is there already, or has nothing to stop.' };
  if (gesture.refused !== null) return { can: false, why: gesture.refused };
  const { act, says } = gesture;
  return act.kind === 'write' ? { can: true, act, says } : { can: false, why: 'It asks for more first.' };
}
