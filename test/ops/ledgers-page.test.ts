import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  commitLineSchema,
  EVENT_TYPES,
  messageLineSchema,
  sessionLineSchema,
} from '../../src/contract/ledger.ts';
import { HARNESSES } from '../../src/harness/harnesses.ts';
import { eventLine } from '../../src/harness/hooks/event-line.ts';
import type { CommitLine } from '../../src/ledgers/commit-line.cjs';

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

/** The events for which a setup would put a hook into an empty folder of the program. */
async function hooksOf(harness: 'claude' | 'codex'): Promise<string[]> {
  const place = { folder: '/none', env: {}, temp: '/none', mode: 'uninstall' as const };
  const { shared = [] } = await HARNESSES[harness].setup.target(place);
  return Object.keys(JSON.parse(shared[0]!.put(null)).hooks);
}

describe('the page on the ledgers', () => {
  it('[EVT-7] lists every field of every ledger, and no other', () => {
    expect(names(rowsOf('Events', 'field'))).toEqual(fieldsOfEvents());
    expect(names(rowsOf('Sessions', 'field'))).toEqual(Object.keys(sessionLineSchema.shape).sort());
    expect(names(rowsOf('Messages', 'field'))).toEqual(Object.keys(messageLineSchema.shape).sort());
    const commit: (keyof CommitLine)[] = Object.keys(commitLineSchema.shape) as (keyof CommitLine)[];
    expect(names(rowsOf('Commits', 'field'))).toEqual(commit.sort());
  });

  it('[EVT-7] lists every type of event, and the programs with a hook for it', async () => {
    const rows = rowsOf('Events', 'type');
    expect(names(rows)).toEqual([...EVENT_TYPES].sort());
    const hooks = { claude: await hooksOf('claude'), codex: await hooksOf('codex') };
    for (const [type, claude, codex] of rows) {
      const hook = type!.replaceAll('`', '').replace(/(?:^|_)([a-z])/g, (_, letter) => letter.toUpperCase());
      expect([hook, claude!.startsWith('yes')]).toEqual([hook, hooks.claude.includes(hook)]);
      expect([hook, codex !== 'no such hook']).toEqual([hook, hooks.codex.includes(hook)]);
    }
  });

  it('[EVT-7] names only existing kinds of sessions', () => {
    const { options } = sessionLineSchema.shape.kind;
    expect(options).toEqual(expect.arrayContaining(names(rowsOf('Sessions', 'kind'))));
  });
});
