import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardOf } from '../../../board/src/model/card.ts';
import { commandsFor } from '../../../board/src/model/commands.ts';
import { FiberFinder, marksIn, piecesOf } from '../../../board/src/model/finder.ts';
import { foundPlace } from '../../../board/src/model/found-place.ts';
import type { FiberRow } from '../../../board/src/model/wire.ts';
import { live, row } from './rows.ts';

const rows: FiberRow[] = [
  row({ id: 'coast/tides', name: 'Tide gauge ingest', tags: ['coast'], uid: '01K2B3C4D5E6F7G8H9J0K1M2N3' }),
  row({ id: 'coast/atlas', name: 'Tidal atlas: print edition', outcome: 'Grid and margins agreed.' }),
  row({ id: 'web/cafe', name: 'Café menu', updated_at: '2026-11-20T10:00:00Z' }),
  row({ id: 'web/undertow', name: 'Undertide', status: 'closed', tempered: true }),
  row({ id: 'ops/watch', name: 'Watch', svc: { host: 'basalt-07' }, updated_at: '2026-11-22T10:00:00Z' }),
];
const find = (typed: string, of: readonly FiberRow[] = rows, most = 30) =>
  new FiberFinder().find(of, typed, most);
const ids = (typed: string, of?: readonly FiberRow[]) => find(typed, of).found.map((one) => one.row.id);

describe('the finder', () => {
  it.each([
    // what was typed, what is found, the best first
    ['tid', ['coast/atlas', 'coast/tides', 'web/undertow']],
    ['tide', ['coast/tides', 'web/undertow']],
    ['TIDE ing', ['coast/tides']],
    ['ingest tide', ['coast/tides']],
    ['atlas', ['coast/atlas']],
    ['coast', ['coast/atlas', 'coast/tides']],
    ['#coast', ['coast/tides']],
    ['cafe', ['web/cafe']],
    ['CAFÉ', ['web/cafe']],
    ['basalt', ['ops/watch']],
    ['host cafe', ['web/cafe']],
    ['margins', ['coast/atlas']],
    ['01k2b3', ['coast/tides']],
    ['rgins', []],
    ['tide nowhere', []],
  ])('finds for “%s”: %j', (typed, found) => {
    expect(ids(typed)).toEqual(found);
  });

  it('shows the part of the outcome that matched, where nothing else did', () => {
    const outcome = `${'Grid and '.repeat(10)}margins agreed.`;
    const of = [row({ id: 'coast/atlas', name: 'Tidal atlas', outcome })];
    const [found] = find('atlas margins', of).found;
    expect(found?.outcome?.text).toMatch(/^….{30}margins agreed\.$/);
    expect(found?.outcome?.matches).toEqual([[31, 38]]);
    expect(find('atlas', of).found[0]?.outcome).toBeNull();
  });

  it('begins with what can be worked on and changed last where nothing was typed', () => {
    expect(ids('  ')).toEqual(['ops/watch', 'web/cafe', 'coast/atlas', 'coast/tides', 'web/undertow']);
    expect(find('', rows, 2)).toMatchObject({ total: 5, found: [{}, {}] });
  });

  it('takes a name that begins as was typed first, then words of a name, then the rest', () => {
    const of = ['A log of errors', 'Catalog', 'Log of errors', 'Logbook'].map((name, nth) =>
      row({ id: `f${nth}`, name }),
    );
    const named = (typed: string) => find(typed, of).found.map((one) => one.row.name);
    expect(named('log')).toEqual(['Log of errors', 'Logbook', 'A log of errors', 'Catalog']);
    expect(named('log of')).toEqual(['Log of errors', 'A log of errors']);
  });

  it('finds whatever has the typed words, and nothing else', () => {
    const word = fc.stringMatching(/^[a-c]{1,3}$/);
    const some = fc.array(fc.record({ name: fc.array(word, { minLength: 1 }), tags: fc.array(word) }), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(some, fc.array(word, { minLength: 1, maxLength: 3 }), (made, terms) => {
        const of = made.map(({ name, tags }, nth) => row({ id: `${nth}`, name: name.join(' '), tags }));
        const expected = of.filter(({ name, tags }) =>
          terms.every((term) => name.includes(term) || tags.some((tag) => tag.startsWith(term))),
        );
        expect(ids(terms.join(' '), of).toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
      }),
    );
  });

  it.each([
    ['Tide gauge ingest', ['ing', 'tide'], '[Tide] gauge [ing]est'],
    ['Catalog of logs', ['log'], 'Catalog of [log]s'],
    ['Catalog', ['log', 'alo'], 'Cat[alog]'],
    ['Café', ['cafe'], '[Café]'],
    ['Anything', [], 'Anything'],
  ])('marks in “%s” what %j found', (text, terms, marked) => {
    const pieces = piecesOf(text, marksIn(text, terms));
    expect(pieces.map((one) => (one.marked ? `[${one.text}]` : one.text)).join('')).toBe(marked);
  });

  it('leaves every text whole, wherever it is marked', () => {
    const mark = fc.tuple(fc.nat(20), fc.nat(20)).map(([start, length]) => [start, start + length] as const);
    fc.assert(
      fc.property(fc.string({ minLength: 41, maxLength: 60 }), fc.array(mark), (text, marks) => {
        expect(
          piecesOf(text, marks)
            .map((piece) => piece.text)
            .join(''),
        ).toBe(text);
      }),
    );
  });
});

describe('the place of a fiber that was found', () => {
  it.each<[string, Partial<FiberRow>]>([
    ['Draft', {}],
    ['Resting', { horizon: 'stashed' }],
    ['Resting until Fri 27', { horizon: 'stashed', due: '2026-11-27' }],
    ['Accepted', { status: 'closed', tempered: true }],
    ['Set aside', { status: 'closed', tempered: false }],
    ['Awaiting review', { status: 'closed' }],
    ['Working', { status: 'active', runtime: live() }],
    ['Pinned', { svc: { kind: 'pinned' } }],
  ])('is %s for %j', (place, of) => {
    const today = '2026-11-23';
    expect(foundPlace(cardOf(row(of), today), today)).toBe(place);
  });
});

describe('the commands', () => {
  const texts = (typed: string) => commandsFor(typed, 6).map(({ command }) => command.text);

  it.each([
    ['sta', 'Stash a task'],
    ['set br', 'Settings: emergency brake'],
    ['remotes', 'Edit remotes.json'],
    ['desk', 'Go to Desk'],
    ['hosts', 'Hosts: how fresh each one is'],
  ])('has for “%s”: %s', (typed, text) => {
    expect(texts(typed)).toContain(text);
  });

  it('has none for other words, and a few where nothing was typed', () => {
    expect(texts('tash')).toEqual([]);
    expect(texts('')).toHaveLength(6);
  });
});
