import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/contract/agent.ts';
import { HARNESS_NAMES, type HarnessName } from '../../../src/contract/harness-name.ts';
import { builtinAgents } from '../../../src/harness/agents/builtin-agents.ts';
import { findPastSession } from '../../../src/harness/transcripts/past-session.ts';

const ID = '0198c0de-0000-4000-8000-000000000001';
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-past-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function agentOf(harness: HarnessName): Agent {
  return builtinAgents().find((agent) => agent.harness === harness)!;
}

/** Where each program keeps the transcript, and the records at its head. */
const TRANSCRIPT: Record<HarnessName, (cwd: string | null) => { path: string; records: unknown[] }> = {
  claude: (cwd) => ({
    path: `.claude/projects/-srv-some-project/${ID}.jsonl`,
    records: [
      { type: 'mode', sessionId: ID },
      { type: 'user', ...(cwd === null ? {} : { cwd }) },
      { cwd: '/srv/later' },
    ],
  }),
  codex: (cwd) => ({
    path: `.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-${ID}.jsonl`,
    records: [{ type: 'session_meta', payload: { id: ID, ...(cwd === null ? {} : { cwd }) } }],
  }),
  pi: (cwd) => ({
    path: `.pi/agent/sessions/--srv-some-project--/2026-01-02T03-04-05_${ID}.jsonl`,
    records: [{ type: 'session', id: ID, ...(cwd === null ? {} : { cwd }) }],
  }),
};

function write(harness: HarnessName, cwd: string | null): string {
  const { path, records } = TRANSCRIPT[harness](cwd);
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `not json\n${records.map((record) => JSON.stringify(record)).join('\n')}\n`);
  return file;
}

const find = (harness: HarnessName, id = ID) => findPastSession(agentOf(harness), id, { HOME: home });

describe.each(HARNESS_NAMES)('a past session of %s', (harness) => {
  it('[WPL-21] is found by its id, with the folder where it began', async () => {
    const path = write(harness, '/srv/some/project');
    expect(await find(harness)).toEqual({ kind: 'found', path, cwd: '/srv/some/project' });
  });

  it('[ERR-20] is missing without a transcript, also in an empty home', async () => {
    expect(await find(harness)).toEqual({ kind: 'missing' });
    write(harness, '/srv/some/project');
    expect(await find(harness, ID.replace('1', '2'))).toEqual({ kind: 'missing' });
  });
});

it.each(['codex', 'pi'] as const)('[ERR-20] a transcript of %s may record no folder', async (harness) => {
  write(harness, null);
  expect(await find(harness)).toMatchObject({ kind: 'found', cwd: null });
});

it('skips files beside the project folders', async () => {
  const path = write('claude', '/srv/p');
  writeFileSync(join(home, '.claude', 'projects', '-a-file'), '');
  expect(await find('claude')).toMatchObject({ kind: 'found', path });
});

it('finds a session of pi in the folder that its arguments name', async () => {
  const folder = join(home, 'elsewhere');
  mkdirSync(folder);
  writeFileSync(join(folder, `x_${ID}.jsonl`), `${JSON.stringify({ type: 'session', cwd: '/srv/p' })}\n`);
  const agent = { ...agentOf('pi'), args: ['--session-dir', folder] };
  expect(await findPastSession(agent, ID, { HOME: home })).toMatchObject({ kind: 'found', cwd: '/srv/p' });
});
