import { describe, expect, it } from 'vitest';
import type { HarnessName } from '../../src/contract/harness-name.ts';
import type { MessageStage } from '../../src/harness/harness.ts';
import { HARNESSES } from '../../src/harness/harnesses.ts';
import type { JsonRecord } from '../../src/harness/transcripts/said.ts';

const MARKER = '[message a1 ';
const TEXT = '[message a1 from work/loader]\ndo this';
const QUOTE = 'I was told “[message a1 from work/loader]”.';

type Case = [what: string, stage: MessageStage | null, records: JsonRecord[]];

const table = (name: HarnessName, cases: Case[]) =>
  it.each(cases)(`of ${name}: %s`, (_, stage, records) => {
    expect(HARNESSES[name].messages.stageOf(records, MARKER)).toBe(stage);
  });

/** Gives each record an id and the one before it as its parent. */
const chain = (id: string, parent: string, records: JsonRecord[]): JsonRecord[] =>
  records.map((record, index) => ({
    [id]: `r${index}`,
    [parent]: index === 0 ? null : `r${index - 1}`,
    ...record,
  }));

describe('the stage of a message', () => {
  const user = (content: unknown, more = {}) => ({
    type: 'user',
    message: { role: 'user', content },
    ...more,
  });
  const assistant = (more: JsonRecord = {}, model = 'm') => ({
    type: 'assistant',
    message: { id: 'msg_1', role: 'assistant', model, content: [{ type: 'text', text: 'done' }] },
    ...more,
  });
  const enqueue = (content: string) => ({ type: 'queue-operation', operation: 'enqueue', content });
  const dequeue = { type: 'queue-operation', operation: 'dequeue' };
  const command = (prompt: unknown) => ({
    type: 'attachment',
    attachment: { type: 'queued_command', prompt, commandMode: 'prompt' },
  });
  const tree = (...records: JsonRecord[]) => chain('uuid', 'parentUuid', records);

  table('claude', [
    ['no record', null, []],
    ['another message', null, tree(user('[message a10 from x]\nno'), assistant())],
    ['typed while idle', 'submitted', tree(user(TEXT))],
    ['answered', 'accepted', tree(user(TEXT), assistant())],
    ['in parts', 'accepted', tree(user([{ type: 'text', text: TEXT }]), assistant())],
    [
      'answered by a call of a tool',
      'accepted',
      tree(user(TEXT), { type: 'attachment', attachment: {} }, assistant()),
    ],
    ['queued behind a turn', 'queued', [enqueue(TEXT)]],
    ['queued, and the turn answers', 'queued', [enqueue(TEXT), ...tree(user('before'), assistant())]],
    ['taken from the queue, which names no text', 'queued', [enqueue(TEXT), dequeue]],
    ['taken into a turn of its own', 'submitted', [enqueue(TEXT), dequeue, ...tree(user(TEXT))]],
    ['taken in the middle of a turn', 'submitted', [enqueue(TEXT), ...tree(command(TEXT))]],
    [
      'taken in the middle of a turn, and answered',
      'accepted',
      [enqueue(TEXT), ...tree(command(TEXT), assistant())],
    ],
    [
      'the first of two that became one turn',
      'accepted',
      tree(user(TEXT), user('[message b2 from y]'), assistant()),
    ],
    ['joined to a text of the person', 'accepted', tree(user(`also this\n${TEXT}`), assistant())],
    [
      'taken back by the person, who then sent another',
      'submitted',
      [
        user(TEXT, { uuid: 'a', parentUuid: 'z' }),
        user('other', { uuid: 'b', parentUuid: 'z' }),
        assistant({ parentUuid: 'b' }),
      ],
    ],
    [
      'answered after the conversation was summed up',
      'accepted',
      [
        user(TEXT, { uuid: 'a', parentUuid: null }),
        { type: 'system', subtype: 'compact_boundary', uuid: 'b', parentUuid: null, logicalParentUuid: 'a' },
        assistant({ parentUuid: 'b' }),
      ],
    ],
    ['refused by the API', 'submitted', tree(user(TEXT), assistant({ isApiErrorMessage: true }))],
    ['answered by the program itself', 'submitted', tree(user(TEXT), assistant({}, '<synthetic>'))],
    ['answered only by a sub-agent', 'submitted', tree(user(TEXT), assistant({ isSidechain: true }))],
    [
      'given only to a sub-agent',
      null,
      tree(user(TEXT, { isSidechain: true }), assistant({ isSidechain: true })),
    ],
    [
      'quoted by the agent',
      null,
      tree(user('what?'), assistant(), { type: 'last-prompt', lastPrompt: TEXT }),
    ],
    ['typed into a draft of the person', 'accepted', tree(user(`fix th${TEXT}`), assistant())],
    ['in the result of a tool', null, tree(user([{ type: 'tool_result', content: TEXT }]), assistant())],
    [
      'in the output of a command',
      null,
      tree(user(`<bash-stdout>x\n${TEXT}</bash-stdout><bash-stderr></bash-stderr>`), assistant()),
    ],
    ['in a notification', null, [enqueue(`<task-notification>\n${TEXT}\n</task-notification>`)]],
    ['in a summary', null, tree(user(TEXT, { isCompactSummary: true }), assistant())],
    ['in a text of a hook', null, tree(user(TEXT, { isMeta: true }), assistant())],
    [
      'in a title',
      null,
      [
        { type: 'custom-title', customTitle: TEXT },
        { type: 'summary', summary: TEXT },
      ],
    ],
  ]);

  const item = (payload: JsonRecord) => ({ type: 'response_item', payload });
  const said = (role: string, text: string) =>
    item({
      type: 'message',
      role,
      content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }],
    });

  table('codex', [
    ['no record', null, [{ type: 'session_meta', payload: {} }]],
    ['admitted', 'submitted', [said('user', TEXT)]],
    ['answered', 'accepted', [said('user', TEXT), said('assistant', 'done')]],
    [
      'answered by a call',
      'accepted',
      [said('user', TEXT), item({ type: 'function_call', name: 'exec_command' })],
    ],
    [
      'after an answer to another',
      'submitted',
      [said('user', 'x'), said('assistant', 'done'), said('user', TEXT)],
    ],
    [
      'failed',
      'submitted',
      [said('user', TEXT), { type: 'event_msg', payload: { type: 'task_complete', error: {} } }],
    ],
    [
      'interrupted',
      'submitted',
      [said('user', TEXT), said('user', '<turn_aborted>\nx\n</turn_aborted>'), said('developer', 'x')],
    ],
    ['quoted by the agent', null, [said('user', 'x'), said('assistant', QUOTE)]],
    [
      'in the result of a tool',
      null,
      [item({ type: 'function_call_output', output: TEXT }), said('assistant', 'x')],
    ],
    [
      'in the context of the program',
      null,
      [said('user', `<environment_context>\n${TEXT}\n</environment_context>`), said('developer', TEXT)],
    ],
    ['in a summary', null, [{ type: 'compacted', payload: { message: TEXT } }, said('assistant', 'x')]],
  ]);

  const entry = (role: string, text: string, more = {}) => ({
    type: 'message',
    message: { role, content: [{ type: 'text', text }], ...more },
  });
  const branch = (...records: JsonRecord[]) => chain('id', 'parentId', records);

  table('pi', [
    ['no record', null, [{ type: 'session' }]],
    ['admitted', 'submitted', branch(entry('user', TEXT))],
    ['answered', 'accepted', branch(entry('user', TEXT), entry('assistant', 'done', { stopReason: 'stop' }))],
    [
      'answered after a change',
      'accepted',
      branch(entry('user', TEXT), { type: 'model_change' }, entry('assistant', 'x')),
    ],
    ['failed', 'submitted', branch(entry('user', TEXT), entry('assistant', '', { stopReason: 'error' }))],
    ['aborted', 'submitted', branch(entry('user', TEXT), entry('assistant', 'x', { stopReason: 'aborted' }))],
    [
      'left on another branch',
      'submitted',
      [
        ...branch(entry('user', TEXT)),
        { ...entry('user', 'other'), id: 'b', parentId: null },
        { ...entry('assistant', 'x'), parentId: 'b' },
      ],
    ],
    [
      'quoted by the agent',
      null,
      branch(entry('user', 'x'), entry('assistant', QUOTE), entry('assistant', 'x')),
    ],
    ['in the result of a tool', null, branch(entry('toolResult', TEXT), entry('assistant', 'x'))],
    [
      'in a title',
      null,
      [
        { type: 'session_info', name: TEXT },
        { type: 'custom_message', content: TEXT },
      ],
    ],
  ]);
});

