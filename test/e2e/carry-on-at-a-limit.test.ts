import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectFolder } from '../../src/harness/claude/transcript.ts';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import { launchesOf } from '../kit/launches.ts';
import { AGENTS_FOLDER } from '../kit/test-home.ts';
import { until } from '../kit/until.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    prepare: (home) => {
      const agent = { harness: 'claude', cli: join(AGENTS_FOLDER, 'stays.sh'), effort_levels: [] };
      home.write('config/agents.json', {
        version: 1,
        builtins: 'restrict',
        agents: [
          { ...agent, id: 'stays', default: true, env: { CLAUDE_CONFIG_DIR: home.claude } },
          // Of another account, which has its login in another folder.
          { ...agent, id: 'takes-over', env: { CLAUDE_CONFIG_DIR: home.path('another-account') } },
        ],
      });
      home.fiber('parser', { agent: 'stays' });
    },
  });
});
afterAll(() => daemon.dispose());

/** Its agent writes into its transcript what Claude Code writes at a usage limit. */
function meetsLimit(session: string): void {
  const folder = join(daemon.home.claude, 'projects', projectFolder(daemon.home.project('parser')));
  const text = "You've hit your session limit · resets 8pm (UTC)";
  const record = {
    ...{ type: 'assistant', sessionId: session, isApiErrorMessage: true },
    ...{
      timestamp: new Date().toISOString(),
      message: { role: 'assistant', content: [{ type: 'text', text }] },
    },
  };
  appendFileSync(join(folder, `${session}.jsonl`), `${JSON.stringify(record)}\n`);
}

describe('svc dispatch --because-limit', () => {
  it('[P10] [WPL-1] hands over from a worker at its limit to exactly one of the agent that is named', async () => {
    const { home } = daemon;
    const handOver = (...more: string[]) =>
      home.svc('dispatch', 'parser', '--agent', 'takes-over', '--because-limit', ...more);
    const { runtime } = await daemon.running('parser');
    const session = runtime.session_uuid ?? '';
    expect(await handOver()).toMatchObject({
      ...{ code: 1, stdout: '' },
      stderr: expect.stringContaining('over no usage limit'),
    });
    meetsLimit(session);
    const shown = await until(
      'the limit being known',
      async () => {
        const ran = await handOver('--dry-run');
        return ran.code === 0 ? ran.stdout : undefined;
      },
      60_000,
    );
    expect(shown).toContain('start takes-over for parser');
    expect(shown.split('\nPrompt\n')[1]).toContain(session);
    expect(launchesOf(home.data, 'parser')).toHaveLength(1);

    // Two people at once, and one who comes later.
    const ran = await Promise.all([handOver(), handOver()]);
    expect(ran.map(({ stdout }) => stdout).join('')).toContain('parser started: takes-over\n');
    const { runtime: next } = await daemon.running('parser');
    expect(next).toMatchObject({ agent: 'takes-over' });
    expect(await handOver()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('over no usage limit'),
    });
    await daemon.ticks(3);
    const launches = launchesOf(home.data, 'parser');
    expect(launches.map(({ manifest }) => manifest.agent)).toHaveLength(2);
    expect(launches.at(-1)!.prompt).toContain(session);
    expect((await home.sessions()).filter((name) => name.startsWith('parser-'))).toEqual([next.mux_session]);
    expect(readFileSync(home.documentPath('parser'), 'utf8')).toMatch(/^ {2}agent: takes-over$/m);
  });
});
