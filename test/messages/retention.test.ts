import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { type MessageStore, SHARDS } from '../../src/messages/message-store.ts';
import { expiredOf, startRetention, sweepFolder } from '../../src/messages/retention.ts';
import { FakeSession, message } from './fake-world.ts';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;
const record = (name: string, days: number) => ({ name, changed_at: NOW - days * DAY });

describe('the records that may go', () => {
  it.each([
    { of: 'one that is older than it is kept', ages: [91], keep_count: 25_600, gone: ['0'] },
    { of: 'none that is not', ages: [89, 31, 1], keep_count: 25_600, gone: [] },
    { of: 'the oldest of too many', ages: [40, 60, 50], keep_count: 512, gone: ['1'] },
    {
      of: 'none that is 30 days old or younger, however many',
      ages: [30, 29, 1, 0, -1],
      keep_count: 1,
      gone: [],
    },
  ])('are $of', ({ ages, keep_count, gone }) => {
    const records = ages.map((days, nth) => record(String(nth), days));
    expect(expiredOf(records, { keep_days: 90, keep_count }, NOW)).toEqual(gone);
  });

  it('are never younger than 30 days, and what stays is bounded by count beyond these', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -5, max: 200 }), { maxLength: 40 }),
        fc.integer({ min: 30, max: 120 }),
        fc.integer({ min: 1, max: 5_000 }),
        (ages, keep_days, keep_count) => {
          const records = ages.map((days, nth) => record(String(nth), days));
          const gone = new Set(expiredOf(records, { keep_days, keep_count }, NOW));
          for (const name of gone) expect(ages[Number(name)]).toBeGreaterThan(30);
          const left = ages.filter((_, nth) => !gone.has(String(nth)));
          expect(left.every((days) => days <= keep_days)).toBe(true);
          const young = ages.filter((days) => days <= 30).length;
          expect(left.length).toBeLessThanOrEqual(Math.max(young, Math.ceil(keep_count / SHARDS)));
        },
      ),
    );
  });
});

describe('a sweep of the messages', () => {
  let session: FakeSession;
  let store: MessageStore;
  const rule = { keep_days: 30, keep_count: 100_000 };
  beforeEach(() => {
    session = new FakeSession();
    store = session.store();
  });
  afterEach(() => session.remove());

  /** Makes every record so old. */
  function age(days: number): void {
    const then = new Date(Date.now() - days * DAY);
    for (const name of readdirSync(session.folder, { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.json')) utimesSync(join(session.folder, name), then, then);
  }
  const sweepAll = () =>
    Array.from({ length: SHARDS }, (_, folder) => sweepFolder(store, folder, rule, Date.now())).reduce(
      (sum, removed) => sum + removed,
    );

  it('removes what is at its end, whose id then sends again, and leaves what is held or cannot be read', async () => {
    const service = session.service();
    await service.send(message('m-1'));
    session.screen = 'draft';
    await service.send(message('m-held'));
    service.stop();
    store.write({ ...store.read('m-1')!, message_id: 'm-damaged' });
    const [path = ''] = readdirSync(session.folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(session.folder, name))
      .filter((name) => readFileSync(name, 'utf8').includes('m-damaged'));
    writeFileSync(path, '{');
    age(29);
    expect(sweepAll()).toBe(0);
    age(31);
    expect(sweepAll()).toBe(1);
    expect(store.read('m-1')).toBeNull();
    expect(store.read('m-held')).toMatchObject({ state: 'waiting' });
    expect(readFileSync(path, 'utf8')).toBe('{');
    session.screen = 'ready';
    session.typed = [];
    const again = session.service();
    await again.send(message('m-1', { text: 'Another text.' }));
    again.stop();
    expect(session.typed).toHaveLength(1);
  });

  it('goes through all folders in turn, by the clock', () => {
    const clock = new FakeClock();
    const seen = new Set<number>();
    const watched = { records: (folder: number) => [seen.add(folder)].slice(1) } as unknown as MessageStore;
    const end = startRetention({
      store: watched,
      mailbox: session.world().mailbox,
      rule,
      clock,
      logger: silentLogger,
    });
    clock.advance(3_600_000 + SHARDS * 600_000);
    expect(seen.size).toBe(SHARDS);
    end();
    seen.clear();
    clock.advance(600_000);
    expect(seen.size).toBe(0);
  });
});
