import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../kit/until.ts';
import { DIALOG, writeAskingSettings } from './dialogs.ts';
import { listening, sendThroughKills, timesGiven } from './listening-worker.ts';
import { type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

/** Long enough to send a few messages meanwhile. */
const WORK_MS = 8_000;
const SENT = /submitted|accepted/;
const BY_EXTENSION = { transport: 'extension' };

let one: RealDaemon;
beforeAll(async () => {
  one = await startRealDaemon('pi', {
    prepare({ home }) {
      writeAskingSettings('pi', home);
      return undefined;
    },
  });
  await one.svc('setup', 'pi');
});
afterAll(() => one.stop());

describe('a message to a worker of the real Pi, through its extension', () => {
  it.concurrent('[MSG-3] [MDS-1] starts a turn once, short or of 50 kB', async () => {
    const { session, send, reaches } = await listening(one, 'idles');
    for (const [id, text] of [
      ['i-1', 'Please look: “grüße” 漢字\n/model\n!touch x'],
      ['i-2', `Please read\n${'a line of a long text\n'.repeat(2_300)}the end`],
    ] as const) {
      expect(await send(id, text)).toMatchObject({ status: expect.stringMatching(SENT), ...BY_EXTENSION });
      await reaches(id, text, /accepted/);
      expect(await timesGiven(one, session, id)).toBe(1);
      expect(await one.transcriptOf(session)).toContain(JSON.stringify(text).slice(1, -1));
    }
  });

  it.concurrent('leaves a person’s draft and an open menu as they are', async () => {
    const { session, mux, send, reaches, shows, press } = await listening(one, 'drafts');
    await press('-l', 'my own draft');
    await shows('my own draft');
    await send('d-1', 'Please do not mind me.');
    await reaches('d-1', 'Please do not mind me.', /accepted/);
    expect(await timesGiven(one, session, 'd-1')).toBe(1);
    expect(await one.screen(mux)).toContain('my own draft');
    await press('C-c');
    await press('-l', '/model');
    await press('Enter');
    await shows(/escape|esc .*cancel|stub-1.*\[stub\]/i);
    await send('d-2', 'Please go on.');
    await reaches('d-2', 'Please go on.', /accepted/);
    expect(await timesGiven(one, session, 'd-2')).toBe(1);
  });

  it.concurrent('[MDS-1] is queued behind a call of the model, then taken, each once', async () => {
    const { session, send, reaches } = await listening(one, 'thinks');
    one.stub.script({ match: 'Consider it', steps: [{ text: 'Considered.', delay_ms: WORK_MS }] });
    await send('t-0', 'Consider it.');
    await one.stub.waitFor(({ turns }) => turns.some(({ text }) => text.includes('Consider it.')), 60_000);
    const ids = ['t-1', 't-2'];
    const text = (id: string) => `Please do ${id}.`;
    const receipts = await Promise.all(ids.map((id) => send(id, text(id))));
    for (const receipt of receipts) expect(receipt).toMatchObject({ status: 'queued', ...BY_EXTENSION });
    for (const id of ids) {
      await reaches(id, text(id), SENT);
      expect(await timesGiven(one, session, id)).toBe(1);
    }
  });

  it.concurrent('is taken after the command that runs', async () => {
    const { session, send, reaches } = await listening(one, 'commands');
    const shell = `touch began && sleep ${WORK_MS / 1000}`;
    one.stub.script({ match: 'Run it', steps: [{ shell }, { text: 'Ran.' }] });
    await send('c-0', 'Run it.');
    await until('the command began', () => existsSync(join(one.project_dir, 'began')), WITHIN_MS);
    expect(await send('c-1', 'Please stop after it.')).toMatchObject({ status: 'queued', ...BY_EXTENSION });
    await reaches('c-1', 'Please stop after it.', SENT);
    expect(await timesGiven(one, session, 'c-1')).toBe(1);
  });

  it.concurrent('does not answer the question that is open', async () => {
    const { session, mux, send, reaches, shows, press } = await listening(one, 'asks');
    one.stub.script({ match: 'Ask first', steps: [DIALOG.pi.step, { text: 'Asked.' }] });
    await send('a-0', 'Ask first.');
    await shows('Which way?');
    expect(await send('a-1', 'Please go left.')).toMatchObject({ status: 'queued', ...BY_EXTENSION });
    expect(await one.screen(mux)).toContain('Which way?');
    expect(await timesGiven(one, session, 'a-1')).toBe(0);
    await press('Enter');
    await reaches('a-1', 'Please go left.', SENT);
    expect(await timesGiven(one, session, 'a-1')).toBe(1);
  });

  it.concurrent('[MSG-3] arrives once each when many are sent at once and repeated', async () => {
    const { session, send, reaches } = await listening(one, 'hears-many');
    const ids = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5'];
    const text = (id: string) => `Please do ${id}.`;
    await Promise.all([...ids, ...ids].map((id) => send(id, text(id))));
    for (const id of ids) {
      await reaches(id, text(id), SENT);
      expect(await timesGiven(one, session, id)).toBe(1);
    }
  });

  it.concurrent('[RCP-5] stays queued when Pi is killed before it took it', async () => {
    const { fiber, session, send } = await listening(one, 'dies');
    one.stub.script({ match: 'Think for long', steps: [{ text: 'Thought.', delay_ms: 10 * WORK_MS }] });
    await send('k-0', 'Think for long.');
    await one.stub.waitFor(({ turns }) => turns.some(({ text }) => text.includes('Think for long.')), 60_000);
    expect(await send('k-1', 'Please hear me.')).toMatchObject({ status: 'queued', ...BY_EXTENSION });
    process.kill(one.agentPid(one.launches().find((launch) => launch.fiber.includes(fiber))!), 'SIGKILL');
    // Another worker may resume the conversation by now; this message was never given to that one.
    expect(await send('k-1', 'Please hear me.')).toMatchObject({ status: 'queued', ...BY_EXTENSION });
    expect(await timesGiven(one, session, 'k-1')).toBe(0);
  });

  it('[MSG-3] [RCP-5] arrives once or not at all while the daemon is killed again and again', async () => {
    const worker = await listening(one, 'outlives');
    await sendThroughKills(one, worker, ['o-1', 'o-2', 'o-3', 'o-4', 'o-5', 'o-6', 'o-7', 'o-8']);
  });

  it('[MSG-3] is typed where Pi started before its extension was there', async () => {
    const sockets = join(one.data_dir, 'session-sockets');
    const before = new Set(readdirSync(sockets));
    await one.svc('setup', 'pi', '--uninstall');
    const { session, send, reaches } = await listening(one, 'is-older');
    expect(readdirSync(sockets).filter((name) => !before.has(name))).toEqual([]);
    await send('p-1', 'Please look.');
    await reaches('p-1', 'Please look.', /accepted/);
    expect(await send('p-1', 'Please look.')).toMatchObject({ transport: 'terminal' });
    expect(await timesGiven(one, session, 'p-1')).toBe(1);
  });
});
