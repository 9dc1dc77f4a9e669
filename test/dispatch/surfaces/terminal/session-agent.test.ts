import { describe, expect, it } from 'vitest';
import { agentOfCommand } from '../../../../src/dispatch/surfaces/terminal/session-agent.ts';
import { builtinAgents } from '../../../../src/harness/agents/builtin-agents.ts';

const agents = builtinAgents();

describe('the agent that a command line runs', () => {
  it.each<[string | null, string[]]>([
    ['claude-sonnet', ['claude', '--permission-mode', 'auto']],
    ['claude-sonnet', ['/usr/local/bin/claude']],
    ['claude-sonnet', ['node', '/usr/local/bin/claude', '--resume']],
    ['claude-sonnet', ['/usr/bin/node', '--no-warnings', '/opt/claude']],
    ['codex', ['/opt/vendor/x86_64/codex/codex', '-a', 'never']],
    ['pi', ['pi']],
    ['pi', ['-pi']],
    [null, ['vim', '/usr/local/bin/claude']],
    [null, ['less', 'codex']],
    [null, ['/bin/bash']],
    [null, ['-bash']],
    [null, ['node']],
    [null, ['node', '--version']],
    [null, ['grep', 'pi']],
    [null, []],
  ])('[WPL-5] is %s for %j', (id, argv) => {
    expect(agentOfCommand(argv, agents, undefined)?.id ?? null).toBe(id);
  });

  it('[WPL-5] is the fiber’s own where several run the same program', () => {
    expect(agentOfCommand(['claude'], agents, 'claude-opus')?.id).toBe('claude-opus');
    expect(agentOfCommand(['codex'], agents, 'claude-opus')?.id).toBe('codex');
  });
});
