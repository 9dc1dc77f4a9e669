import { describe, expect, it } from 'vitest';
import { cardOf } from '../../../board/src/model/card.ts';
import type { Contact } from '../../../board/src/model/contact.ts';
import { CardCache, deskOf } from '../../../board/src/model/desk.ts';
import type { HostCopy } from '../../../board/src/model/feed-copy.ts';
import {
  agedOf,
  agedText,
  byUrgency,
  countsByHost,
  countsText,
  type HostLine,
  hostLines,
  hostsText,
  isSkewed,
  standingText,
} from '../../../board/src/model/hosts.ts';
import { railItems } from '../../../board/src/model/lists.ts';
import { copyOf, live, row } from './rows.ts';

const LIVE: Contact = { kind: 'live' };
const NOW = 10_000_000;
const MINUTE = 60_000;
const TODAY = '2026-11-23';
const FRESH: HostCopy = {
  ...{ state: 'fresh', last_ok_at: NOW - 12_000, error: null, build: 'aaa' },
  ...{ feed: 'fresh', tag: 't' },
};
const HOSTS = new Map<string, HostCopy>([
  ['mesa', FRESH],
  ['tarn', { ...FRESH, state: 'stale', last_ok_at: NOW - 38 * MINUTE, build: 'bbb' }],
  [
    'quarry',
    {
      ...FRESH,
      state: 'no_answer',
      last_ok_at: null,
      build: null,
      error: { code: 'down', message: 'It is down.' },
    },
  ],
  ['harbor', { ...FRESH, last_ok_at: null }],
]);
const COPY = { host: 'harbor', hosts: HOSTS };
const lines = (contact: Contact = LIVE) => hostLines(COPY, contact, NOW - 400);
const ticks = (of: readonly HostLine[]) => of.map(({ host, tick }) => `${host} ${tick}`);

describe('the hosts of a copy', () => {
  it('are in one order, so that no tick moves, and by what is wrong in their list', () => {
    expect(ticks(lines())).toEqual(['harbor fresh', 'mesa fresh', 'quarry none', 'tarn stale']);
    expect(ticks(byUrgency(lines()))).toEqual(['quarry none', 'tarn stale', 'harbor fresh', 'mesa fresh']);
  });

  it.each<[Contact, string, string | null]>([
    [{ kind: 'live' }, 'fresh', null],
    [{ kind: 'polling' }, 'stale', null],
    [{ kind: 'late' }, 'stale', null],
    [{ kind: 'booting', host: 'harbor', boot_ms: 1 }, 'stale', 'harbor is starting'],
    [{ kind: 'refused', message: 'No poller.', retry_at: 1 }, 'stale', 'No poller.'],
    [{ kind: 'gone', retry_at: 1 }, 'none', 'No answer from this daemon'],
  ])('have their own one as its contact is: %j', (contact, tick, error) => {
    expect(lines(contact)[0]).toMatchObject({ host: 'harbor', own: true, tick, error, as_of: NOW - 400 });
  });

  it.each<[Contact, string[], number]>([
    [{ kind: 'live' }, ['mesa fresh', 'quarry none', 'tarn stale'], NOW - 12_000],
    [{ kind: 'polling' }, ['mesa fresh', 'quarry none', 'tarn stale'], NOW - 12_000],
    [{ kind: 'late' }, ['mesa stale', 'quarry none', 'tarn stale'], NOW - 400],
    [{ kind: 'gone', retry_at: 1 }, ['mesa stale', 'quarry none', 'tarn stale'], NOW - 400],
    [{ kind: 'booting', host: 'harbor', boot_ms: 1 }, ['mesa stale', 'quarry none', 'tarn stale'], NOW - 400],
  ])('[TMP-8] are fresh only while their own one tells of them: %j', (contact, others, mesa_as_of) => {
    expect(ticks(lines(contact).slice(1))).toEqual(others);
    expect(lines(contact)[1]!.as_of).toBe(mesa_as_of);
    expect(lines(contact)[3]!.as_of).toBe(NOW - 38 * MINUTE);
  });

  it('are told in one line, a single one by how fresh it is', () => {
    expect(hostsText(lines(), LIVE, NOW)).toEqual({ name: '2', says: 'of 4 hosts fresh' });
    expect(hostsText(lines().slice(0, 1), LIVE, NOW)).toEqual({ name: 'harbor', says: 'live' });
    const polled = hostsText(lines().slice(0, 1), { kind: 'polling' }, NOW + 2 * MINUTE);
    expect(polled).toEqual({ name: 'harbor', says: '2 min old' });
  });

  it('each say how they stand', () => {
    const said = lines().map((line) => standingText(line, LIVE, NOW));
    expect(said).toEqual([
      'this host, live',
      'fresh',
      'no answer so far',
      'stale: its last good answer is 38 min old',
    ]);
    const gone = { ...lines()[3]!, tick: 'none' as const };
    expect(standingText(gone, LIVE, NOW)).toBe('no answer for 38 min');
    expect(lines().map((line) => agedText(line, NOW))).toEqual([
      '0 s old',
      '12 s old',
      'no answer',
      '38 min old',
    ]);
  });

  it('name a build that is not that of the host that answers', () => {
    expect(lines().map((line) => isSkewed(line, lines()))).toEqual([false, false, false, true]);
  });

  it('have fibers and workers', () => {
    const counts = countsByHost([
      row({ id: 'a', origin: 'harbor', runtime: live() }),
      row({ id: 'b', origin: 'harbor' }),
      row({ id: 'a', origin: 'tarn' }),
    ]);
    expect([...counts].map(([host, of]) => `${host}: ${countsText(of)}`)).toEqual([
      'harbor: 2 fibers, 1 worker',
      'tarn: 1 fiber',
    ]);
  });
});

