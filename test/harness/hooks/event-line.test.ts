import { describe, expect, it } from 'vitest';
import { pointerTo } from '../../../src/harness/adapter.ts';
import { eventLine } from '../../../src/harness/hooks/event-line.ts';
import { commitFolder } from '../../../src/harness/hooks/git-command.ts';

describe('the line of an event', () => {
  const around = { id: 'i', now: 5, harness: 'claude', mux_session: null, host: 'h' };
  it('records the files of a tool call, and no text of a command, an answer or a message', () => {
    const secret = 'do not keep';
    const tool = (tool_name: string, tool_input: object) =>
      eventLine(
        { hook_event_name: 'PreToolUse', session_id: 's', tool_name, tool_input, tool_response: secret },
        around,
      );
    expect(tool('SendUserFile', { files: ['out/a.png', 3], caption: secret })).toMatchObject({
      tool: 'SendUserFile',
      toolInput: { files: ['out/a.png'] },
    });
    expect(tool('Bash', { command: secret })).not.toHaveProperty('toolInput');
    for (const event of [
      tool('Bash', { command: secret }),
      tool('Write', { file_path: '/a', content: secret }),
      eventLine({ hook_event_name: 'UserPromptSubmit', prompt: secret }, around),
      eventLine({ hook_event_name: 'Notification', message: secret }, around),
      eventLine({ hook_event_name: 'Stop', last_assistant_message: secret }, around),
    ])
      expect(JSON.stringify(event)).not.toContain(secret);
  });

  it('marks the input of a tool as truncated above 8 KiB, and keeps its files', () => {
    const write = (length: number) =>
      eventLine(
        {
          hook_event_name: 'PreToolUse',
          tool_name: 'Write',
          tool_input: { file_path: '/a', content: 'é'.repeat(length) },
        },
        around,
      );
    expect(write(4_050)).not.toHaveProperty('truncated');
    expect(write(4_100)).toMatchObject({ truncated: true, toolInput: { file_path: '/a' } });
  });

  it('distinguishes messages of a harness or the service from messages that a person typed', () => {
    const prompt = (text: string, prompt_source?: string) =>
      eventLine({ hook_event_name: 'UserPromptSubmit', prompt: text, prompt_source }, around);
    for (const text of [
      'You are a fiber worker: activate …',
      pointerTo('/data/runs/01K/prompt.md'),
      '<file name="/data/runs/01K/prompt.md">\nYou are a fiber worker:',
      'Another Claude session sent a message:\nhello',
      'Stop hook feedback:\ngo on',
      '<task-notification>done</task-notification>',
      '\n<hook_prompt id="1">go on</hook_prompt>',
      '[message m-1 from svc://host-a/claude/s-1]\nhello',
      '[message m-1 from ada]\nhello',
      '[message m-1 (ends with 0a1b2c3d4e5f6071) from ada]\nhello',
    ])
      expect(prompt(text)).toMatchObject({ machine: true });
    expect(prompt('hello', 'extension')).toMatchObject({ machine: true });
    expect(prompt('hello', 'interactive')).not.toHaveProperty('machine');
    expect(prompt('tell me: You are a fiber worker: what is that?')).not.toHaveProperty('machine');
  });

  it.each([
    ['Bash', { command: 'git add . && git commit -m "x"' }, '/w'],
    ['Bash', { command: 'cd sub && git commit -m x' }, '/w/sub'],
    ['bash', { command: "git -C '/o t' cherry-pick abc" }, '/o t'],
    ['exec_command', { cmd: 'git merge --no-ff topic' }, '/w'],
    ['Bash', { command: 'git log' }, null],
    ['Bash', { command: 'git status; echo commit' }, null],
    ['Write', { command: 'git commit' }, null],
  ])('searches for a commit after a shell command that may have made one: %s %j', (tool, input, folder) => {
    expect(commitFolder(tool, input, '/w')).toBe(folder);
  });

  it('handles a command of megabytes in which every word may start a match', () => {
    expect(commitFolder('Bash', { command: 'git -C '.repeat(500_000) }, '/w')).toBeNull();
    expect(commitFolder('Bash', { command: `${'git '.repeat(500_000)}commit` }, '/w')).toBe('/w');
  });
});
