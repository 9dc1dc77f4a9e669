import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeOf } from '../../../board/src/model/classify.ts';
import {
  type Call,
  type Gesture,
  type GestureFacts,
  gesturesOf,
  targetsOf,
} from '../../../board/src/model/gestures.ts';
import { changed, shows } from '../../../board/src/model/pending.ts';
import { stateOf } from '../../../board/src/model/states.ts';
import { takeBack } from '../../../board/src/model/take-back.ts';
import type { FiberRow } from '../../../board/src/model/wire.ts';
import { dispatchRequestSchema, killRequestSchema } from '../../../src/contract/http/dispatch.ts';
import { editFiberSchema, nestFiberSchema } from '../../../src/contract/http/fibers.ts';
import { lifecycleBodySchema, transitionBodySchema } from '../../../src/contract/http/lifecycle.ts';
import { armed, blocked, live, row } from './rows.ts';

const TODAY = '2026-11-23';
const FACTS: GestureFacts = {
  host: 'host-a',
  aged: false,
  today: TODAY,
  contact: { kind: 'live' },
  saving: false,
};

const SCHEMAS = {
  '/transition': transitionBodySchema,
  '/fiber-edit': editFiberSchema,
  '/dispatch': dispatchRequestSchema,
  '/kill': killRequestSchema,
  '/lifecycle': lifecycleBodySchema,
  '/fiber-nest': nestFiberSchema,
} as const;

/** A row of each state that a card can be in. */
const STATES: Readonly<Record<string, Partial<FiberRow>>> = {
  draft: {},
  'draft of a service': { svc: { agent: 'atlas' } },
  'active without a service': { status: 'active' },
  parked: { svc: { kind: 'pinned' } },
  due: armed,
  launching: { ...armed, runtime: live({ state: 'claimed', phase: 'unknown' }) },
  working: { ...armed, runtime: live() },
  'working, not armed': { svc: { agent: 'atlas' }, runtime: live() },
  waiting: { ...armed, runtime: live({ phase: 'waiting' }) },
  idle: { ...armed, runtime: live({ phase: 'idle', surface: 'app' }) },
  unknown: { ...armed, runtime: live({ state: 'unknown' }) },
  blocked: { ...armed, blocked },
  held: { ...armed, held: 'boot_quarantine' },
  delayed: { ...armed, gate: 'max_concurrent' },
  elsewhere: { status: 'active', svc: { host: 'host-b' } },
  scheduled: {
    status: 'active',
    svc: { kind: 'standing', schedule: '0 9 * * *' },
    gate: 'due',
    next_due_at: 1,
  },
  'standing at work': { status: 'active', svc: { kind: 'standing' }, runtime: live() },
  'pinned at work': { svc: { kind: 'pinned' }, runtime: live() },
  review: { status: 'closed', svc: { agent: 'atlas' } },
  'review of a role': { status: 'closed', svc: { kind: 'standing' } },
  'review of a pinned role': { status: 'closed', svc: { kind: 'pinned' } },
  'review, its worker still runs': { status: 'closed', svc: {}, runtime: live() },
  accepted: { status: 'closed', tempered: true, svc: {} },
  'set aside': { status: 'closed', tempered: false, svc: {} },
  resting: { horizon: 'stashed', due: '2026-12-01' },
  'resting, armed': { ...armed, horizon: 'stashed' },
  'review, laid aside': { status: 'closed', svc: {}, horizon: 'stashed', due: '2026-12-24' },
  'without a ULID': { uid: null },
};

/** As the daemon answers a move of an active fiber. */
const UNDO = { set: { status: 'active' }, unset: ['closed-at'], digest: 'd' };

const gestures = (of: Partial<FiberRow>, facts: Partial<GestureFacts> = {}) =>
  gesturesOf(row({ uid: '01U', ...of }), { ...FACTS, ...facts });
const ids = (found: readonly Gesture[]) => found.map(({ id }) => id);
const named = (found: readonly Gesture[], id: string) => found.find((one) => one.id === id);

/** The body of a form with its empty fields filled in. */
function filled({ path, body }: Call): [path: Call['path'], body: unknown] {
  const given = Object.entries(body).map(([key, value]) => [key, value === '' ? 'x' : value]);
  return [path, Object.fromEntries(given)];
}

function acceptedBy(path: Call['path'], body: unknown): unknown {
  const found = SCHEMAS[path].safeParse(body);
  return found.success ? null : found.error.issues;
}

