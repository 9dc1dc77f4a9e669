import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { declareRow, NO_PROCESS } from '../../src/cli/command-line/commander.ts';
import { LIFECYCLE } from '../../src/cli/verbs/lifecycle.ts';
import { LIFECYCLE_ACTIONS, type LifecycleRequest } from '../../src/contract/http/lifecycle.ts';
import { lifecycleArgv } from '../../src/lifecycle/command-line.ts';

const shape = {
  project_dir: '/srv/a b',
  agent: '-x',
  effort: 'high',
  host: 'host-b',
  surface: 'app',
} as const;
const REQUESTS: LifecycleRequest[] = [
  { action: 'install', fiber: 'a', ...shape },
  { action: 'pin', fiber: 'a', ...shape },
  { action: 'repeat', fiber: 'a', schedule: '0 9 * * *', tz: 'UTC', ...shape },
  { action: 'reshape', fiber: 'a', kind: 'standing', schedule: '@daily', ...shape },
  { action: 'pause', fiber: '-a', store: '/s', kill: true },
  { action: 'resume', fiber: 'a' },
  { action: 'accept', fiber: 'a', outcome: '--done=yes' },
  { action: 'set-model', fiber: 'a', model: 'm', effort: null },
  { action: 'set-agent', fiber: 'a', agent: 'm', effort: 'low' },
  { action: 'set-outcome', fiber: 'a', outcome: '-- Done; "all" $(of) it' },
  { action: 'uninstall', fiber: 'a', kill: false },
  { action: 'close', fiber: 'a', outcome: 'x', kill: true },
  { action: 'reopen', fiber: 'a' },
];

describe('the command line of a lifecycle request', () => {
  it('[WPL-3] is tested for every verb', () => {
    expect(REQUESTS.map(({ action }) => action).sort()).toEqual([...LIFECYCLE_ACTIONS].sort());
  });

  it.each(REQUESTS)('[WPL-3] is accepted by svc, with every field: $action', async (request) => {
    const [name, ...args] = lifecycleArgv(request);
    const command = new Command(name).exitOverride();
    await declareRow(command, async () => LIFECYCLE[request.action], NO_PROCESS);
    let seen: unknown[] = [];
    command.action((...given: unknown[]) => {
      seen = given;
    });
    await command.parseAsync(args, { from: 'user' });
    const { action: _action, fiber, origin: _origin, ...fields } = request;
    const words = command.processedArgs;
    expect(seen[0]).toBe(fiber);
    expect(command.opts().local).toBe(true);
    for (const [field, value] of Object.entries(fields)) {
      const option = field.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      if (value === false) expect(command.opts()[option]).toBeUndefined();
      else if (value === null) expect(command.opts().defaultEffort).toBe(true);
      else expect([command.opts()[option], words[1]]).toContain(value);
    }
  });
});
