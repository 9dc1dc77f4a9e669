import type { ContextTarget } from '../contract/threads/context-target.ts';
import { NOT_FOUND_YET } from './delivery-plan.ts';

/** What to do with a message that is to be context alone. */
export type ContextStep =
  | { kind: 'put'; session: ContextTarget & { kind: 'found' } }
  | { kind: 'hold'; detail: string }
  /** It can be fixed, so the id is not used up. */
  | { kind: 'refuse'; detail: string }
  | { kind: 'reject'; reason: 'session_unavailable' | 'session_not_found' | 'wake_required'; detail: string };

export type ContextFacts = {
  harness: string;
  /** Null while the poller does not answer. */
  target: ContextTarget | null;
  /** Why its mailbox has no room for the message; null if it has. */
  full: string | null;
};

/** Decides the next step for a message without a turn; it is never given in another way (MSG-2). */
export function nextContextStep({ harness, target, full }: ContextFacts): ContextStep {
  if (target === null) return { kind: 'hold', detail: NOT_FOUND_YET };
  switch (target.kind) {
    case 'none':
      return {
        kind: 'reject',
        reason: 'session_not_found',
        detail: 'no worker of this host has had this session; svc ps lists those that run',
      };
    case 'lost':
      return {
        kind: 'reject',
        reason: 'session_unavailable',
        detail: 'its session has ended, and its conversation cannot be resumed any more',
      };
    case 'unknown':
      return { kind: 'hold', detail: `its transcript cannot be looked for: ${target.detail}` };
    case 'found':
      break;
  }
  if (target.hooks === null)
    return {
      kind: 'reject',
      reason: 'wake_required',
      detail: 'an app conversation takes no context alone; leave wake out to start a turn with the message',
    };
  if (target.hooks !== 'current')
    return {
      kind: 'refuse',
      detail: `${HOOKS[target.hooks]}; run: ${target.setup ?? `svc setup ${harness}`}`,
    };
  return full === null ? { kind: 'put', session: target } : { kind: 'refuse', detail: full };
}

const HOOKS = {
  absent: 'context is added by hooks, which are not installed for this agent',
  outdated: 'context is added by hooks, and those of this agent were written by another version',
  elsewhere: 'context is added by hooks, and those of this agent run another installation of svc',
  off: 'context is added by hooks, and a setting of this agent switches them off',
  gone: 'context is added by hooks, and the program that those of this agent run does not exist',
};
