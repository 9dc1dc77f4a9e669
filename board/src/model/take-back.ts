import type { Call, Change } from './gestures.ts';
import type { EditFiber, FiberRow, Undo } from './wire.ts';

/** What takes a write back: its request, what becomes of the row, and what is said once it is done. */
export type TakeBack = { call: Call; change: Change; done: string };

/** What takes a write back, as the daemon answered it: the fields that it changed are again those of the row before it. */
export function takeBack(before: FiberRow, asked: Call, { set, unset, digest }: Undo): TakeBack {
  const { fiber_id, origin } = asked.body as EditFiber;
  const whose = { fiber_id, ...(origin === undefined ? {} : { origin }) };
  // A hold that the write lifted is not put back, so that the fiber is not armed again either.
  const parked = before.status === 'active' && set.status === 'open';
  return {
    call: { path: '/fiber-edit', body: { ...whose, set, unset, expected_digest: digest, restores: true } },
    change: {
      status: parked ? 'open' : before.status,
      tempered: before.tempered ?? null,
      due: before.due ?? null,
      horizon: before.horizon ?? null,
      closed_at: before.closed_at ?? null,
    },
    done: parked ? 'Taken back to Drafts.' : 'Taken back.',
  };
}
