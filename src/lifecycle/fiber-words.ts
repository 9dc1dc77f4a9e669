import type { FiberKind, FiberStatus } from '../contract/fiber.ts';
import type { LifecycleRequest } from '../contract/http/lifecycle.ts';

/** What a person reads in place of the codes of a document. */
export const KIND_WORDS: Readonly<Record<FiberKind, string>> = {
  standing: 'on a schedule',
  oneshot: 'once',
  pinned: 'by hand',
};

export const STATUS_WORDS: Readonly<Record<FiberStatus, string>> = {
  open: 'draft',
  active: 'ready to start',
  closed: 'closed',
};

/** What became of a closed fiber. */
export function verdictWords(tempered: boolean | undefined): string {
  if (tempered === undefined) return 'awaits review';
  return tempered ? 'accepted' : 'set aside';
}

/** What a verb does to a document, in front of its id. */
export function deedWords(action: LifecycleRequest['action']): string {
  if (action === 'pause') return 'park';
  if (action === 'close' || action === 'accept') return action;
  return action === 'uninstall' ? 'make a plain document of' : 'write';
}
