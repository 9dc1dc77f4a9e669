import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HarnessName } from '../../../src/contract/harness-name.ts';
import { readMoment } from '../../../src/harness/transcripts/moment.ts';
import { wordsOf } from '../../../src/harness/transcripts/transcript-words.ts';

const AT = Date.parse('2026-11-21T09:00:00.000Z');
const timestamp = '2026-11-21T09:00:00.000Z';
let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'svc-moment-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('the words of a record', () => {
  it.each<[string, HarnessName, object, [string, string | null, string][]]>([
    [
      'a person in Claude Code',
      'claude',
      { type: 'user', message: { content: 'do it' } },
      [['person', null, 'do it']],
    ],
    [
      'a message that Claude Code took in the middle of a turn',
      'claude',
      { type: 'attachment', attachment: { type: 'queued_command', prompt: 'and this' } },
      [['person', null, 'and this']],
    ],
    [
      'nobody, where Claude Code speaks to itself',
      'claude',
      { type: 'user', isMeta: true, message: { content: 'x' } },
      [],
    ],
    [
      'Claude, and what it calls',
      'claude',
      {
        type: 'assistant',
        message: {
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', name: 'Bash', input: { command: 'ls', description: 'list' } },
          ],
        },
      },
      [
        ['agent', null, 'I look.'],
        ['agent', 'Bash', 'ls'],
      ],
    ],
    [
      'a result in Claude Code',
      'claude',
      {
        type: 'user',
        message: { content: [{ type: 'tool_result', content: [{ type: 'text', text: 'a.txt' }] }] },
      },
      [['tool', null, 'a.txt']],
    ],
    [
      'a person in Codex',
      'codex',
      {
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] },
      },
      [['person', null, 'hi']],
    ],
    [
      'nobody, where Codex tells its surroundings',
      'codex',
      {
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ text: '<environment_context>\n…' }] },
      },
      [],
    ],
    [
      'a call in Codex',
      'codex',
      {
        type: 'response_item',
        payload: { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"svc handoff"}' },
      },
      [['agent', 'exec_command', 'svc handoff']],
    ],
    [
      'a result in Codex',
      'codex',
      { type: 'response_item', payload: { type: 'function_call_output', output: 'done' } },
      [['tool', null, 'done']],
    ],
    [
      'Pi, and what it calls',
      'pi',
      {
        type: 'message',
        message: {
          role: 'assistant',
          content: [{ type: 'toolCall', name: 'bash', arguments: { command: 'ls' } }],
        },
      },
      [['agent', 'bash', 'ls']],
    ],
    [
      'a result in Pi',
      'pi',
      {
        type: 'message',
        message: { role: 'toolResult', toolName: 'bash', content: [{ type: 'text', text: 'ok' }] },
      },
      [['tool', 'bash', 'ok']],
    ],
  ])('are those of %s', (_title, harness, record, words) => {
    expect(
      wordsOf(harness, { timestamp, ...record }).map(({ who, tool, text }) => [who, tool, text]),
    ).toEqual(words);
  });
});

describe('a moment of a transcript', () => {
  it('is what a reading of the whole transcript finds, at any position', () => {
    const path = join(root, 'long.jsonl');
    const said: { at: number; text: string }[] = [];
    let text = '';
    let at = AT;
    for (let index = 0; index < 6_000; index += 1) {
      at += (index * 7_919) % 5_000;
      const words = { at, text: `${index} ${'x'.repeat((index * 104_729) % 900)}` };
      said.push(words);
      text += `${JSON.stringify({ type: 'user', timestamp: new Date(at).toISOString(), message: { content: words.text } })}\n`;
      if (index % 50 === 0) text += '{"type":"mode","mode":"normal"}\n';
      if (index === 3_000) text += `${JSON.stringify({ type: 'progress', data: 'y'.repeat(3_000_000) })}\n`;
      if (index % 701 === 0) text += '{"torn":\n';
    }
    writeFileSync(path, `${text}{"type":"user","timestamp":"${timestamp}","mess`);
    const anywhere = fc.integer({ min: AT - 120_000, max: at + 120_000 });
    fc.assert(
      fc.property(anywhere, fc.integer({ min: 1, max: 90_000 }), (moment, within_ms) => {
        const { words, more } = readMoment(path, 'claude', { at: moment, within_ms });
        const expected = said.filter((one) => Math.abs(one.at - moment) <= within_ms);
        expect({ texts: words.map((one) => one.text), more }).toEqual({
          texts: expected.map((one) => one.text),
          more: false,
        });
      }),
      { numRuns: 60 },
    );
  });

  describe('tells what the agent said last before it', () => {
    const person = (minute: number, content: string) => ({
      ...{ type: 'user', timestamp: new Date(AT + minute * 60_000).toISOString(), message: { content } },
    });
    const agent = (minute: number, ...content: object[]) => ({
      ...person(minute, ''),
      type: 'assistant',
      message: { content },
    });
    const text = (words: string) => ({ type: 'text', text: words });
    const call = { type: 'tool_use', name: 'Bash', input: { command: 'ls' } };
    const asked = agent(1, text('Which one?'));
    const read = (name: string, records: object[], minute: number) => {
      const path = join(root, `${name}.jsonl`);
      writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      return readMoment(path, 'claude', { at: AT + minute * 60_000, within_ms: 30_000 }).said_before;
    };

    it.each<[string, object[], string | null]>([
      ['when it asked long ago', [person(0, 'do it'), asked, person(600, 'the second')], 'Which one?'],
      [
        'though it called a tool after that',
        [asked, agent(2, call), person(600, 'the second')],
        'Which one?',
      ],
      ['unless a person spoke since', [asked, person(2, 'the first'), person(600, 'no')], null],
      ['when there was nothing before', [person(600, 'do it'), agent(601, text('done'))], null],
    ])('%s', (name, records, expected) => {
      expect(read(name, records, 600)?.text ?? null).toBe(expected);
    });

    it('with the end of a long text, and across half a megabyte of what is no talk', () => {
      const long = agent(1, text(`${'𝒳'.repeat(3_000)} Which one?`));
      const noise = {
        type: 'progress',
        timestamp: new Date(AT + 60_000).toISOString(),
        data: 'x'.repeat(1_000),
      };
      const said = read(
        'long',
        [person(0, 'do it'), long, ...Array(500).fill(noise), person(600, 'no')],
        600,
      );
      expect([
        said!.text.length <= 2_000,
        said!.text.slice(0, 3),
        said!.text.endsWith('𝒳 Which one?'),
      ]).toEqual([true, '…𝒳', true]);
      expect(said!.at).toBe(AT + 60_000);
    });
  });

  it('shows the hundred messages nearest to it, each truncated', () => {
    const path = join(root, 'dense.jsonl');
    const records = Array.from({ length: 300 }, (_, index) => ({
      type: 'user',
      timestamp: new Date(AT + index * 10).toISOString(),
      message: { content: index === 150 ? '𝒳'.repeat(5_000) : `word ${index}` },
    }));
    writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const { words, more } = readMoment(path, 'claude', { at: AT + 1_500, within_ms: 60_000 });
    expect([words.length, more, words[0]?.text]).toEqual([100, true, 'word 100']);
    const long = words.find(({ at }) => at === AT + 1_500)?.text ?? '';
    expect([long.length <= 2_000, long.endsWith('𝒳…')]).toEqual([true, true]);
  });
});
