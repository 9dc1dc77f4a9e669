import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { CODEX_ASKS, DIALOG } from './dialogs.ts';
import { type ListeningApp, startListeningApp, TEXT, WITHIN } from './listening-app.ts';

let app: ListeningApp | undefined;
afterEach(async () => {
  await app?.stop();
  app = undefined;
});

async function listening(options: Parameters<typeof startListeningApp>[0] = {}) {
  app = await startListeningApp(options);
  const { send, timesGiven } = app;
  return {
    ...app,
    status: (id: string) => expect.poll(async () => (await send(id)).status, WITHIN),
    /** Waits until a receipt says that the message arrived and it did once, or says no such thing and it did not. */
    async agrees(id: string, text = TEXT) {
      const told = async () => {
        const { status, transport } = await send(id, { text });
        const arrived = status === 'submitted' || status === 'accepted';
        if (transport === 'held') return 'held';
        return (await timesGiven(id)) === (arrived ? 1 : 0) ? 'agrees' : status;
      };
      await expect.poll(told, WITHIN).toBe('agrees');
    },
  };
}

describe('a message to a worker in the real app', () => {
  it('[WPL-23] [MSG-3] [MDS-1] starts a turn of an idle conversation once, however often its id comes', async () => {
    const { idle, send, status, timesGiven } = await listening();
    await idle();
    const receipts = await Promise.all(['m-1', 'm-2', 'm-1', 'm-2'].map((id) => send(id)));
    for (const receipt of receipts) expect(receipt.transport).toBe('app-server');
    for (const id of ['m-1', 'm-2']) {
      await status(id).toBe('accepted');
      expect(await timesGiven(id)).toBe(1);
    }
  });

  it('[MSG-4] [RCP-4] names its files once each, which are there for their owner alone', async () => {
    const { one, thread_id, idle, send } = await listening();
    await idle();
    for (const name of ['a.log', 'b.log']) writeFileSync(join(one.project_dir, name), `in ${name}`);
    const files = ['a.log', 'b.log'];
    await expect.poll(async () => (await send('m-1', { files })).status, WITHIN).toBe('accepted');
    const said = (await one.transcriptOf(thread_id))
      .split('\n')
      .filter((line) => line.includes('[message m-1 (') && /"role":"user"/.test(line))
      .join('\n');
    for (const { name, path, size, sha256 } of (await send('m-1', { files })).files!) {
      expect(said.split(`[file ${path} (${size} bytes, sha256 ${sha256})]`)).toHaveLength(2);
      expect(readFileSync(path, 'utf8')).toBe(`in ${name}`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });

  it('[MSG-2] [MSG-5] is never context alone, for an app conversation has no hooks of ours', async () => {
    const { one, thread_id } = await listening();
    const { code, out } = await one.svcMayFail('send', 'listens', TEXT, '--context', '--json');
    expect(code).not.toBe(0);
    expect(JSON.parse(out)).toMatchObject({ status: 'rejected', reason: 'wake_required' });
    expect(await one.transcriptOf(thread_id)).not.toContain(TEXT);
  });

  it('[MSG-3] [MDS-1] is taken after a call of the model, each once, also of 50 kB', async () => {
    const { one, idle, send, status, agrees, timesGiven } = await listening();
    const sent = Promise.withResolvers<void>();
    one.stub.script({ match: 'Please think', steps: [{ text: 'Thought.', after: sent.promise }] });
    await idle();
    await send('m-0', { text: 'Please think.' });
    await one.stub.waitFor(({ turns }) => turns.some(({ text }) => text.includes('Please think')), 60_000);
    const long = `${TEXT}\n${'a line of a long text\n'.repeat(2_300)}`;
    await Promise.all([send('m-1'), send('m-2', { text: long })]);
    sent.resolve();
    await status('m-1').toBe('accepted');
    await agrees('m-0', 'Please think.');
    await agrees('m-2', long);
    expect(await Promise.all(['m-0', 'm-1', 'm-2'].map(timesGiven))).toEqual([1, 1, 1]);
  });

  it('[MSG-3] [RCP-5] does not answer the approval that a person is asked for', async () => {
    const { one, idle, send, agrees } = await listening({ args: CODEX_ASKS });
    one.stub.script({ match: 'Please ask', steps: [DIALOG.codex.step, { text: 'Asked.' }] });
    await idle();
    await send('m-0', { text: 'Please ask.' });
    const asked = () => one.rowWhere('listens', ({ runtime }) => runtime?.phase === 'attention');
    await asked();
    await send('m-1');
    await asked();
    await one.svc('kill', 'listens', '--yes');
    await agrees('m-1');
  });

  it.each([0, 40, 150])(
    '[MSG-3] [RCP-5] arrives once or not at all when the app server is killed %i ms after it is sent',
    async (ms) => {
      const { server, idle, send, agrees } = await listening();
      await idle();
      const sending = send('m-1').catch(() => null);
      await delay(ms);
      await server.kill();
      await sending;
      await server.restart();
      await agrees('m-1');
    },
  );

  it('[MSG-3] [MDS-1] is taken in by a running turn', async () => {
    const { idle, send, status, timesGiven } = await listening();
    const first = await send('m-1');
    expect(first).toMatchObject({
      transport: 'app-server',
      status: expect.stringMatching(/unknown|submitted/),
    });
    await idle();
    await status('m-1').toBe('accepted');
    expect(await timesGiven('m-1')).toBe(1);
  });

  it('[MSG-3] waits while the app server is down, also over kill -9, and then arrives once in the stored conversation', async () => {
    const { one, server, idle, send, status, timesGiven } = await listening();
    await idle();
    await server.stop();
    await one.rowWhere('listens', ({ runtime }) => runtime?.phase === 'unknown');
    expect(await send('m-1')).toMatchObject({ status: 'queued', transport: 'held' });
    await one.killAndRestart();
    expect(await timesGiven('m-1')).toBe(0);
    await server.restart();
    await status('m-1').toBe('accepted');
    await one.killAndRestart();
    expect(await send('m-1')).toMatchObject({ status: 'accepted' });
    expect(await timesGiven('m-1')).toBe(1);
  });

  it('[MSG-3] [P13] arrives once at most when the daemon is killed while it is sent', async () => {
    const { one, idle, send, timesGiven } = await listening();
    await idle();
    const sending = send('m-1').catch(() => null);
    await expect.poll(() => timesGiven('m-1').catch(() => 0), WITHIN).toBe(1);
    await one.killAndRestart();
    await sending;
    await expect.poll(async () => (await send('m-1')).status, WITHIN).toBe('accepted');
    expect(await timesGiven('m-1')).toBe(1);
  });
});
