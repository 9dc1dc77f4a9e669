import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES, type HarnessName } from '../../src/contract/harness-name.ts';
import type { Step } from '../kit/stub-model/script.ts';
import { agreeWithPages } from './agree.ts';
import { AGENT_IDS, type DaemonOptions, type RealDaemon, startRealDaemon } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

/** Pi asks only where an extension does. */
const PI_ASKS = `
export default function (pi) {
  pi.registerTool({
    name: 'AskPerson',
    label: 'Ask',
    description: 'Ask the person',
    parameters: { type: 'object', properties: {} },
    execute: async (_id, _input, _signal, _update, ctx) => {
      const answer = await ctx.ui.select('Which way?', ['left', 'right']);
      return { content: [{ type: 'text', text: String(answer) }], details: {} };
    },
  });
}
`;

/** A person’s own settings with which each program shows a dialog before a command, or asks a question. */
const SURROUNDINGS: Record<HarnessName, DaemonOptions> = {
  claude: {
    prepare: ({ home }) => {
      mkdirSync(join(home, '.claude'), { recursive: true });
      const settings = { permissions: { ask: ['Bash(touch asked)'] } };
      writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(settings));
      return undefined;
    },
  },
  codex: {
    prepare: ({ root }) => {
      const asks = {
        id: 'codex',
        harness: 'codex',
        cli: 'codex',
        args: ['-a', 'on-request', '-s', 'workspace-write'],
      };
      writeFileSync(
        join(root, 'config', 'agents.json'),
        JSON.stringify({ builtins: 'layer', agents: [asks] }),
      );
      return undefined;
    },
  },
  pi: {
    prepare: ({ home }) => {
      mkdirSync(join(home, '.pi', 'agent', 'extensions'), { recursive: true });
      writeFileSync(join(home, '.pi', 'agent', 'extensions', 'ask.ts'), PI_ASKS);
      return undefined;
    },
  },
};

const DIALOG: Record<HarnessName, { step: Step; said: string }> = {
  claude: { step: { shell: 'touch asked' }, said: 'asks to use Bash' },
  codex: {
    step: {
      tool: 'exec_command',
      input: { cmd: 'touch asked', sandbox_permissions: 'require_escalated', justification: 'May I?' },
    },
    said: 'asks to use Bash',
  },
  pi: { step: { tool: 'AskPerson', input: {} }, said: 'Which way?' },
};

describe.each(HARNESS_NAMES)('a worker of the real %s that waits for a person', (name) => {
  it('[P16] [LIF-2] [OPR-2] is told of with its question, its age and its source, through a restart, until it is answered', async () => {
    daemon = await startRealDaemon(name, SURROUNDINGS[name]);
    const one = daemon;
    const { step, said } = DIALOG[name];
    one.stub.script({ match: 'Fiber: asks', steps: [step, { text: 'Shall I go on?' }] });
    await one.svc('setup', name);
    await one.arm('asks');
    await one.release();
    const began = Date.now();
    const waits = await one.rowWhere('asks', ({ runtime }) => runtime?.phase === 'waiting');
    expect(waits.runtime).toMatchObject({ phase: 'waiting', phase_source: 'hook', said });
    expect(waits.runtime!.phase_since).toBeGreaterThan(began - 5_000);
    const why = await one.svc('why', 'asks');
    expect(why).toMatch(
      /: its worker waits for an answer since \S+Z, it says: (asks to use Bash|Which way\?)\.\n/,
    );
    expect(why).toContain('What to do: answer it: `svc attach asks`.');
    await agreeWithPages(one);

    await one.killAndRestart();
    const still = await one.rowWhere('asks', ({ runtime }) => runtime?.phase === 'waiting');
    expect(still.runtime).toEqual({ ...waits.runtime, last_activity_at: expect.any(Number) });
    await agreeWithPages(one);

    await one.tmux('send-keys', '-t', `=${waits.runtime!.mux_session}:`, 'Enter');
    const idle = await one.rowWhere('asks', ({ runtime }) => runtime?.phase === 'idle');
    expect(idle.runtime).toMatchObject({ phase_source: 'hook', said: 'Shall I go on?' });
    await agreeWithPages(one);
    expect(one.launches().map(({ agent }) => agent)).toEqual([AGENT_IDS[name]]);
  });
});
