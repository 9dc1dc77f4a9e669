import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HarnessName } from '../../src/contract/harness-name.ts';

const API_KEY = 'sk-ant-stub-00000000000000000000';

export type ScratchHome = { home: string; project_dir: string; model_url: string };

/** Writes the home of a harness that has been set up, trusts its project and talks to the stub model only. */
export const writeScratchHome: Record<HarnessName, (scratch: ScratchHome) => Record<string, string>> = {
  claude({ home, project_dir, model_url }) {
    writeJson(join(home, '.claude.json'), {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: [API_KEY.slice(-20)], rejected: [] },
      projects: { [project_dir]: { hasTrustDialogAccepted: true } },
    });
    // The check of its auto mode runs on the provider's server, which the stub is not; these rules need none.
    const allow = ['echo', 'git', 'svc'].map((program) => `Bash(${program}:*)`);
    writeJson(join(home, '.claude', 'settings.json'), { permissions: { allow } });
    return {
      ANTHROPIC_BASE_URL: model_url,
      ANTHROPIC_API_KEY: API_KEY,
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    };
  },
  codex({ home, project_dir, model_url }) {
    writeText(
      join(home, '.codex', 'config.toml'),
      [
        'model = "stub-1"',
        'model_provider = "stub"',
        '[model_providers.stub]',
        'name = "stub"',
        `base_url = "${model_url}/v1"`,
        'env_key = "STUB_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 1',
        'stream_max_retries = 1',
        `[projects."${project_dir}"]`,
        'trust_level = "trusted"',
        '',
      ].join('\n'),
    );
    return { STUB_KEY: 'stub' };
  },
  pi({ home, model_url }) {
    const model = {
      id: 'stub-1',
      name: 'Stub',
      reasoning: true,
      input: ['text'],
      contextWindow: 200_000,
      maxTokens: 8_000,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    };
    writeJson(join(home, '.pi', 'agent', 'models.json'), {
      providers: {
        stub: { baseUrl: `${model_url}/v1`, api: 'openai-responses', apiKey: 'stub', models: [model] },
      },
    });
    writeJson(join(home, '.pi', 'agent', 'settings.json'), {
      defaultProvider: 'stub',
      defaultModel: 'stub-1',
      quietStartup: true,
    });
    return { PI_OFFLINE: '1' };
  },
};

function writeJson(path: string, value: unknown): void {
  writeText(path, `${JSON.stringify(value, null, 2)}\n`);
}

function writeText(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}
