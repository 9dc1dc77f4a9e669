import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HARNESS_NAMES } from '../../src/contract/harness-name.ts';
import { receiptSchema } from '../../src/contract/http/messages.ts';
import { pause, until } from '../kit/until.ts';
import { agreement, listening, sendThroughKills, timesGiven, untilAgreed } from './listening-worker.ts';
import { type RealDaemon, startRealDaemon, WITHIN_MS } from './real-daemon.ts';

const SENT = /submitted|accepted/;

describe.each(HARNESS_NAMES)('a message to a worker of the real %s', (name) => {
  let one: RealDaemon;
  beforeAll(async () => {
    one = await startRealDaemon(name);
  });
  afterAll(() => one.stop());

  it.concurrent('[WPL-23] [MDS-1] arrives once, and its receipt follows the transcript to the answer', async () => {
    const { fiber, session } = await listening(one, 'follows');
    const send = async () => {
      const out = await one.svc('send', fiber, 'Please look at the last commit.', '--id', 'f-1', '--json');
      return receiptSchema.parse(JSON.parse(out));
    };
    expect(await send()).toMatchObject({
      status: expect.stringMatching(SENT),
      transport: 'terminal',
    });
    await until('its answer', async () => (await send()).status === 'accepted', WITHIN_MS);
    expect(await timesGiven(one, session, 'f-1')).toBe(1);
  });

  it.concurrent('[MSG-3] arrives once each when many are sent at once and repeated', async () => {
    const { session, send, reaches } = await listening(one, 'hears-many');
    const ids = ['n-1', 'n-2', 'n-3', 'n-4'];
    await Promise.all([...ids, ...ids].map((id) => send(id, `Please do ${id}.`)));
    for (const id of ids) {
      await reaches(id, `Please do ${id}.`, SENT);
      expect(await timesGiven(one, session, id)).toBe(1);
    }
  });

  it.concurrent.each([20, 120])(
    '[RCP-5] has the receipt that its transcript proves when the program is killed %i ms later',
    async (later_ms) => {
      const { fiber, session, send } = await listening(one, `dies-after-${later_ms}`);
      const message_id = `d-${later_ms}`;
      const ask = () => send(message_id, 'Please.');
      const sending = ask();
      await pause(later_ms);
      process.kill(one.agentPid(one.launches().find((launch) => launch.fiber.includes(fiber))!), 'SIGKILL');
      await sending;
      await untilAgreed(message_id, async () =>
        agreement(await ask(), await timesGiven(one, session, message_id)),
      );
    },
  );

  it('[MSG-3] waits while a person’s draft is in the composer, also over kill -9, and then arrives once', async () => {
    const { session, mux, send, reaches, shows, press } = await listening(one, 'drafts');
    await press('-l', 'my own draft');
    await shows('my own draft');
    expect(await send('w-1', 'Please wait for me.')).toMatchObject({ status: 'queued', transport: 'held' });
    await one.killAndRestart();
    expect(await one.screen(mux)).toContain('my own draft');
    expect(await timesGiven(one, session, 'w-1')).toBe(0);
    await press('Enter');
    await reaches('w-1', 'Please wait for me.', SENT);
    expect(await timesGiven(one, session, 'w-1')).toBe(1);
  });

  // What a kill can cut in two is the same for every program that is typed into.
  it.runIf(name === 'claude')(
    '[MSG-3] [RCP-5] arrives once or not at all while the daemon is killed again and again',
    async () => {
      const worker = await listening(one, 'outlives');
      await sendThroughKills(one, worker, ['k-1', 'k-2', 'k-3', 'k-4', 'k-5', 'k-6', 'k-7', 'k-8']);
    },
  );
});
