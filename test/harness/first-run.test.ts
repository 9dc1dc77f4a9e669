import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent } from '../../src/contract/agent.ts';
import type { HarnessName } from '../../src/contract/harness-name.ts';
import { createAdapters } from '../../src/harness/adapters.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { agentOf, FIXTURE_HOMES } from './fixture-homes.ts';

let scratch: ScratchFolder;
let project_dir: string;
let env: NodeJS.ProcessEnv;
let uid: number;
beforeEach(() => {
  scratch = scratchFolder();
  project_dir = scratch.mkdir('above/project');
  env = { HOME: join(scratch.path, 'home'), PATH: join(scratch.path, 'bin') };
  uid = 1000;
});
afterEach(() => scratch.remove());

const ready = (name: HarnessName) => {
  scratch.write(`bin/${name}`, '#!/bin/sh\n', 0o755);
  Object.assign(env, FIXTURE_HOMES[name].writeReady(scratch, 'home', project_dir));
};
const whats = async (name: HarnessName, change: Partial<Agent> = {}) => {
  const capabilities = { choosesSessionId: () => true, probe: async () => undefined };
  const adapter = createAdapters({ env, uid, capabilities })[name];
  const findings = await adapter.checkFirstRun({ agent: agentOf(name, change), project_dir });
  return findings.map(({ severity, what }) => `${severity}: ${what}`);
};
const claudeState = (change: object) =>
  scratch.write('home/.claude.json', {
    hasCompletedOnboarding: true,
    projects: { [project_dir]: { hasTrustDialogAccepted: true } },
    ...change,
  });

describe('claude', () => {
  beforeEach(() => {
    ready('claude');
    env.ANTHROPIC_API_KEY = '';
    claudeState({});
  });

  it('asks for a theme and a login before its first set-up', async () => {
    claudeState({ hasCompletedOnboarding: false });
    expect(await whats('claude')).toEqual([expect.stringMatching(/^error: .*not been set up/)]);
  });

  it.each([
    { key: 'sk-ant-0123456789abcdefghij', approved: ['0123456789abcdefghij'], asks: 0 },
    { key: 'sk-ant-0123456789abcdefghij', approved: ['other'], asks: 1 },
    { key: 'short', approved: ['short'], asks: 0 },
  ])(
    'recognises an approved key by its last 20 characters ($key, $approved)',
    async ({ key, approved, asks }) => {
      claudeState({ customApiKeyResponses: { approved } });
      const env_key = { ANTHROPIC_API_KEY: key };
      expect(await whats('claude', { env: env_key })).toHaveLength(asks);
    },
  );

  it('trusts a folder below a trusted one, but not one beside it', async () => {
    claudeState({ projects: { [join(scratch.path, 'above')]: { hasTrustDialogAccepted: true } } });
    expect(await whats('claude')).toEqual([]);
    claudeState({ projects: { [`${project_dir}-2`]: { hasTrustDialogAccepted: true } } });
    expect(await whats('claude')).toEqual([expect.stringMatching(/does not trust/)]);
  });

  it('trusts a linked work tree of a trusted repository', async () => {
    scratch.mkdir('main/.git/worktrees/wt');
    scratch.write('above/project/.git', `gitdir: ${scratch.path}/main/.git/worktrees/wt\n`);
    claudeState({ projects: { [join(scratch.path, 'main')]: { hasTrustDialogAccepted: true } } });
    expect(await whats('claude')).toEqual([]);
  });

  it('reads its state from the config dir if that was moved', async () => {
    scratch.write('moved/.claude.json', '{"hasCompletedOnboarding": true}');
    const moved = { env: { CLAUDE_CONFIG_DIR: join(scratch.path, 'moved') } };
    expect(await whats('claude', moved)).toEqual([expect.stringMatching(/does not trust/)]);
  });

  it.each([
    { args: ['--permission-mode', 'auto'], says: [] },
    { args: ['--permission-mode=dontAsk'], says: [] },
    { args: [], says: [/^warning: .*asks a person/] },
    { args: ['--permission-mode', 'acceptEdits'], says: [/^warning: .*asks a person/] },
    { args: ['--permission-mode', 'bypassPermissions'], says: [/has not been accepted/] },
    { args: ['--dangerously-skip-permissions'], says: [/has not been accepted/] },
  ])('judges the permission mode of $args', async ({ args, says }) => {
    expect(await whats('claude', { args })).toEqual(says.map((text) => expect.stringMatching(text)));
  });

  it('accepts a bypass warning from either place, and root only in a sandbox', async () => {
    const args = ['--dangerously-skip-permissions'];
    claudeState({ bypassPermissionsModeAccepted: true });
    expect(await whats('claude', { args })).toEqual([]);
    claudeState({});
    scratch.write('home/.claude/settings.json', '{"skipDangerousModePermissionPrompt": true}');
    expect(await whats('claude', { args })).toEqual([]);
    uid = 0;
    expect(await whats('claude', { args })).toEqual([expect.stringMatching(/refuses that as root/)]);
    expect(await whats('claude', { args, env: { IS_SANDBOX: '1' } })).toEqual([]);
  });
});

