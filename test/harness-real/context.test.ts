import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { type Receipt, receiptSchema } from '../../src/contract/http/messages.ts';
import { CONTEXT_LIMITS } from '../../src/harness/hooks/context-mailbox.cjs';
import { until } from '../kit/until.ts';
import { listening } from './listening-worker.ts';
import { type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

const TEXT = 'The tests are slow today.';
const WAITS = { status: 'queued', transport: 'hook-mailbox' };
const ADDED = { status: 'context_added', transport: 'hook-mailbox' };

async function addContext(one: RealDaemon, id: string, text = TEXT): Promise<Receipt> {
  const sent = ['send', 'listens', text, '--id', id, '--context', '--json'];
  return receiptSchema.parse(JSON.parse(await one.svc(...sent)));
}

/** How often a message is in the conversation as context. */
async function timesAdded(one: RealDaemon, session: string, id: string): Promise<number> {
  const added = /"hook_additional_context"|"role":"developer"|"type":"custom_message"/;
  const lines = (await one.transcriptOf(session)).split('\n');
  return lines.filter((line) => line.includes(`[message ${id} (`) && added.test(line)).length;
}

/** Waits until a message is in the conversation as context. */
const isAdded = (one: RealDaemon, session: string, id: string) =>
  until(`${id} is in the conversation`, async () => (await timesAdded(one, session, id)) > 0, WITHIN_MS);

describe.each(HARNESS_NAMES)('context for a worker of the real %s', (name) => {
  it('[MSG-2] [MDS-1] is read once with the next turn, and starts none', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    await one.svc('setup', name);
    const { session, reaches } = await listening(one);
    const longest = `${TEXT} ${'x'.repeat(CONTEXT_LIMITS.output_bytes - 400)}`;
    expect(await addContext(one, 'c-1', longest)).toMatchObject(WAITS);
    expect(await timesAdded(one, session, 'c-1')).toBe(0);
    await reaches('m-1', 'Please look at the last commit.', /accepted/);
    expect(await timesAdded(one, session, 'c-1')).toBe(1);
    expect(await addContext(one, 'c-1', longest)).toMatchObject(ADDED);
    await reaches('m-2', 'Please look again.', /accepted/);
    expect(await timesAdded(one, session, 'c-1')).toBe(1);
    const asked = one.stub.requests.map(({ body }) => body).filter((body) => body.includes(TEXT));
    expect(asked.length).toBeGreaterThanOrEqual(2);
    for (const body of asked) {
      expect(body).toContain('Please look at the last commit.');
      expect(body.split(longest)).toHaveLength(2);
    }
  });

  it('[MSG-5] is refused until the hooks are set up, and is then read in the running turn or the next one', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    const go = join(one.project_dir, 'go');
    const waits = `touch ${go}-waits; while [ ! -e ${go} ]; do sleep 0.1; done`;
    one.stub.script({ match: 'Please wait.', steps: [{ shell: waits }, { text: 'Went on.' }] });
    const { session, reaches } = await listening(one);
    const refused = await one.svcMayFail('send', 'listens', TEXT, '--id', 'c-1', '--context');
    expect(refused.code).not.toBe(0);
    expect(refused.out).toContain(`svc setup ${name}`);

    // The hooks are there from the next start on.
    await one.svc('setup', name);
    await one.svc('kill', 'listens', '--yes');
    expect(await addContext(one, 'c-1')).toMatchObject(WAITS);
    await one.svc('dispatch', 'listens', '--message', 'Please wait.');
    await until('the tool runs', () => existsSync(`${go}-waits`), WITHIN_MS);
    await isAdded(one, session, 'c-1');
    expect(await addContext(one, 'c-2')).toMatchObject(WAITS);
    writeFileSync(go, '');
    await until(
      'the turn ends',
      async () => (await one.transcriptOf(session)).includes('Went on.'),
      WITHIN_MS,
    );
    // Pi reads context where a turn begins.
    if (name === 'pi') await reaches('m-1', 'Please look.', /accepted/);
    await isAdded(one, session, 'c-2');
    for (const id of ['c-1', 'c-2']) expect([id, await timesAdded(one, session, id)]).toEqual([id, 1]);
  });

  it('[MSG-2] is neither lost nor read twice when its agent and the daemon are killed', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    await one.svc('setup', name);
    one.stub.script({ match: /^Mode: resume$/m, steps: [{ text: 'On again.' }] });
    one.stub.script({ match: 'Please be slow.', steps: [{ text: 'Never said.', delay_ms: 30_000 }] });
    const { session, send, press, shows } = await listening(one);
    const mailbox = join(one.data_dir, 'messages', 'context', `${name}-${session}`);
    expect(await addContext(one, 'c-1')).toMatchObject(WAITS);
    await send('m-1', 'Please be slow.');
    // Taken by then, and written to the transcript or not.
    await until(
      'a hook took it',
      () => readdirSync(mailbox).some((entry) => entry.includes('.taken-')),
      WITHIN_MS,
    );
    process.kill(one.agentPid(await one.launch(0)), 'SIGKILL');
    const resumed = await one.launch(1);
    expect(resumed.resume).toMatchObject({ session_uuid: session });
    await until('it goes on', async () => (await one.transcriptOf(session)).includes('On again.'), WITHIN_MS);
    await isAdded(one, session, 'c-1');
    expect(await addContext(one, 'c-1')).toMatchObject(ADDED);

    expect(await addContext(one, 'c-2')).toMatchObject(WAITS);
    process.kill(JSON.parse(readFileSync(join(one.data_dir, 'daemon.json'), 'utf8')).pid, 'SIGKILL');
    await press('-l', 'Please go on.');
    await shows('Please go on.');
    await press('Enter');
    await isAdded(one, session, 'c-2');
    for (const id of ['c-1', 'c-2']) expect([id, await timesAdded(one, session, id)]).toEqual([id, 1]);
  });
});
