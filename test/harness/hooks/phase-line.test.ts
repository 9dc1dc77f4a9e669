import { expect, it } from 'vitest';
import { phaseLine } from '../../../src/harness/hooks/phase-line.ts';

const hook = (hook_event_name: string, more: object = {}) =>
  phaseLine({ session_id: 's', hook_event_name, ...more }, 7);

it.each<[string, ReturnType<typeof phaseLine>, object | null]>([
  ['a prompt', hook('UserPromptSubmit', { prompt: 'secret' }), { phase: 'working', said: null }],
  ['a tool that ended', hook('PostToolUse', { tool_name: 'Bash' }), { phase: 'working', said: null }],
  [
    'a dialog',
    hook('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'rm' } }),
    { phase: 'waiting', said: 'asks to run: rm' },
  ],
  [
    'a dialog about a file',
    hook('PermissionRequest', {
      tool_name: 'Write',
      tool_input: { file_path: '/srv/a.md', content: 'secret' },
    }),
    { phase: 'waiting', said: 'asks to use Write: /srv/a.md' },
  ],
  [
    'a dialog that tells no more than its tool',
    hook('PermissionRequest', { tool_name: 'Bash', tool_input: 'rm' }),
    { phase: 'waiting', said: 'asks to use Bash' },
  ],
  [
    'questions in their words',
    hook('PermissionRequest', {
      tool_name: 'AskUserQuestion',
      tool_input: { questions: [{ question: 'Which one?', options: [] }, null, { question: 'And when?' }] },
    }),
    { phase: 'waiting', said: 'Which one? And when?' },
  ],
  [
    'a notice of a dialog',
    hook('Notification', { notification_type: 'permission_prompt', message: 'Claude needs your permission' }),
    { phase: 'waiting', said: 'Claude needs your permission' },
  ],
  ['an answer to a question', hook('PromptAnswered'), { phase: 'working', said: null }],
  ['another notice', hook('Notification', { notification_type: 'auth_success', message: 'hi' }), null],
  ['the end of a turn', hook('Stop', { last_assistant_message: 'Done.' }), { phase: 'idle', said: 'Done.' }],
  [
    'a turn that failed',
    hook('StopFailure', { last_assistant_message: 'API Error: 400' }),
    { phase: 'attention', said: 'API Error: 400' },
  ],
  ['the end of an agent inside', hook('SubagentStop', { last_assistant_message: 'x' }), null],
  ['an event without a session', phaseLine({ hook_event_name: 'Stop' }, 7), null],
  ['no object', phaseLine('Stop', 7), null],
])('[P16] records %s', (_title, line, expected) => {
  expect(line).toEqual(expected === null ? null : { at: 7, session: 's', ...expected });
});

it('[P16] truncates long messages between characters', () => {
  const said = hook('Stop', { last_assistant_message: '𝒳'.repeat(600) })?.said ?? '';
  expect([said.length <= 500, said.endsWith('𝒳…')]).toEqual([true, true]);
});
