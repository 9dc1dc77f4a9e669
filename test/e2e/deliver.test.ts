import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestDaemon, type TestDaemon } from '../kit/daemon.ts';
import type { Json } from '../kit/http.ts';
import { launchesOf } from '../kit/launches.ts';
import { TEST_HOST } from '../kit/test-home.ts';

const SENDER = `svc://${TEST_HOST}/claude/00000000-0000-4000-8000-000000000000`;
const KINDS = ['oneshot', 'pinned', 'standing'] as const;

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon({
    prepare: (home) => {
      for (const kind of KINDS)
        home.fiber(kind, {
          agent: 'talks',
          front: { status: 'open' },
          svc: { kind, ...(kind === 'standing' ? { schedule: '0 0 1 1 *' } : {}) },
        });
    },
  });
});
afterAll(() => daemon.dispose());

async function deliver(fiber_id: string, more: Json = {}): Promise<Json> {
  const { status, body } = await daemon.http.post('/deliver', { fiber_id, text: 'One more thing.', ...more });
  expect([status, body]).toEqual([200, body]);
  return body;
}

const sessionOf = async (id: string) => (await daemon.running(id)).runtime.session_uuid;
const promptOf = (id: string) => launchesOf(daemon.home.data, id).at(-1)!.prompt;

/** Parks the fiber, so that nothing but a delivery starts its next worker, and ends its worker. */
async function end(id: string, how: () => Promise<unknown>): Promise<void> {
  expect((await daemon.home.svc('fiber', 'edit', id, '--status', 'open')).code).toBe(0);
  await how();
  await daemon.rowWhen(id, 'without a worker', ({ runtime }) => runtime === undefined);
}
const kill = (id: string) => end(id, async () => process.kill(await daemon.agentPid(id), 'SIGKILL'));
const handOff = (id: string) =>
  end(id, async () => daemon.home.write(join('projects', id, 'orders'), 'svc handoff\n'));

describe.each(KINDS)('a text for a %s fiber', (kind) => {
  it('[RES-7] [WPL-10] starts a conversation, goes on with it, and starts another one after a handoff', async () => {
    const first = await deliver(kind, { from: SENDER });
    expect(first).toMatchObject({ delivered: true, delivery: 'dispatch', dispatched: true });
    const session = await sessionOf(kind);
    expect(promptOf(kind)).toMatch(
      new RegExp(
        `From User:\n\\[message \\(ends with (\\w+)\\) from ${SENDER}\\]\nOne more thing.\n\\[\\1 to answer, run: svc send ${SENDER} -\\]`,
      ),
    );

    await kill(kind);
    const second = await deliver(kind, { from: 'ada' });
    expect(second).toMatchObject({ delivered: true, delivery: 'resume', session_uuid: session });
    expect(await sessionOf(kind)).toBe(session);
    expect(promptOf(kind)).toMatch(
      /^Mode: resume$[\s\S]*From User:\n\[message \(ends with (\w+)\) from ada\]\nOne more thing\.\n\[\1 end of message\]/m,
    );

    await handOff(kind);
    expect(await deliver(kind)).toMatchObject({ delivered: true, delivery: 'dispatch' });
    expect(await sessionOf(kind)).not.toBe(session);
    expect(promptOf(kind)).toContain(`Previous session: ${session} (claude)`);
    expect(promptOf(kind)).toMatch(/From User:\nOne more thing\.$/);

    const last = await deliver(kind, { text: 'And this.' });
    expect(last).toMatchObject({
      delivery: 'message',
      receipt: { address: `svc://${TEST_HOST}/claude/${await sessionOf(kind)}`, transport: 'held' },
    });
    expect(launchesOf(daemon.home.data, kind)).toHaveLength(3);
  });
});
