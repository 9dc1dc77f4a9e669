import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { type Receipt, receiptSchema } from '../../src/contract/http/messages.ts';
import { CONTEXT_LIMITS } from '../../src/harness/hooks/context-mailbox.cjs';
import { type RealDaemon, startRealDaemon } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const WITHIN = { timeout: 60_000, interval: 100 };

/** An idle worker of the fiber `listens` with our hooks, and how it is written to. */
async function listening(one: RealDaemon) {
  one.stub.script({ match: 'Fiber: listens', steps: [{ text: 'Ready.' }] });
  one.stub.script({ match: 'Please', steps: [{ text: 'Understood.' }] });
  await one.arm('listens');
  await one.release();
  const row = await one.rowWhere('listens', ({ runtime }) => runtime?.session_uuid != null);
  const { session_uuid } = row.runtime!;
  await expect.poll(() => one.transcriptOf(session_uuid!).catch(() => ''), WITHIN).toContain('Ready.');
  const send = async (id: string, text: string, ...options: string[]): Promise<Receipt> =>
    receiptSchema.parse(JSON.parse(await one.svc('send', 'listens', text, '--id', id, ...options, '--json')));
  return { session: session_uuid!, mux: row.runtime!.mux_session!, send };
}

/** How often a message is in the conversation as context. */
async function timesAdded(one: RealDaemon, session: string, id: string): Promise<number> {
  const lines = (await one.transcriptOf(session))
    .split('\n')
    .filter((line) => line.includes(`[message ${id} from `));
  return lines.filter((line) =>
    /"hook_additional_context"|"role":"developer"|"type":"custom_message"/.test(line),
  ).length;
}

describe.each(HARNESS_NAMES)('context for a worker of the real %s', (name) => {
  it('[MSG-2] [MDS-1] is read once with the next turn, starts none, and needs no daemon', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    const early = await one.svcMayFail('setup', name);
    expect(early.code).toBe(0);
    const { session, send } = await listening(one);
    const before = await one.transcriptOf(session);
    const longest = 'x'.repeat(CONTEXT_LIMITS.output_bytes - 400);
    expect(await send('c-1', `The tests are slow today. ${longest}`, '--context')).toMatchObject({
      status: 'queued',
      transport: 'hook-mailbox',
    });
    expect(await one.transcriptOf(session)).toBe(before);
    await send('m-1', 'Please look at the last commit.', '--wait', 'accepted');
    expect(await timesAdded(one, session, 'c-1')).toBe(1);
    expect(await send('c-1', `The tests are slow today. ${longest}`, '--context')).toMatchObject({
      status: 'context_added',
      transport: 'hook-mailbox',
    });
    await send('m-2', 'Please look again.', '--wait', 'accepted');
    expect(await timesAdded(one, session, 'c-1')).toBe(1);
    expect(one.stub.requests.at(-1)!.body.split('The tests are slow today.')).toHaveLength(2);
    expect(one.stub.requests.at(-1)!.body).toContain(longest);
  });
});
