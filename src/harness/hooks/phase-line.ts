import { asTable } from '../table.ts';

/** One line of a run's `phases.jsonl`: the start, the end and the questions of a turn, as the agent program reports them. */
export type PhaseLine = {
  /** Milliseconds. */
  at: number;
  session: string;
  phase: 'working' | 'waiting' | 'attention' | 'idle';
  said: string | null;
};

const PHASES: Readonly<Record<string, PhaseLine['phase']>> = {
  UserPromptSubmit: 'working',
  PostToolUse: 'working',
  PermissionRequest: 'waiting',
  PromptAnswered: 'working',
  Stop: 'idle',
  StopFailure: 'attention',
};
const MOST_SAID = 500;

/** The line that a run records for one hook call; null if the call is not about a phase or has no session. */
export function phaseLine(input: unknown, now: number): PhaseLine | null {
  const hook = asTable(input);
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
      ? askedFor(tool_name, asTable(hook.tool_input))
      : (last_assistant_message ?? message);
  return typeof said === 'string' && said !== '' ? cut(said) : null;
}

/** What a dialog asks, in the words of the agent where the tool has some: a question, or the command to run. */
function askedFor(tool: string, input: Record<string, unknown>): string {
  const questions = Array.isArray(input.questions) ? input.questions.map((one) => asTable(one).question) : [];
  const words = questions.filter((one) => typeof one === 'string' && one !== '');
  if (words.length > 0) return words.join(' ');
  const { command, file_path, url } = input;
  if (typeof command === 'string' && command !== '') return `asks to run: ${command}`;
  const object = file_path ?? url;
  return `asks to use ${tool}${typeof object === 'string' && object !== '' ? `: ${object}` : ''}`;
}

function cut(text: string): string {
  return text.length <= MOST_SAID ? text : `${text.slice(0, MOST_SAID - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
