import { describe, expect, it } from 'vitest';
import { harnessFolder, setupCommand } from '../../src/harness/harnesses.ts';

describe('the command that sets up an agent', () => {
  it('names the folder of an agent that has one of its own, and no other', () => {
    const base = { HOME: '/home/ada', CLAUDE_CONFIG_DIR: '/srv/ada' };
    const own = { harness: 'claude', env: { CLAUDE_CONFIG_DIR: '/srv/the team' } } as const;
    expect(setupCommand({ ...own, env: {} }, base)).toBe('svc setup claude');
    expect(setupCommand({ ...own, env: { CLAUDE_CONFIG_DIR: '/srv/ada' } }, base)).toBe('svc setup claude');
    expect(setupCommand(own, base)).toBe("CLAUDE_CONFIG_DIR='/srv/the team' svc setup claude");
  });

  it.each(['claude', 'codex', 'pi'] as const)('sets up the folder that the agent uses, for %s', (harness) => {
    const agent = { harness, env: { HOME: '/home/bob' } };
    const [, variable = '', folder = ''] = /^(\w+)=(\S+) svc setup/.exec(setupCommand(agent, {})) ?? [];
    expect(folder).toBe(harnessFolder(agent, {}));
    expect(harnessFolder({ harness, env: {} }, { [variable]: folder })).toBe(folder);
  });
});
