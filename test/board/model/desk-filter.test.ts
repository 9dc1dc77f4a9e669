import { describe, expect, it } from 'vitest';
import { offerOf } from '../../../board/src/model/bulk.ts';
import { CardCache, deskOf } from '../../../board/src/model/desk.ts';
import { narrowed } from '../../../board/src/model/desk-filter.ts';
import { gesturesOf } from '../../../board/src/model/gestures.ts';
import { draftItems, inFlightItems, reviewItems } from '../../../board/src/model/lists.ts';
import { copyOf, live, row } from './rows.ts';

const TODAY = '2026-11-23';
const ROWS = [
  row({
    id: 'a/tides',
    name: 'Tide tables',
    status: 'open',
    svc: { agent: 'atlas' },
    project_dir: '/srv/harbor',
  }),
  row({ id: 'b', name: 'Moorings', status: 'closed', svc: { agent: 'birch' }, project_dir: '/srv/harbor' }),
  row({ id: 'c', name: 'Charts', status: 'closed', svc: { agent: 'atlas' }, project_dir: '/srv/atlas-maps' }),
  row({
    id: 'd',
    name: 'Buoys',
    status: 'active',
    svc: { agent: 'atlas' },
    runtime: live({ agent: 'atlas' }),
  }),
];
const desk = () => {
  const copy = copyOf(ROWS);
  return deskOf(copy, TODAY, new CardCache());
};
const left = (filter: string) => {
  const { drafts, review, working, needs_you, blocked } = narrowed(desk(), filter);
  return [...drafts, ...review, ...working, ...needs_you, ...blocked].map(({ id }) => id).sort();
};

describe('the filter of the Desk', () => {
  it.each<[filter: string, ids: string[]]>([
    ['  ', ['a/tides', 'b', 'c', 'd']],
    ['TIDE', ['a/tides']],
    ['harbor', ['a/tides', 'b']],
    ['atlas', ['a/tides', 'c', 'd']],
    ['agent:atlas', ['a/tides', 'c', 'd']],
    ['project:atlas', ['c']],
    ['harbor atlas', ['a/tides']],
    ['host:host-a agent:birch', ['b']],
    ['nobody', []],
  ])('lets through what has each word: %j', (filter, ids) => {
    expect(left(filter)).toEqual(ids);
  });

  it('is the same Desk without a word, so that nothing is drawn again', () => {
    const whole = desk();
    expect(narrowed(whole, ' ')).toBe(whole);
  });
});

describe('the groups of the Desk', () => {
  const headings = (items: ReturnType<typeof draftItems>) =>
    items.map((one) =>
      one.kind === 'heading' ? `${one.text} ${one.count}` : one.kind === 'card' ? one.card.id : one.kind,
    );

  it('stand below the name of their project, agent or host', () => {
    expect(headings(reviewItems(desk(), 'project'))).toEqual(['atlas-maps 1', 'c', 'harbor 1', 'b']);
    expect(headings(reviewItems(desk(), 'agent'))).toEqual(['atlas 1', 'c', 'birch 1', 'b']);
    expect(headings(inFlightItems(desk(), 'project'))).toEqual(['Working 1', 'No project 1', 'd']);
    expect(headings(draftItems(desk()))).toEqual(['a/tides']);
  });
});

describe('one thing for several cards', () => {
  const offered = (id: string) => {
    const of = ROWS.find((one) => one.id === id) ?? row({});
    const facts = {
      host: 'host-a',
      aged: false,
      today: TODAY,
      contact: { kind: 'live' },
      saving: false,
    } as const;
    return gesturesOf(of, facts);
  };

  it('is answered by each for itself', () => {
    expect(offerOf(offered('b'), 'accept')).toMatchObject({ can: true, act: { asks: false } });
    expect(offerOf(offered('d'), 'accept')).toMatchObject({ can: true, act: { asks: true } });
    expect(offerOf(offered('b'), 'stop')).toMatchObject({ can: false });
    expect(offerOf(offered('b'), 'launch')).toMatchObject({
      can: true,
      says: 'It is reopened. Starts a worker with birch on host-a.',
      act: { call: { path: '/dispatch', body: { fiber_id: 'b', force: true } }, asks: false },
    });
    expect(offerOf(offered('no task'), 'launch')).toMatchObject({
      can: false,
      why: expect.stringContaining('no task yet'),
    });
    expect(offerOf(offered('b'), 'rest:none')).toMatchObject({ can: true, act: { asks: false } });
    expect(offerOf(offered('d'), 'rest:none')).toMatchObject({
      can: false,
      why: expect.stringContaining('runs'),
    });
  });
});
