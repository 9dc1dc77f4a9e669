import { post } from '../lib/api.ts';
import { askNow, followed } from '../lib/board.ts';
import type { Followed } from '../lib/follow-feed.ts';
import { toast } from '../lib/toasts.ts';
import { silenceOf } from '../model/contact.ts';
import type { FiberRow, Released } from '../model/wire.ts';

/** The fibers of the host that answers which nothing but the restart of its daemon keeps from starting. */
export function heldRows({ copy }: Followed): readonly FiberRow[] {
  return [...(copy?.rows.values() ?? [])].filter(
    ({ held, origin }) => held === 'boot_quarantine' && origin === copy?.host,
  );
}

/** Lets everything start that the restart of the daemon holds, and says what came of it. */
export async function releaseAll(): Promise<void> {
  const { contact, copy } = followed();
  const silence = silenceOf(contact, copy?.host ?? null);
  if (silence !== null) {
    toast(`${silence}. Nothing can be changed until it answers.`, { tone: 'fault' });
    return;
  }
  const answer = await post<Released>('/quarantine/release', {});
  askNow();
  if (!answer.ok) {
    toast(answer.message, { tone: 'fault' });
    return;
  }
  const { pending, held } = answer.value;
  const free = pending === 1 ? '1 fiber may launch now.' : `${pending} fibers may launch now.`;
  toast(held.length === 0 ? free : `${free} ${held.length} stay held for a reason of their own.`);
}
