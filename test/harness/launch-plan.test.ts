import { describe, expect, it } from 'vitest';
import { type LaunchRequest, pointerTo } from '../../src/harness/adapter.ts';
import { createAdapters } from '../../src/harness/adapters.ts';
import { agentOf } from './fixture-homes.ts';

const adapters = (choosesSessionId: boolean) =>
  createAdapters({
    env: {},
    uid: 1000,
    capabilities: { choosesSessionId: () => choosesSessionId, probe: async () => undefined },
  });
const request: Omit<LaunchRequest, 'agent'> = {
  effort: 'high',
  session_uuid: 'new-id',
  resume: null,
  project_dir: '/srv/p',
  session_name: 'loader-01K-svc',
  run_dir: '/runs/1',
  prompt_file: '/runs/1/prompt.md',
};

const POINTER = pointerTo('/runs/1/prompt.md');

describe('the command line of', () => {
  it('claude names the session, its id, the model and the effort', () => {
    const agent = agentOf('claude', { model: 'opus' });
    const { claude } = adapters(true);
    expect(claude.planLaunch({ ...request, agent })).toEqual({
      argv: [
        ...['claude', '--permission-mode', 'auto'],
        ...['--allowedTools', 'Bash(svc handoff:*)', 'Bash(svc fiber:*)'],
        ...['Bash(svc send:*)', 'Bash(svc peers:*)', 'Bash(svc inbox:*)'],
        ...['--session-id', 'new-id', '--name', 'loader-01K-svc'],
        ...['--model', 'opus', '--effort', 'high'],
      ],
      prompt_on_stdin: true,
      env: {},
      session_uuid: 'new-id',
      files: [],
    });
    expect(claude.planLaunch({ ...request, agent, resume: 'old' }).argv).toContain('--resume');
    const arming = ['Bash(svc claim:*)', 'Bash(svc install:*)'];
    expect(claude.planLaunch({ ...request, agent }).argv).not.toEqual(expect.arrayContaining(arming));
    expect(claude.planLaunch({ ...request, agent, capture: true }).argv).toEqual(
      expect.arrayContaining(arming),
    );
    expect(claude.resumeArgv(agent, 'old')).toEqual([
      ...['claude', '--permission-mode', 'auto', '--model', 'opus', '--resume', 'old'],
    ]);
  });

  it('codex runs in this process alone, asks nothing, and its id must be learned', () => {
    const agent = agentOf('codex', { model: 'gpt' });
    const { codex } = adapters(false);
    const settings = [
      'features.daemon_auto_start=false',
      'check_for_update_on_startup=false',
      'allow_login_shell=false',
    ];
    const every = settings.flatMap((setting) => ['-c', setting]);
    const start = ['codex', '-a', 'never', '-s', 'danger-full-access', ...every];
    expect(codex.planLaunch({ ...request, agent })).toEqual({
      argv: [...start, '-C', '/srv/p', '-m', 'gpt', '-c', 'model_reasoning_effort="high"', POINTER],
      prompt_on_stdin: false,
      env: {},
      session_uuid: null,
      files: [],
    });
    expect(codex.planLaunch({ ...request, agent, resume: 'old' }).argv.slice(-3)).toEqual([
      'resume',
      'old',
      POINTER,
    ]);
    expect(codex.resumeArgv(agent, 'old')).toEqual([...start, '-m', 'gpt', 'resume', 'old']);
  });

  it('pi gets the id if it accepts one', () => {
    const agent = agentOf('pi', { model: 'a/b' });
    const { pi } = adapters(true);
    expect(pi.planLaunch({ ...request, agent })).toMatchObject({
      argv: [
        ...['pi', '--session-id', 'new-id', '--name', 'loader-01K-svc'],
        ...['--model', 'a/b', '--thinking', 'high', '@/runs/1/prompt.md'],
      ],
      session_uuid: 'new-id',
    });
    expect(pi.resumeArgv(agent, 'old')).toEqual(['pi', '--model', 'a/b', '--session', 'old']);
  });

  it('an older pi gets none, and its id must be learned', () => {
    const plan = adapters(false).pi.planLaunch({ ...request, agent: agentOf('pi') });
    expect(plan).toMatchObject({
      argv: ['pi', '--thinking', 'high', '@/runs/1/prompt.md'],
      session_uuid: null,
    });
  });
});
