import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { AGENT_IDS, type DaemonOptions, type RealDaemon, startRealDaemon } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const WITHIN = { timeout: 60_000, interval: 200 };
const DIALOG = 'Do you want to proceed?';

/** Claude Code asks before each command that is not allowed. */
const ASKING: DaemonOptions = {
  prepare: ({ root }) => {
    const agent = {
      id: AGENT_IDS.claude,
      ...{ harness: 'claude', cli: 'claude', model: 'sonnet', args: ['--permission-mode', 'default'] },
    };
    const registry = { builtins: 'layer', agents: [agent] };
    writeFileSync(join(root, 'config', 'agents.json'), JSON.stringify(registry));
    return undefined;
  },
};

it('a worker of the real claude writes to another one and is answered, without a dialog', async () => {
  daemon = await startRealDaemon('claude', ASKING);
  const one = daemon;
  one.stub.script({ match: 'Fiber: ', steps: [{ text: 'Ready.' }] });
  for (const name of ['asks', 'answers']) await one.arm(name);
  await one.release();
  const [asks, answers] = [await listening(one, 'asks'), await listening(one, 'answers')];
  one.stub.script({
    match: 'Please ask the other one.',
    steps: [{ shell: `svc peers` }, { shell: `svc send answers 'Which port is it?'` }, { text: 'Asked.' }],
  });
  // As the line below the message says.
  const answer = `svc send ${asks.address} - <<'EOF'\nIt's port 4000.\nNo other.\nEOF`;
  one.stub.script({ match: 'Which port is it?', steps: [{ shell: answer }, { text: 'Answered.' }] });
  await one.svc('send', 'asks', 'Please ask the other one.');

  await expect
    .poll(() => one.transcriptOf(answers.session), WITHIN)
    .toMatch(
      new RegExp(
        `\\[message (\\S+) \\(ends with (\\w+)\\) from ${asks.address}\\]\\\\nWhich port is it\\?\\\\n\\[\\2 to answer message \\1, run: svc send ${asks.address} -\\]`,
      ),
    );
  await expect
    .poll(() => one.transcriptOf(asks.session), WITHIN)
    .toMatch(
      new RegExp(
        `from ${answers.address}\\]\\\\nIt's port 4000.\\\\nNo other.\\\\n\\[\\w+ to answer message `,
      ),
    );
  for (const { mux } of [asks, answers]) expect(await one.screen(mux)).not.toContain(DIALOG);

  one.stub.script({ match: 'Please touch it.', steps: [{ shell: 'touch asked' }] });
  await one.svc('send', 'answers', 'Please touch it.');
  await expect.poll(() => one.screen(answers.mux), WITHIN).toContain(DIALOG);
});

/** A worker that has said that it is ready. */
async function listening(one: RealDaemon, fiber: string) {
  const { runtime } = await one.rowWhere(fiber, (row) => row.runtime?.session_uuid != null);
  const [session, mux] = [runtime!.session_uuid!, runtime!.mux_session!];
  await expect.poll(() => one.transcriptOf(session).catch(() => ''), WITHIN).toContain('Ready.');
  return { session, mux, address: `svc://test-host/claude/${session}` };
}
