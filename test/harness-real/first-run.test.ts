import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { HarnessName } from '../../src/contract/harness-name.ts';
import { type RealHarness, type StartOptions, startRealHarness } from './real-harness.ts';

let harness: RealHarness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

type Dialog = StartOptions & { harness: HarnessName; asks: string; screen: RegExp; finding: RegExp };

const rewriteClaude =
  (change: (state: Record<string, unknown>, project_dir: string) => void) =>
  ({ home, project_dir }: { home: string; project_dir: string }) => {
    const state = {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: ['00000000000000000000'], rejected: [] },
      projects: { [project_dir]: { hasTrustDialogAccepted: true } },
    };
    change(state, project_dir);
    writeFileSync(join(home, '.claude.json'), JSON.stringify(state));
  };

const DIALOGS: Dialog[] = [
  {
    harness: 'claude',
    asks: 'whether a new folder is trusted',
    prepare: rewriteClaude((state) => {
      state.projects = {};
    }),
    screen: /trust/i,
    finding: /does not trust/,
  },
  {
    harness: 'claude',
    asks: 'whether a key from the environment may be used',
    prepare: rewriteClaude((state) => {
      state.customApiKeyResponses = { approved: [], rejected: [] };
    }),
    screen: /custom API key/,
    finding: /ANTHROPIC_API_KEY/,
  },
  {
    harness: 'claude',
    asks: 'for the bypass warning to be accepted',
    agent: { args: ['--dangerously-skip-permissions'], env: { IS_SANDBOX: '1' } },
    screen: /Bypass Permissions mode/,
    finding: /warning about that has not been accepted/,
  },
  {
    harness: 'codex',
    asks: 'whether a repository is trusted',
    prepare: ({ project_dir, home }) => {
      execFileSync('git', ['init', '-q', project_dir]);
      rewriteCodex(home, (text) => text.replace(/\[projects[\s\S]*$/, ''));
    },
    screen: /trust/i,
    finding: /whether to trust the repository/,
  },
  {
    harness: 'codex',
    asks: 'for a login',
    prepare: ({ home }) => rmSync(join(home, '.codex', 'config.toml')),
    screen: /Sign in/i,
    finding: /no login/,
  },
  {
    harness: 'codex',
    asks: 'for hooks to be reviewed',
    prepare: ({ home }) => {
      const hooks = { Stop: [{ hooks: [{ type: 'command', command: '/bin/true' }] }] };
      writeFileSync(join(home, '.codex', 'hooks.json'), JSON.stringify({ hooks }));
    },
    screen: /hooks? need review/i,
    finding: /nobody has reviewed/,
  },
  {
    harness: 'pi',
    asks: 'whether a folder with settings of its own is trusted',
    prepare: ({ project_dir }) => {
      mkdirSync(join(project_dir, '.pi'));
      writeFileSync(join(project_dir, '.pi', 'settings.json'), '{}');
    },
    screen: /Trust project folder/,
    finding: /would ask whether to trust it/,
  },
];

it.each(DIALOGS)('the check predicts that the real $harness asks $asks', async (dialog) => {
  harness = await startRealHarness(dialog.harness, dialog);
  const { adapter, agent, project_dir } = harness;
  const findings = await adapter.checkFirstRun({ agent, project_dir });
  expect(findings.filter(({ severity }) => severity === 'error').map(({ what }) => what)).toEqual([
    expect.stringMatching(dialog.finding),
  ]);
  const { session_name } = await harness.launch('Run: EATEN', 'EATEN');
  const screen = () => harness!.tmux('capture-pane', '-p', '-t', `=${session_name}:`);
  await expect.poll(screen, { timeout: 30_000 }).toMatch(dialog.screen);
  expect(harness.stub.requests).toEqual([]);
});

it('the check knows that the real claude trusts a folder below a trusted one', async () => {
  harness = await startRealHarness('claude', {
    project: 'above/below',
    prepare: rewriteClaude((state, project_dir) => {
      state.projects = { [dirname(project_dir)]: { hasTrustDialogAccepted: true } };
    }),
  });
  expect(await harness.adapter.checkFirstRun(harness)).toEqual([]);
  const launched = await harness.launch('Run: STRAIGHT', 'STRAIGHT');
  await harness.transcript(launched, (text) => text.includes('STRAIGHT'));
});

it('the check knows that the real claude trusts a git worktree of a trusted repository', async () => {
  harness = await startRealHarness('claude', {
    prepare: ({ home, project_dir }) => {
      const repo = join(dirname(project_dir), 'repo');
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-C', repo, ...args]);
      mkdirSync(repo);
      git('init', '-q');
      git('commit', '-q', '--allow-empty', '-m', 'First');
      rmSync(project_dir, { recursive: true });
      git('worktree', 'add', '-q', '-b', 'fiber/task', project_dir);
      rewriteClaude((state) => {
        state.projects = { [repo]: { hasTrustDialogAccepted: true } };
      })({ home, project_dir });
    },
  });
  expect(await harness.adapter.checkFirstRun(harness)).toEqual([]);
  const launched = await harness.launch('Run: STRAIGHT', 'STRAIGHT');
  await harness.transcript(launched, (text) => text.includes('STRAIGHT'));
});

it('the check knows that the real claude refuses to bypass permissions as root', async (context) => {
  if (process.getuid?.() !== 0) context.skip('only root is refused');
  harness = await startRealHarness('claude', { agent: { args: ['--dangerously-skip-permissions'] } });
  const { adapter, agent, project_dir } = harness;
  const findings = await adapter.checkFirstRun({ agent, project_dir });
  expect(findings.map(({ what }) => what)).toContainEqual(expect.stringMatching(/refuses that as root/));
  const { session_name } = await harness.launch('Run: REFUSED', 'REFUSED');
  const isGone = () =>
    harness!.tmux('has-session', '-t', `=${session_name}`).then(
      () => false,
      () => true,
    );
  await expect.poll(isGone, { timeout: 30_000 }).toBe(true);
});

function rewriteCodex(home: string, change: (text: string) => string): void {
  const file = join(home, '.codex', 'config.toml');
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}
