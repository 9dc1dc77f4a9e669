import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { FiberRow } from '../../src/contract/fiber.ts';
import { HARNESS_NAMES, type HarnessName } from '../../src/contract/harness-name.ts';
import { agreeWithPages } from './agree.ts';
import { ASKS_QUESTION, CODEX_ASKS, DIALOG, QUESTION, writeAskingSettings } from './dialogs.ts';
import { AGENT_IDS, type DaemonOptions, type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

/** A person’s own settings with which each program shows a dialog before a command, or asks a question. */
const asking = (name: HarnessName): DaemonOptions => ({
  prepare: ({ home, root }) => {
    writeAskingSettings(name, home);
    if (name !== 'codex') return undefined;
    const asks = { id: 'codex', harness: 'codex', cli: 'codex', args: CODEX_ASKS };
    writeFileSync(join(root, 'config', 'agents.json'), JSON.stringify({ builtins: 'layer', agents: [asks] }));
    return undefined;
  },
});

/** How full its context is may be read a moment later than its phase. */
const isWaiting = ({ runtime }: FiberRow) => runtime?.phase === 'waiting' && runtime.context !== null;

describe.each(HARNESS_NAMES)('a worker of the real %s that waits for a person', (name) => {
  it('[P16] [LIF-2] [OPR-2] is told of with its question, its age and its source, through a restart, until it is answered', async () => {
    daemon = await startRealDaemon(name, asking(name));
    const one = daemon;
    const { step, said } = DIALOG[name];
    const questions = name === 'claude' ? [ASKS_QUESTION] : [];
    one.stub.script({ match: 'Fiber: asks', steps: [step, ...questions, { text: 'Shall I go on?' }] });
    await one.svc('setup', name);
    await one.arm('asks');
    await one.release();
    const began = Date.now();
    const waits = await one.rowWhere('asks', isWaiting);
    expect(waits.runtime).toMatchObject({ phase: 'waiting', phase_source: 'hook', said });
    expect(waits.runtime!.phase_since).toBeGreaterThan(began - 5_000);
    const why = await one.svc('why', 'asks');
    expect(why).toMatch(
      /: its worker waits for an answer since [^,]+, it says: (asks to run: touch asked\.|Which way\?)\n/,
    );
    expect(why).toContain('What to do: answer it: `svc attach asks`.');
    await agreeWithPages(one);

    await one.killAndRestart();
    const still = await one.rowWhere('asks', isWaiting);
    expect(still.runtime).toEqual({ ...waits.runtime, last_activity_at: expect.any(Number) });
    await agreeWithPages(one);

    const enter = () => one.tmux('send-keys', '-t', `=${waits.runtime!.mux_session}:`, 'Enter');
    await enter();
    if (questions.length > 0) {
      await one.rowWhere('asks', ({ runtime }) => runtime?.phase === 'waiting' && runtime.said === QUESTION);
      // A question that the agent's own rules answer by themselves is no need, so that status waits for it to stay.
      await expect.poll(() => one.svc('status'), { timeout: WITHIN_MS }).toContain(`asks: ${QUESTION}`);
      await enter();
    }
    // The transcript may tell of the end of the turn before the hook does.
    const idle = await one.rowWhere(
      'asks',
      ({ runtime }) => runtime?.phase === 'idle' && runtime.phase_source === 'hook',
    );
    expect(idle.runtime).toMatchObject({ said: 'Shall I go on?' });
    await agreeWithPages(one);
    expect(one.launches().map(({ agent }) => agent)).toEqual([AGENT_IDS[name]]);
  });
});
