import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readSettings } from '../../src/config/settings.ts';
import { createAdapters } from '../../src/harness/adapters.ts';
import { loadRegistry } from '../../src/harness/agents/registry.ts';
import { type AgentUse, checkHarnesses } from '../../src/harness/doctor.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { FIXTURE_HOMES } from './fixture-homes.ts';

let scratch: ScratchFolder;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  scratch = scratchFolder();
  env = { HOME: join(scratch.path, 'home'), PATH: join(scratch.path, 'bin') };
});
afterEach(() => scratch.remove());

const use = (fiber: string, agent: string | null, project_dir: string | null = null): AgentUse => ({
  fiber,
  agent,
  project_dir,
});

const check = (uses: AgentUse[] = []) => {
  const capabilities = { choosesSessionId: () => true, probe: async () => undefined };
  const adapters = createAdapters({ env, uid: 1000, capabilities });
  const registry = loadRegistry(readSettings({ SVC_CONFIG_DIR: scratch.path }));
  return checkHarnesses({ registry, adapters, env, uses });
};

it('tells of a program that is not there only where a fiber needs it', async () => {
  const missing = async (uses: AgentUse[]) => {
    const { startable, findings, missing } = await check(uses);
    expect([startable, missing.length]).toEqual([[], 7]);
    return findings.map(({ severity, what, agents }) => [severity, what, agents]);
  };
  expect(await missing([])).toEqual([]);
  expect(await missing([use('a', null), use('b', 'pi')])).toEqual([
    ['error', 'Claude Code is not installed', ['claude-sonnet']],
    ['error', 'Pi is not installed', ['pi']],
  ]);
});

it('warns of a program that is there and would ask, though no fiber uses it', async () => {
  scratch.write('bin/pi', '#!/bin/sh\n', 0o755);
  const { findings } = await check();
  expect(findings.map(({ severity, agents }) => [severity, agents])).toEqual([['warning', ['pi']]]);
});

it('knows nothing of a program that only stands in for the one of its harness, but that it starts', async () => {
  const cli = scratch.write('bin/stands-in', '#!/bin/sh\n', 0o755);
  const agent = { id: 'mine', harness: 'claude', cli, default: true };
  scratch.write('agents.json', JSON.stringify({ version: 1, builtins: 'restrict', agents: [agent] }));
  expect(await check([use('a', 'mine', scratch.mkdir('project'))])).toEqual({
    ...{ startable: ['mine'], missing: [], findings: [] },
  });
});

it('checks the first-run question in the folders of the fibers that use the agent', async () => {
  for (const name of ['claude', 'codex', 'pi'] as const) {
    scratch.write(`bin/${name}`, '#!/bin/sh\n', 0o755);
    Object.assign(env, FIXTURE_HOMES[name].writeReady(scratch, 'home', '/elsewhere'));
  }
  const all = ['claude-sonnet', 'claude-opus', 'claude-haiku', 'codex', 'codex-sol', 'codex-terra', 'pi'];
  expect(await check()).toEqual({ startable: all, missing: [], findings: [] });
  const project_dir = scratch.mkdir('project');
  const uses = [
    use('a', null, project_dir),
    use('b', 'claude-haiku', project_dir),
    use('c', 'pi', project_dir),
  ];
  expect(await check(uses)).toEqual({
    startable: ['claude-opus', 'codex', 'codex-sol', 'codex-terra', 'pi'],
    missing: [],
    findings: [
      {
        severity: 'error',
        what: expect.stringContaining(project_dir),
        mend: expect.any(String),
        agents: ['claude-sonnet', 'claude-haiku'],
      },
    ],
  });
});

it('reports an unknown agent with the fiber that names it', async () => {
  const { findings } = await check([use('work/loader', 'emacs')]);
  expect(findings[0]).toMatchObject({
    severity: 'error',
    agents: [],
    what: expect.stringMatching(/^work\/loader: there is no agent "emacs"/),
  });
});
