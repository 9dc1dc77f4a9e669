import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import type { ModelRequest } from '../kit/stub-model/stub-model.ts';
import { isAlive } from './processes.ts';
import { type LaunchOnDisk, type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const RESUMED = /^Mode: resume$/m;
const FRESH_AGAIN = /^Previous session: /m;
const isSleep = (process: string) => process.endsWith(' sleep 600');
/** A message of the past comes back with another end of line. */
const says = (request: ModelRequest, text: string) =>
  request.turns.some((turn) => turn.from === 'user' && turn.text.trimEnd() === text);

/** The agent is gone in the middle of its work, and what it had started with it. */
function die(one: RealDaemon, launch: LaunchOnDisk): void {
  const left = one
    .processesOf(launch)
    .filter(isSleep)
    .map((line) => Number.parseInt(line, 10));
  process.kill(one.agentPid(launch), 'SIGKILL');
  for (const pid of left.filter(isAlive)) process.kill(pid, 'SIGKILL');
}

describe.each(HARNESS_NAMES)('a conversation of the real %s', (name) => {
  it('[RES-1] [RES-2] [RES-3] [PRM-3] [LIF-7] is resumed in its own session after an interruption, and is over after a handoff', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    one.stub.script({ match: FRESH_AGAIN, steps: [{ text: 'and on' }] });
    one.stub.script({ match: RESUMED, steps: [{ shell: 'svc handoff' }, { text: 'too late' }] });
    one.stub.script({
      match: 'Fiber: cut',
      steps: [{ shell: `echo > ${join(one.project_dir, 'begun')}; sleep 600` }, { text: 'too late' }],
    });
    await one.arm('cut');
    await one.release();
    const first = await one.launch(0);
    await expect.poll(() => one.processesOf(first).some(isSleep), { timeout: WITHIN_MS }).toBe(true);
    const running = await one.rowWhere('cut', ({ runtime }) => runtime?.state === 'running');
    const session_uuid = running.runtime!.session_uuid!;
    const before = await one.transcriptOf(session_uuid);
    die(one, first);

    const second = await one.launch(1);
    expect(second.resume).toMatchObject({ session_uuid });
    expect(second.prompt.split('\n')).toContain('Mode: resume');
    expect(second.prompt).not.toMatch(FRESH_AGAIN);
    // The model is told the earlier conversation and what this launch says.
    await one.stub.waitFor(
      (request) => says(request, second.prompt) && says(request, first.prompt),
      WITHIN_MS,
    );
    const resumed = one
      .ledger()
      .filter(({ run_id, kind }) => run_id === second.run_id && kind !== 'ended')
      .map(({ kind, session, resumed }) => ({ kind, session, resumed }));
    expect(resumed).toEqual([{ kind: 'dispatch', session: session_uuid, resumed: true }]);

    const third = await one.launch(2);
    expect(await one.endOf(second)).toBe('handoff');
    expect(await one.transcriptOf(session_uuid)).toContain(second.run_id);
    expect((await one.transcriptOf(session_uuid)).startsWith(before.slice(0, 200))).toBe(true);
    expect(third.resume).toBeUndefined();
    expect(third.prompt.split('\n')).toContain(`Previous session: ${session_uuid} (${name})`);
    await one.stub.waitFor((request) => says(request, third.prompt), WITHIN_MS);
    const again = await one.rowWhere(
      'cut',
      ({ runtime }) => runtime?.run_id === third.run_id && runtime.state === 'running',
    );
    expect(again.runtime!.session_uuid).not.toBe(session_uuid);
  });

  it('[P7] [RES-3] that cannot be opened is followed by one fresh start, whose message says so', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    one.stub.script({ match: FRESH_AGAIN, steps: [{ text: 'and on' }] });
    one.stub.script({ match: 'Fiber: cut', steps: [{ shell: 'echo works; sleep 600' }] });
    await one.arm('cut');
    await one.release();
    const first = await one.launch(0);
    await expect.poll(() => one.processesOf(first).some(isSleep), { timeout: WITHIN_MS }).toBe(true);
    const running = await one.rowWhere('cut', ({ runtime }) => runtime?.state === 'running');
    const session_uuid = running.runtime!.session_uuid!;
    await one.svc('kill', 'cut', '--yes');
    const path = await one.transcriptPathOf(session_uuid);
    writeFileSync(path, 'What a disk leaves of a conversation.\n');

    await one.svc('dispatch', 'cut', '--message', 'Go on.');
    const second = await one.launch(1);
    expect(second.resume).toMatchObject({ session_uuid });
    const third = await one.launch(2);
    expect(third.resume).toBeUndefined();
    expect(third.prompt.split('\n')).toContain(
      `Previous session: ${session_uuid} (${name}); it ended without a handoff and is not resumed; transcript: ${path}`,
    );
    expect(third.prompt).toMatch(/^From User:\nGo on\.$/m);
    await one.stub.waitFor((request) => says(request, third.prompt), WITHIN_MS);
    await one.rowWhere(
      'cut',
      ({ runtime }) => runtime?.run_id === third.run_id && runtime.state === 'running',
    );
    expect(one.launches()).toHaveLength(3);
  });
});
