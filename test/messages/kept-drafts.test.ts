import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { type ComposerShows, KeptDrafts } from '../../src/messages/kept-drafts.ts';
import { newRecord } from '../../src/messages/message-record.ts';
import { until } from '../kit/until.ts';
import { ADDRESS, FakeSession, message, RUNNING } from './fake-world.ts';

/** Time passes at once. */
const clock = { ...systemClock, after: (_: number, run: () => void) => systemClock.after(0, run) };
const record = (message_id: string) =>
  newRecord(
    { message_id, address: ADDRESS, from: 'ada', text: 'hello', wake: true, files: [] },
    { files: [], nonce: 'n1', now: 1 },
  );

/** Follows a session whose composer shows these things, one at each look, and ends after them. */
class Composer {
  looks = 0;
  pressed = 0;
  ends = false;
  readonly drafts: KeptDrafts;

  constructor(...shown: ComposerShows[]) {
    this.drafts = new KeptDrafts({
      clock,
      logger: silentLogger,
      target: async () => (this.ends ? { kind: 'past' } : RUNNING),
      composer: async () => {
        const now = shown[this.looks] ?? shown.at(-1)!;
        this.looks += 1;
        this.ends = this.looks >= shown.length;
        return now;
      },
      pressEnter: async () => {
        this.pressed += 1;
        return true;
      },
    });
  }
}

describe('a text that was typed', () => {
  it.each<[what: string, shown: ComposerShows[], looks: number, pressed: number]>([
    ['is sent already', ['taken', 'kept', 'kept'], 1, 0],
    ['was on its way at the first look', ['kept', 'taken', 'kept', 'kept'], 2, 0],
    ['was kept', ['kept', 'kept', 'taken', 'kept', 'kept'], 3, 1],
    ['was kept again', ['kept', 'kept', 'kept', 'kept', 'taken', 'kept'], 5, 2],
    ['was kept behind a dialog', ['covered', 'kept', 'covered', 'kept', 'kept', 'taken', 'kept'], 6, 1],
    ['was kept until its session ended', ['kept', 'kept'], 2, 1],
  ])('%s: Enter is pressed as often as it has to be', async (_, shown, looks, pressed) => {
    const composer = new Composer(...shown);
    composer.drafts.watch(record('m-1'));
    await until('the last look', () => composer.looks === looks);
    await new Promise((resolve) => systemClock.after(20, () => resolve(null)));
    expect(composer).toMatchObject({ looks, pressed });
  });

  it('is watched no more once a newer one was typed, or the daemon stops', async () => {
    const composer = new Composer('kept', 'kept', 'kept', 'kept', 'kept');
    composer.drafts.watch(record('m-1'));
    composer.drafts.watch(record('m-2'));
    composer.drafts.stop();
    await new Promise((resolve) => systemClock.after(20, () => resolve(null)));
    expect(composer).toMatchObject({ looks: 0, pressed: 0 });
  });
});

describe('a text that a killed daemon left as a draft', () => {
  it('[MSG-3] is sent by the next one, and is not typed again', async () => {
    const session = new FakeSession();
    onTestFinished(() => session.remove());
    session.stage = null;
    session.composer = 'kept';
    await session.killedAt('after', session.service(), message('m-1'));
    const next = session.service();
    next.start();
    await until('Enter', () => session.presses === 1, 10_000);
    next.stop();
    expect(session.typed).toHaveLength(1);
  });

  it('[MSG-3] is sent by the next one too, if the answer was kept before', async () => {
    const session = new FakeSession();
    onTestFinished(() => session.remove());
    session.stage = null;
    const first = session.service();
    await first.send(message('m-1'));
    first.stop();
    session.composer = 'kept';
    const next = session.service();
    next.start();
    await until('Enter', () => session.presses === 1, 10_000);
    next.stop();
    expect(session.typed).toHaveLength(1);
  });
});