describe('codex', () => {
  const config = (text: string) => scratch.write('home/.codex/config.toml', text);
  beforeEach(() => ready('codex'));

  it.each([
    { how: 'no config at all', toml: '', asks: 1 },
    { how: 'trust for the repository', toml: 'projects = {"ROOT" = {trust_level = "trusted"}}', asks: 0 },
    { how: 'a decision not to trust it', toml: '[projects."ROOT"]\ntrust_level = "untrusted"', asks: 0 },
    { how: 'trust for another one', toml: '[projects."/other"]\ntrust_level = "trusted"', asks: 1 },
  ])('asks about a folder of a repository with $how: $asks', async ({ toml, asks }) => {
    const root = join(scratch.path, 'above');
    config(toml.replace('ROOT', root));
    expect(await whats('codex')).toEqual([]);
    scratch.mkdir('above/.git');
    expect(await whats('codex')).toHaveLength(asks);
  });

  it('identifies a linked work tree by its main repository', async () => {
    scratch.mkdir('main/.git/worktrees/wt');
    scratch.write('above/project/.git', `gitdir: ${scratch.path}/main/.git/worktrees/wt\n`);
    config(`[projects."${scratch.path}/main"]\ntrust_level = "trusted"`);
    expect(await whats('codex')).toEqual([]);
    config('');
    expect(await whats('codex')).toEqual([expect.stringMatching(/trust the repository/)]);
  });

  it.each([
    { how: 'a login by key', auth: { OPENAI_API_KEY: 'k' }, toml: '', says: [] },
    { how: 'a login by account', auth: { tokens: { access_token: 't' } }, toml: '', says: [] },
    { how: 'no login', auth: {}, toml: '', says: [/no login/] },
    { how: 'a key ring', auth: {}, toml: 'cli_auth_credentials_store = "keyring"', says: [] },
    {
      how: 'a provider whose key is missing',
      auth: {},
      toml: 'model_provider = "x"\n[model_providers.x]\nenv_key = "X_KEY"',
      says: [/X_KEY, which is not set/],
    },
    {
      how: 'a provider that needs no key',
      auth: {},
      toml: 'model_provider = "x"\n[model_providers.x]\nbase_url = "http://127.0.0.1"',
      says: [],
    },
  ])('can work with $how: $says', async ({ auth, toml, says }) => {
    scratch.write('home/.codex/auth.json', auth);
    config(toml);
    expect(await whats('codex')).toEqual(says.map((text) => expect.stringMatching(text)));
  });

  it('prefers settings of its command line to those of its file', async () => {
    scratch.write('home/.codex/auth.json', '{}');
    config('[model_providers.x]\nbase_url = "http://127.0.0.1"');
    const args = ['-a', 'never', '-c', 'model_provider="x"'];
    expect(await whats('codex', { args })).toEqual([]);
  });

  it('warns about approvals that an unattended worker would wait for', async () => {
    expect(await whats('codex', { args: [] })).toEqual([expect.stringMatching(/^warning: .*asks a person/)]);
    config('approval_policy = "never"');
    expect(await whats('codex', { args: [] })).toEqual([]);
    config('');
    expect(await whats('codex', { args: ['--ask-for-approval=never'] })).toEqual([]);
    expect(await whats('codex', { args: ['--dangerously-bypass-approvals-and-sandbox'] })).toEqual([]);
  });

  it('reports hooks that nobody has reviewed', async () => {
    const file = scratch.write('home/.codex/hooks.json', { hooks: { Stop: [{ hooks: [] }] } });
    expect(await whats('codex')).toEqual([expect.stringMatching(/nobody has reviewed/)]);
    expect(await whats('codex', { args: ['-a', 'never', '--dangerously-bypass-hook-trust'] })).toEqual([]);
    config(`[hooks.state."${file}:stop:0:0"]\ntrusted_hash = "sha256:0"`);
    expect(await whats('codex')).toEqual([]);
  });
});

describe('pi', () => {
  beforeEach(() => {
    ready('pi');
    scratch.write('home/.pi/agent/trust.json', '{}');
  });

  it.each(['.pi/settings.json', '.pi/SYSTEM.md', '.pi/skills/x', '.agents/skills/x', '../.agents/skills/x'])(
    'asks about a folder with %s, unless it or a parent is already decided',
    async (resource) => {
      expect(await whats('pi')).toEqual([]);
      scratch.write(join('above/project', resource), '');
      expect(await whats('pi')).toEqual([expect.stringMatching(/^error: .*trust/)]);
      expect(await whats('pi', { args: ['--no-approve'] })).toEqual([]);
      scratch.write('home/.pi/agent/trust.json', { [join(scratch.path, 'above')]: false });
      expect(await whats('pi')).toEqual([]);
      scratch.write('home/.pi/agent/trust.json', '{}');
      scratch.write('home/.pi/agent/settings.json', '{"defaultProjectTrust": "always"}');
      expect(await whats('pi')).toEqual([]);
    },
  );

  it('warns if there is no model to use', async () => {
    scratch.write('home/.pi/agent/auth.json', '{}');
    expect(await whats('pi')).toEqual([expect.stringMatching(/^warning: .*no model/)]);
    expect(await whats('pi', { env: { MISTRAL_API_KEY: 'k' } })).toEqual([]);
    scratch.write('home/.pi/agent/models.json', { providers: { local: {} } });
    expect(await whats('pi')).toEqual([]);
  });
});