describe('what can be done to a card', () => {
  it.each<[state: string, ids: string[]]>([
    ['draft', ['launch', 'review', 'accept', 'set_aside']],
    ['parked', ['launch', 'set_aside']],
    ['due', ['drafts', 'launch', 'review', 'accept', 'set_aside']],
    ['launching', ['drafts', 'review', 'accept', 'set_aside']],
    ['working', ['drafts', 'review', 'accept', 'set_aside']],
    ['scheduled', ['drafts', 'launch', 'review', 'set_aside']],
    ['review', ['drafts', 'launch', 'accept', 'set_aside']],
    ['review of a pinned role', ['drafts', 'launch', 'accept', 'set_aside']],
    ['accepted', ['drafts', 'launch', 'review', 'set_aside']],
    ['resting', ['drafts', 'launch', 'review', 'accept', 'set_aside']],
  ])('%s can be moved to %j', (state, expected) => {
    const found = gestures(STATES[state] ?? {});
    expect(ids(found.filter(({ group }) => group === 'move'))).toEqual(expected);
  });

  it.each(Object.entries(STATES))('asks the daemon only what it takes: %s', (_, of) => {
    for (const { id, act } of gestures(of)) {
      if (act.kind === 'sheet') continue;
      const [path, body] = act.kind === 'form' ? filled(act.call) : [act.call.path, act.call.body];
      expect([id, acceptedBy(path, body)]).toEqual([id, null]);
      if (act.kind !== 'write' || act.change === null) continue;
      const { call } = takeBack(row({ uid: '01U', ...of }), act.call, UNDO);
      expect([id, acceptedBy(call.path, call.body)]).toEqual([id, null]);
    }
  });

  it.each(Object.entries(STATES))(
    'names each thing once, with a key and a letter of its own: %s',
    (_, of) => {
      const found = gestures(of);
      expect(new Set(ids(found)).size).toBe(found.length);
      const letters = targetsOf(found).flatMap(({ letter }) => letter ?? []);
      expect(letters).toHaveLength(targetsOf(found).length);
      expect(new Set(letters).size).toBe(letters.length);
      const keys = found.flatMap(({ key }) => key ?? []);
      expect(new Set(keys).size).toBe(keys.length);
      for (const { says, name, verb } of found)
        expect([says.trim(), name.trim(), verb.trim()]).not.toContain('');
    },
  );

  it.each([
    'working',
    'working, not armed',
    'waiting',
    'standing at work',
    'pinned at work',
    'review, its worker still runs',
  ])('asks before it ends a worker, and says on which host: %s', (state) => {
    for (const { act, says, group, id } of gestures(STATES[state] ?? {})) {
      if (group !== 'move' || id === 'launch' || act.kind !== 'write') continue;
      expect(act).toMatchObject({ asks: true });
      expect(says).toContain('The worker on host-a stops.');
      expect(act.done).toContain('The worker on host-a stopped.');
    }
  });

  it('refuses to move what is being launched, and what may still run', () => {
    for (const state of ['launching', 'unknown'])
      for (const { refused } of targetsOf(gestures(STATES[state] ?? {}))) expect(refused).toMatch(/worker/);
  });

  it('refuses a second worker, and rest for a fiber whose worker runs', () => {
    const found = gestures(STATES.working ?? {});
    expect(named(found, 'launch')?.refused).toMatch(/^Its worker on host-a runs already/);
    for (const { refused } of found.filter(({ group }) => group === 'rest'))
      expect(refused).toMatch(/^Its worker on host-a runs/);
  });

  it.each<[GestureFacts['contact'], string]>([
    [{ kind: 'gone', retry_at: 1 }, 'No answer from host-a'],
    [{ kind: 'booting', host: 'host-a', boot_ms: 5 }, 'host-a is starting'],
  ])('refuses every write with the words of the banner while nobody answers: %j', (contact, words) => {
    const found = gestures(STATES.review ?? {}, { contact });
    for (const { refused, act } of found) if (act.kind !== 'sheet') expect(refused).toContain(words);
    expect(named(found, 'open')?.refused).toBeNull();
  });

  it('refuses another write while one is being saved, and names why a document cannot be read', () => {
    const writes = ['launch', 'review', 'accept', 'set_aside'];
    writes.push(
      'rest:2026-11-24',
      'rest:2026-11-30',
      'rest:2026-12-01',
      'rest:none',
      'pin',
      'repeat',
      'nest',
    );
    const refusals = (of: Partial<FiberRow>, facts?: Partial<GestureFacts>) =>
      gestures(of, facts)
        .filter(({ act }) => act.kind !== 'sheet')
        .map(({ id, refused }) => [id, refused]);
    const all = (words: string, ids = writes) => ids.map((id) => [id, words]);
    expect(refusals({}, { saving: true })).toEqual(all('Its last change is still being saved.'));
    const unread = 'Its document cannot be read: line 4';
    expect(refusals({ error: 'line 4' })).toEqual(all(unread, ['drafts', ...writes]));
  });

  it('asks the host whose feed has the fiber, and says where that is its last known state', () => {
    const theirs = row({ origin: 'host-b', svc: { host: 'host-b' } });
    const found = (aged: boolean) => named(gesturesOf(theirs, { ...FACTS, aged }), 'set_aside');
    expect(found(false)?.act).toMatchObject({ call: { body: { origin: 'host-b' } } });
    expect(found(false)?.says).toMatch(/Asked of host-b, which owns it\.$/);
    expect(found(true)?.says).toMatch(/Asked of host-b, which owns it, on its last known state\.$/);
  });

  it('names the owner only where it is another host, and the store where an id may not be enough', () => {
    const origin = (of: Partial<FiberRow>) =>
      named(gestures(of), 'set_aside')?.act as { call: { body: { origin?: string } } };
    expect(origin({}).call.body).toEqual({ fiber_id: '01U', target: 'composted' });
    expect(origin(STATES.elsewhere ?? {}).call.body).toMatchObject({ origin: 'host-b' });
    expect(named(gestures(STATES.elsewhere ?? {}), 'set_aside')?.says).toMatch(/Asked of host-b/);
    expect(named(gestures({ uid: null }), 'pin')?.act).toMatchObject({
      call: { body: { action: 'pin', fiber: 'one', store: '/store' } },
    });
  });

  it('rests until tomorrow, Monday, in a week, the next month or without a date, each day once', () => {
    const days = (today: string) =>
      gestures({}, { today })
        .filter(({ group }) => group === 'rest')
        .map(({ id, letter }) => `${letter} ${id}`);
    expect(days('2026-11-25')).toEqual([
      '1 rest:2026-11-26',
      '2 rest:2026-11-30',
      '3 rest:2026-12-02',
      '4 rest:2026-12-01',
      '5 rest:none',
    ]);
    expect(days('2026-11-29')).toEqual([
      '1 rest:2026-11-30',
      '2 rest:2026-12-06',
      '3 rest:2026-12-01',
      '4 rest:none',
    ]);
  });

  it('parks in the write that lays aside, so that nothing is launched meanwhile', () => {
    expect(named(gestures(STATES.held ?? {}), 'rest:none')?.act).toMatchObject({
      call: {
        path: '/fiber-edit',
        body: { status: 'open', due: null, tempered: null, set: { horizon: 'stashed' } },
      },
    });
  });

  it('starts nothing by taking back what closed a held fiber', () => {
    const held = row({ uid: '01U', ...STATES.held });
    const asked: Call = {
      path: '/transition',
      body: { fiber_id: '01U', target: 'composted', origin: 'host-b' },
    };
    const parked = { ...UNDO, set: { status: 'open' } };
    expect(takeBack(held, asked, parked)).toMatchObject({
      call: { path: '/fiber-edit', body: { fiber_id: '01U', origin: 'host-b', set: { status: 'open' } } },
      change: { status: 'open' },
      done: 'Taken back to Drafts.',
    });
  });
});

