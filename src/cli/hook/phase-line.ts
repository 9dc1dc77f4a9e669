/** One line of a run's `phases.jsonl`: what the agent program tells of a turn's beginning, end and questions. */
export type PhaseLine = {
  at: number;
  session: string;
  phase: 'working' | 'waiting' | 'attention' | 'idle';
  said: string | null;
};

const PHASES: Readonly<Record<string, PhaseLine['phase']>> = {
  UserPromptSubmit: 'working',
  PostToolUse: 'working',
  PermissionRequest: 'waiting',
  Stop: 'idle',
  StopFailure: 'attention',
};
const MOST_SAID = 500;

/** What a run keeps of one hook call; null for a call that tells nothing of it, or names no session. */
export function phaseLine(input: unknown, now: number): PhaseLine | null {
  if (typeof input !== 'object' || input === null) return null;
  const hook = input as Record<string, unknown>;
  const phase = phaseTold(hook);
  if (phase === undefined || typeof hook.session_id !== 'string' || hook.session_id === '') return null;
  return { at: now, session: hook.session_id, phase, said: saidIn(hook) };
}

function phaseTold(hook: Record<string, unknown>): PhaseLine['phase'] | undefined {
  if (hook.hook_event_name === 'Notification')
    return hook.notification_type === 'permission_prompt' ? 'waiting' : undefined;
  return PHASES[String(hook.hook_event_name)];
}

function saidIn(hook: Record<string, unknown>): string | null {
  const { last_assistant_message, message, tool_name, hook_event_name } = hook;
  const said =
    hook_event_name === 'PermissionRequest' && typeof tool_name === 'string'
      ? `asks to use ${tool_name}`
      : (last_assistant_message ?? message);
  return typeof said === 'string' && said !== '' ? cut(said) : null;
}

function cut(text: string): string {
  return text.length <= MOST_SAID ? text : `${text.slice(0, MOST_SAID - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
