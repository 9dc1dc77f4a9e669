import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent } from '../../src/contract/agent.ts';
import { HARNESS_NAMES, type HarnessName } from '../../src/contract/harness-name.ts';
import { createAdapters } from '../../src/harness/adapters.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';
import { agentOf, FIXTURE_HOMES } from './fixture-homes.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

type Case = {
  name: string;
  files?: Record<string, unknown>;
  env?: Record<string, string>;
  args?: string[];
  signed_in: boolean | null;
};

async function signIn(
  harness: HarnessName,
  { files = {}, env = {}, args }: Omit<Case, 'name' | 'signed_in'>,
) {
  for (const [name, content] of Object.entries(files)) scratch.write(`home/${name}`, content);
  const capabilities = { choosesSessionId: () => true, probe: async () => undefined };
  const around = { HOME: join(scratch.path, 'home'), ...env };
  const adapter = createAdapters({ env: around, uid: 1000, capabilities })[harness];
  const change: Partial<Agent> = args === undefined ? {} : { args };
  return adapter.signIn(agentOf(harness, change));
}

describe.each(HARNESS_NAMES)('the program of %s', (harness) => {
  it('is signed in once it was set up', async () => {
    const env = FIXTURE_HOMES[harness].writeReady(scratch, 'home', '/srv/project');
    expect(await signIn(harness, { env })).toEqual({ signed_in: true, mend: null });
  });

  it('is not before, and how to is told', async () => {
    expect(await signIn(harness, {})).toEqual({
      signed_in: false,
      mend: expect.stringMatching(new RegExp(`^run "${agentOf(harness).cli}`)),
    });
  });
});

const CLAUDE: Case[] = [
  {
    name: 'an account',
    files: { '.claude.json': { hasCompletedOnboarding: true, oauthAccount: { emailAddress: 'a@b.c' } } },
    signed_in: true,
  },
  { name: 'tokens', files: { '.claude/.credentials.json': { claudeAiOauth: {} } }, signed_in: true },
  { name: 'a helper', files: { '.claude/settings.json': { apiKeyHelper: '/bin/key' } }, signed_in: true },
  {
    name: 'a token in its settings',
    files: { '.claude/settings.json': { env: { ANTHROPIC_AUTH_TOKEN: 'x' } } },
    signed_in: true,
  },
  { name: 'another service', env: { CLAUDE_CODE_USE_BEDROCK: '1' }, signed_in: true },
  {
    name: 'no account after a set-up, which a keychain may hold',
    files: { '.claude.json': { hasCompletedOnboarding: true } },
    signed_in: null,
  },
];
const CODEX: Case[] = [
  { name: 'tokens', files: { '.codex/auth.json': { tokens: { id_token: 'x' } } }, signed_in: true },
  { name: 'no tokens', files: { '.codex/auth.json': { tokens: {} } }, signed_in: false },
  { name: 'a local model', args: ['--oss'], signed_in: true },
  { name: 'a profile', args: ['--profile', 'mine'], signed_in: null },
  {
    name: 'a keyring',
    files: { '.codex/config.toml': 'cli_auth_credentials_store = "keyring"\n' },
    signed_in: null,
  },
  { name: 'broken settings', files: { '.codex/config.toml': '= = =' }, signed_in: null },
];
const PI: Case[] = [
  { name: 'a key of a provider', env: { OPENAI_API_KEY: 'x' }, signed_in: true },
  { name: 'a provider', files: { '.pi/agent/models.json': { providers: { mine: {} } } }, signed_in: true },
  { name: 'a broken login', files: { '.pi/agent/auth.json': '{' }, signed_in: null },
];

describe.each([
  ['claude', CLAUDE],
  ['codex', CODEX],
  ['pi', PI],
] as const)('%s', (harness, cases) => {
  it.each(cases)('with $name: $signed_in', async ({ signed_in, ...given }) => {
    const found = await signIn(harness, given);
    expect(found.signed_in).toBe(signed_in);
    expect(found.mend === null).toBe(signed_in === true);
  });
});
