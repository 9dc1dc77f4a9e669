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

it('is an error only for an agent that a fiber needs; for others it is a warning', async () => {
  const missing = async (uses: AgentUse[]) => {
    const { startable, findings } = await check(uses);
    expect(startable).toEqual([]);
    return findings
      .filter(({ what }) => /is not installed|not on PATH/.test(what))
      .map(({ severity, agents }) => [severity, agents]);
  };
  expect(await missing([])).toEqual([
    ['warning', ['claude-sonnet']],
    ['warning', ['claude-opus', 'claude-haiku']],
    ['warning', ['codex', 'codex-sol', 'codex-terra']],
    ['warning', ['pi']],
  ]);
  expect(await missing([use('a', null), use('b', 'pi')])).toEqual([
    ['error', ['claude-sonnet']],
    ['warning', ['claude-opus', 'claude-haiku']],
    ['warning', ['codex', 'codex-sol', 'codex-terra']],
    ['error', ['pi']],
  ]);
});

it('checks the first-run question in the folders of the fibers that use the agent', async () => {
  for (const name of ['claude', 'codex', 'pi'] as const) {
    scratch.write(`bin/${name}`, '#!/bin/sh\n', 0o755);
    Object.assign(env, FIXTURE_HOMES[name].writeReady(scratch, 'home', '/elsewhere'));
  }
  const all = ['claude-sonnet', 'claude-opus', 'claude-haiku', 'codex', 'codex-sol', 'codex-terra', 'pi'];
  expect(await check()).toEqual({ startable: all, findings: [] });
  const project_dir = scratch.mkdir('project');
  const uses = [
    use('a', null, project_dir),
    use('b', 'claude-haiku', project_dir),
    use('c', 'pi', project_dir),
  ];
  expect(await check(uses)).toEqual({
    startable: ['claude-opus', 'codex', 'codex-sol', 'codex-terra', 'pi'],
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
