import { afterEach, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import type { Receipt } from '../../src/contract/http/messages.ts';
import { listening, timesGiven } from './listening-worker.ts';
import { type RealDaemon, startRealDaemon } from './real-daemon.ts';

let daemon: RealDaemon | undefined;
afterEach(async () => {
  await daemon?.stop();
  daemon = undefined;
});

/** How often the daemon is killed in the middle. */
const KILLS = 3;
const WITHIN = { timeout: 60_000, interval: 100 };

describe.each(HARNESS_NAMES)('a message to a worker of the real %s', (name) => {
  it('[WPL-23] [MDS-1] arrives once, and its receipt follows the transcript to the answer', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    const { session, send } = await listening(one);
    const first = await send('m-1', 'Please look at the last commit.');
    expect(first).toMatchObject({
      status: expect.stringMatching(/submitted|accepted/),
      transport: 'terminal',
    });
    await expect
      .poll(async () => (await send('m-1', 'Please look at the last commit.')).status, WITHIN)
      .toBe('accepted');
    expect(await timesGiven(one, session, 'm-1')).toBe(1);
  });

  it('[MSG-3] waits while a person’s draft is in the composer, also over kill -9, and then arrives once', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    const { session, mux, send } = await listening(one);
    await one.tmux('send-keys', '-t', `=${mux}:`, '-l', 'my own draft');
    await expect.poll(() => one.screen(mux), WITHIN).toContain('my own draft');
    expect(await send('m-2', 'Please wait for me.')).toMatchObject({ status: 'queued', transport: 'held' });
    await one.killAndRestart();
    expect(await one.screen(mux)).toContain('my own draft');
    expect(await timesGiven(one, session, 'm-2')).toBe(0);
    await one.tmux('send-keys', '-t', `=${mux}:`, 'Enter');
    await expect
      .poll(async () => (await send('m-2', 'Please wait for me.')).status, WITHIN)
      .toMatch(/submitted|accepted/);
    expect(await timesGiven(one, session, 'm-2')).toBe(1);
  });

  it('[MSG-3] arrives once each when many are sent at once and repeated', async () => {
    daemon = await startRealDaemon(name);
    const one = daemon;
    const { session, send } = await listening(one);
    const ids = ['a', 'b', 'c', 'd'].map((id) => `m-${id}`);
    await Promise.all([...ids, ...ids].map((id) => send(id, `Please do ${id}.`)));
    for (const id of ids) {
      await expect
        .poll(async () => (await send(id, `Please do ${id}.`)).status, WITHIN)
        .toMatch(/submitted|accepted/);
      expect(await timesGiven(one, session, id)).toBe(1);
    }
  });

  // What a kill can cut in two is the same for every program.
  it.runIf(name === 'claude')(
    '[MSG-3] [RCP-5] arrives once or not at all while the daemon is killed again and again',
    async () => {
      daemon = await startRealDaemon(name);
      const one = daemon;
      const { session, send } = await listening(one);
      const ids = Array.from({ length: 8 }, (_, at) => `k-${at}`);
      const text = (id: string) => `Please do ${id}.`;
      let sent = 0;
      /** The same id again until a daemon answers it. */
      const sendThrough = async (id: string): Promise<Receipt> => {
        for (;;) {
          const receipt = await send(id, text(id)).catch(() => null);
          if (receipt !== null) return receipt;
        }
      };
      const kills = async () => {
        for (let kill = 0; kill < KILLS; kill += 1) {
          const before = sent;
          await Promise.race([
            new Promise((resolve) => setTimeout(resolve, 200 + 370 * kill)),
            expect.poll(() => sent, WITHIN).toBeGreaterThan(before),
          ]);
          await one.killAndRestart();
        }
      };
      const writes = async () => {
        for (const id of ids) {
          await sendThrough(id);
          sent += 1;
        }
      };
      await Promise.all([kills(), writes()]);
      for (const id of ids) {
        await expect
          .poll(async () => {
            const { status, transport } = await sendThrough(id);
            const times = await timesGiven(one, session, id);
            // A record that was cut off is unknown for ever if the text never arrived.
            if (transport === 'held') return 'held';
            if (status === 'submitted' || status === 'accepted')
              return times === 1 ? 'agrees' : `${times} times`;
            return status === 'unknown' && times === 0 ? 'agrees' : `${status}, ${times} times`;
          }, WITHIN)
          .toBe('agrees');
      }
    },
  );
});