describe('the context that a record adds', () => {
  const claude = (more: JsonRecord = {}, type = 'hook_additional_context') => ({
    type: 'attachment',
    attachment: { type, content: ['first', TEXT], hookEvent: 'PostToolUse' },
    ...more,
  });
  const codex = (role: string) => ({
    type: 'response_item',
    payload: { type: 'message', role, content: [{ type: 'input_text', text: TEXT }] },
  });
  const pi = (customType: string, content: unknown) => ({ type: 'custom_message', customType, content });

  it.each<[HarnessName, string, JsonRecord, string | null]>([
    ['claude', 'what a hook added', claude(), `first\n${TEXT}`],
    ['claude', 'what a hook added to a sub-agent', claude({ isSidechain: true }), null],
    ['claude', 'another attachment', claude({}, 'queued_command'), null],
    ['claude', 'a message', { type: 'user', message: { role: 'user', content: TEXT } }, null],
    ['codex', 'what a hook added', codex('developer'), TEXT],
    ['codex', 'a message', codex('user'), null],
    ['codex', 'an event', { type: 'event_msg', payload: { type: 'task_started' } }, null],
    ['pi', 'what our extension added', pi('fiber-dispatch', TEXT), TEXT],
    ['pi', 'what it added in parts', pi('fiber-dispatch', [{ type: 'text', text: TEXT }]), TEXT],
    ['pi', 'what another extension added', pi('other', TEXT), null],
    ['pi', 'a message', { type: 'message', message: { role: 'user', content: TEXT } }, null],
  ])('of %s: %s', (name, _what, record, text) => {
    expect(HARNESSES[name].messages.contextOf(record)).toBe(text);
  });
});
