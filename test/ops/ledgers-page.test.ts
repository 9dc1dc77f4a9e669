import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CommitLine } from '../../src/cli/hook/commit-line.ts';
import { eventLine } from '../../src/cli/hook/event-line.ts';
import { commitLineSchema, EVENT_TYPES, sessionLineSchema } from '../../src/contract/ledger.ts';
import { HOOK_EVENTS } from '../../src/harness/hooks/hook-command.ts';

const page = readFileSync(new URL('../../ops/ledgers.md', import.meta.url), 'utf8');

/** Rows of the tables of one section, by the words of their first cells. */
function rowsOf(section: string, header: string): string[][] {
  const text = page.split(/^## /m).find((one) => one.startsWith(`${section}\n`))!;
  const tables = text.split('\n\n').filter((one) => one.startsWith(`| ${header} `));
  expect(tables, `${section}: ${header}`).toHaveLength(1);
  const rows = tables[0]!.trim().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
const names = (rows: string[][]) =>
  rows.flatMap(([first]) => [...first!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)).sort();

/** Every field that an event can have, over hooks of several kinds. */
function fieldsOfEvents(): string[] {
  const around = { id: 'i', now: 1, harness: 'claude', mux_session: null, host: null };
  const hooks = [
    { hook_event_name: 'SessionStart', source: 'startup' },
    { hook_event_name: 'UserPromptSubmit', prompt: '<task-notification>' },
    {
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      tool_input: { file_path: '/a', content: 'x'.repeat(9_000) },
    },
  ];
  return [...new Set(hooks.flatMap((hook) => Object.keys(eventLine(hook, around)!)))].sort();
}

describe('the page on the ledgers', () => {
  it('[EVT-7] tells every field of every ledger, and none besides', () => {
    expect(names(rowsOf('Events', 'field'))).toEqual(fieldsOfEvents());
    expect(names(rowsOf('Sessions', 'field'))).toEqual(Object.keys(sessionLineSchema.shape).sort());
    const commit: (keyof CommitLine)[] = Object.keys(commitLineSchema.shape) as (keyof CommitLine)[];
    expect(names(rowsOf('Commits', 'field'))).toEqual(commit.sort());
  });

  it('[EVT-7] tells every type of event, and which program has a hook for it', () => {
    const rows = rowsOf('Events', 'type');
    expect(names(rows)).toEqual([...EVENT_TYPES].sort());
    for (const [type, claude, codex] of rows) {
      const hook = type!.replaceAll('`', '').replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());
      const told = (harness: 'claude' | 'codex') =>
        (HOOK_EVENTS[harness] as readonly string[]).includes(hook);
      expect([hook, claude!.startsWith('yes')]).toEqual([hook, told('claude')]);
      expect([hook, codex !== 'no such hook']).toEqual([hook, told('codex')]);
    }
  });

  it('[EVT-7] names only kinds of sessions that there are', () => {
    const { options } = sessionLineSchema.shape.kind;
    expect(options).toEqual(expect.arrayContaining(names(rowsOf('Sessions', 'kind'))));
  });
});
