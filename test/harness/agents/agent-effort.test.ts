import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { readSettings } from '../../../src/config/settings.ts';
import { setAgentEffort } from '../../../src/harness/agents/agent-effort.ts';
import { AgentsOnDisk } from '../../../src/harness/agents/agents-on-disk.ts';
import { loadRegistry, resolveAgent } from '../../../src/harness/agents/registry.ts';
import { runVerb } from '../../fixtures/fibers/run-verb.ts';
import { answeringDisks } from '../../kit/answering-disks.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-effort-'));
  file = join(folder, 'agents.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const settings = () => readSettings({ SVC_CONFIG_DIR: folder });
const MINE = `{
\t"note" : "by hand",
\t"agents": [
\t\t{"id": "mine", "harness": "pi",   "effort_levels": ["low", "high"], "odd": [1,
\t\t 2]},
\t\t{
\t\t\t"id": "yours",
\t\t\t"harness": "claude",
\t\t\t"default_effort": "low"
\t\t}
\t]
}
`;

describe('setAgentEffort', () => {
  it('[WPL-17] changes one value and keeps every other byte', async () => {
    writeFileSync(file, MINE);
    expect(await setAgentEffort(settings(), 'yours', 'high')).toMatchObject({
      id: 'yours',
      default_effort: 'high',
    });
    expect(readFileSync(file, 'utf8')).toBe(
      MINE.replace('"default_effort": "low"', '"default_effort": "high"'),
    );
  });

  it('[WPL-17] adds the key in the layout of the entry, and removes it again', async () => {
    writeFileSync(file, MINE);
    await setAgentEffort(settings(), 'mine', 'high');
    expect(readFileSync(file, 'utf8')).toContain('2], "default_effort": "high"}');
    expect(await setAgentEffort(settings(), 'mine', null)).toMatchObject({ default_effort: null });
    expect(readFileSync(file, 'utf8')).toBe(MINE);
    await setAgentEffort(settings(), 'yours', null);
    expect(JSON.parse(readFileSync(file, 'utf8')).agents[1]).toEqual({ id: 'yours', harness: 'claude' });
  });

  it('[WPL-17] adds an entry that overrides a built-in agent, in a file that did not exist', async () => {
    const builtin = loadRegistry(settings()).agents.find((agent) => agent.effort_levels.length > 1)!;
    const level = builtin.effort_levels.find((one) => one !== builtin.default_effort)!;
    expect(await setAgentEffort(settings(), builtin.id, null)).toMatchObject({
      default_effort: builtin.default_effort,
    });
    expect(existsSync(file)).toBe(false);
    expect(await setAgentEffort(settings(), builtin.id, level)).toMatchObject({
      id: builtin.id,
      model: builtin.model,
      default_effort: level,
    });
    expect(await setAgentEffort(settings(), builtin.id, null)).toEqual(builtin);
    expect(existsSync(file)).toBe(false);
  });

  it('[WPL-17] says of an agent without effort levels that there is none to choose', async () => {
    writeFileSync(file, JSON.stringify({ agents: [{ id: 'mine', harness: 'pi', effort_levels: [] }] }));
    await expect(setAgentEffort(settings(), 'mine', 'high')).rejects.toMatchObject({
      code: 'effort_unknown',
      message: 'agent mine has no effort levels; leave the effort out',
    });
  });

  const AGENTS = [
    { id: 'mine', harness: 'pi', effort_levels: ['low', 'high'] },
    { id: 'codex', harness: 'codex', args: ['-s', 'read-only'] },
    { id: 'also', alias_of: 'mine' },
  ];

  it('[WPL-17] a level that is set and reset leaves the file as it was, byte by byte', async () => {
    const files = fc.record({
      agents: fc.subarray(AGENTS),
      layout: fc.constantFrom(undefined, 2, '\t'),
      end: fc.constantFrom('', '\n'),
    });
    await fc.assert(
      fc.asyncProperty(files, fc.constantFrom('mine', 'codex', 'claude-opus'), async (made, id) => {
        fc.pre(id !== 'mine' || made.agents.includes(AGENTS[0]!));
        fc.pre(!made.agents.includes(AGENTS[2]!) || made.agents.includes(AGENTS[0]!));
        const text = `${JSON.stringify({ note: 'by hand', agents: made.agents }, null, made.layout)}${made.end}`;
        writeFileSync(file, text);
        await setAgentEffort(settings(), id, 'high');
        expect(readFileSync(file, 'utf8')).not.toBe(text);
        await setAgentEffort(settings(), id, null);
        expect(readFileSync(file, 'utf8')).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  it('[WPL-17] keeps the entry of a list that alone says which agents there are', async () => {
    writeFileSync(
      file,
      '{"builtins": "restrict", "agents": [{"id": "codex", "harness": "codex", "default_effort": "high"}]}',
    );
    await setAgentEffort(settings(), 'codex', null);
    expect(readFileSync(file, 'utf8')).toBe(
      '{"builtins": "restrict", "agents": [{"id": "codex", "harness": "codex"}]}',
    );
  });

  it('[WPL-17] applies to the next launch of a daemon that had read the file before', async () => {
    writeFileSync(file, MINE);
    const agents = new AgentsOnDisk(settings(), {
      disks: answeringDisks,
      logger: silentLogger,
    });
    await agents.look();
    expect(resolveAgent(agents.registry, 'yours').default_effort).toBe('low');
    await setAgentEffort(settings(), 'yours', 'high');
    expect(resolveAgent(agents.registry, 'yours').default_effort).toBe('high');
  });

  it.each([
    ['nobody', 'low', 'agent_not_found'],
    ['mine', 'huge', 'effort_unknown'],
  ])('[WPL-17] refuses %s %s with %s and writes nothing', async (id, effort, code) => {
    writeFileSync(file, MINE);
    await expect(setAgentEffort(settings(), id, effort)).rejects.toMatchObject({ code });
    expect(readFileSync(file, 'utf8')).toBe(MINE);
  });

  it('does not change an invalid file', async () => {
    writeFileSync(file, '{"agents": [');
    await expect(setAgentEffort(settings(), 'mine', 'low')).rejects.toMatchObject({ code: 'invalid_config' });
    expect(readFileSync(file, 'utf8')).toBe('{"agents": [');
  });
});

describe('svc agents effort', () => {
  const run = (...args: string[]) => runVerb(['agents', ...args], { env: { SVC_CONFIG_DIR: folder } });

  it('[WPL-17] sets a level, resets it, and says so', async () => {
    writeFileSync(file, MINE);
    expect(await run('effort', 'mine', 'high')).toMatchObject({ code: 0, out: 'mine: high\n' });
    expect(await run('effort', 'mine', '--reset')).toMatchObject({ code: 0, out: 'mine: its own effort\n' });
    expect(JSON.parse((await run('effort', 'mine', 'low', '--json')).out).agent).toMatchObject({
      default_effort: 'low',
    });
    expect(await run('effort', 'mine')).toMatchObject({ error: 'invalid_request' });
    expect(await run('effort', 'mine', 'low', '--reset')).toMatchObject({ error: 'invalid_request' });
  });
});
