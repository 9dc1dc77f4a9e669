import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readSettings } from '../../src/config/settings.ts';
import { createAdapters } from '../../src/harness/adapters.ts';
import { checkHarnesses } from '../../src/harness/doctor.ts';
import { loadRegistry } from '../../src/harness/registry.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { FIXTURE_HOMES } from './fixture-homes.ts';

let scratch: ScratchFolder;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  scratch = scratchFolder();
  env = { HOME: join(scratch.path, 'home'), PATH: join(scratch.path, 'bin') };
});
afterEach(() => scratch.remove());

const check = (project_dirs: string[] = []) => {
  const capabilities = { choosesSessionId: () => true, probe: async () => undefined };
  const adapters = createAdapters({ env, uid: 1000, capabilities });
  const loaded = loadRegistry(readSettings({ SVC_CONFIG_DIR: scratch.path }));
  return checkHarnesses({ ...loaded, adapters, env, project_dirs });
};

it('the default agent must be there; the programs that nobody asked for are only mentioned', async () => {
  const findings = await check();
  const missing = findings.filter(({ what }) => /is not installed|not on PATH/.test(what));
  expect(missing.map(({ severity, agents }) => [severity, agents])).toEqual(
    expect.arrayContaining([
      ['error', ['claude-sonnet']],
      ['warning', ['codex', 'codex-sol', 'codex-terra']],
      ['warning', ['pi']],
    ]),
  );
});

it('a finding that several agents share is told once, with their names', async () => {
  for (const name of ['claude', 'codex', 'pi'] as const) {
    scratch.write(`bin/${name}`, '#!/bin/sh\n', 0o755);
    Object.assign(env, FIXTURE_HOMES[name].writeReady(scratch, 'home', '/elsewhere'));
  }
  expect(await check()).toEqual([]);
  const project_dir = scratch.mkdir('project');
  expect(await check([project_dir])).toEqual([
    {
      severity: 'error',
      what: expect.stringContaining(project_dir),
      mend: expect.any(String),
      agents: ['claude-sonnet', 'claude-opus', 'claude-haiku'],
    },
  ]);
});

it('a broken agents.json comes first', async () => {
  const file = scratch.write('agents.json', '{');
  const [first] = await check();
  expect(first).toMatchObject({ severity: 'error', agents: [], what: expect.stringContaining(file) });
});