describe('a fiber of a host that is not fresh', () => {
  const aged = { host: 'tarn', at: NOW - 38 * MINUTE };

  it.each([
    ['harbor', null],
    ['mesa', null],
    ['tarn', aged],
    ['quarry', { host: 'quarry', at: null }],
    ['gone', null],
  ])('is told with its age: %s', (origin, expected) => {
    expect(agedOf(COPY, { origin })).toEqual(expected);
  });

  it.each([
    ['working', 'unknown', 'Working when tarn was last heard of.'],
    ['idle', 'unknown', 'Idle when tarn was last heard of.'],
    // Nobody but a person ends this.
    ['waiting', 'waiting', null],
  ] as const)('whose worker was %s is %s now', (phase, state, text) => {
    const fiber = row({ origin: 'tarn', status: 'active', runtime: live({ phase }) });
    const card = cardOf(fiber, TODAY, aged);
    expect(card).toMatchObject({ state, aged, band: { text } });
    expect(cardOf(fiber, TODAY).aged).toBeNull();
  });

  it('has a new card when its host is fresh again, and the same one until then', () => {
    const cache = new CardCache();
    const fiber = row({ origin: 'tarn' });
    const card = cache.cardOf(fiber, TODAY, aged);
    expect(cache.cardOf(fiber, TODAY, { ...aged })).toBe(card);
    expect(cache.cardOf(fiber, TODAY, null).aged).toBeNull();
  });

  it('[TMP-8] stands on the Desk with its host in the rail, and no host is there while all are fresh', () => {
    const copy = { ...copyOf([row({ origin: 'tarn' })]), ...COPY };
    const desk = deskOf(copy, TODAY, new CardCache());
    expect(desk.drafts[0]?.aged).toEqual(aged);
    expect(railItems(desk).slice(-3)).toMatchObject([
      { kind: 'hosts' },
      { kind: 'host', line: { host: 'quarry' } },
      { kind: 'host', line: { host: 'tarn' } },
    ]);
    const fresh = deskOf(copyOf([row()]), TODAY, new CardCache());
    expect(railItems(fresh).map(({ kind }) => kind)).toEqual(['empty']);
  });
});