const rows = fc
  .record({
    of: fc.constantFrom(...Object.values(STATES)),
    due: fc.option(fc.constantFrom('2026-11-01', '2026-12-24'), { nil: undefined }),
    horizon: fc.option(fc.constant('stashed'), { nil: undefined }),
    kind: fc.constantFrom(undefined, 'oneshot' as const, 'standing' as const, 'pinned' as const),
  })
  .map(({ of, due, horizon, kind }) => {
    const svc = of.svc === undefined || kind === undefined ? {} : { svc: { ...of.svc, kind } };
    const laid = { ...(due === undefined ? {} : { due }), ...(horizon === undefined ? {} : { horizon }) };
    return row({ uid: '01U', ...of, ...laid, ...svc });
  });

describe('what becomes of a row', () => {
  const PLACES = { drafts: 'drafts', review: 'review', accept: null, set_aside: null } as const;

  it('is where the gesture says, and taken back is where it was, with or without a worker', () => {
    fc.assert(
      fc.property(rows, (before) => {
        for (const { id, act } of targetsOf(gesturesOf(before, FACTS))) {
          if (act.kind !== 'write' || act.change === null) continue;
          const after = changed(before, act.change, 0);
          expect(shows(after, act.change)).toBe(true);
          const place = placeOf(after, stateOf(after), TODAY);
          const kind = before.svc?.kind;
          if (id.startsWith('rest:')) expect(place).toBe('resting');
          else if (id === 'accept' && kind === 'standing') expect(place).not.toBe('review');
          else if (kind !== 'pinned' && !(id === 'drafts' && before.runtime !== undefined))
            expect([id, place]).toEqual([id, PLACES[id as keyof typeof PLACES]]);
          const { change } = takeBack(before, act.call, UNDO);
          const back = changed(after, change, 0);
          expect(shows(back, change)).toBe(true);
          const { runtime, ...kept } = before;
          const { runtime: _, ...restored } = back;
          expect(restored).toEqual(kept);
        }
      }),
    );
  });
});
