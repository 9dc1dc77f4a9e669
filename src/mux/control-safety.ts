import type { MuxSession } from './mux.ts';
import { ANCHOR_SESSION } from './session-name.ts';

/** `auto`: a control client is attached only where that cannot crash the tmux server. */
export type ControlPolicy = 'auto' | 'always' | 'never';

/**
 * Whether a control client may attach now. A tmux server before 3.7 crashes, with all its sessions, if sessions change
 * while a control client is still connecting. So we attach to such a server only while it has no session but our
 * anchor. A connection that exists is safe.
 */
export function mayAttach(facts: {
  policy: ControlPolicy;
  version: string | null;
  sessions: readonly Pick<MuxSession, 'name'>[];
}): boolean {
  if (facts.policy !== 'auto') return facts.policy === 'always';
  if (attachesSafely(facts.version)) return true;
  return facts.sessions.every((session) => session.name === ANCHOR_SESSION);
}

function attachesSafely(version: string | null): boolean {
  const [, major, minor] = /^(?:next-)?(\d+)\.(\d+)/.exec(version ?? '') ?? [];
  if (major === undefined || minor === undefined || version?.startsWith('next-')) return false;
  return Number(major) > 3 || (Number(major) === 3 && Number(minor) >= 7);
}
