import { describe, expect, it } from 'vitest';
import { cardOf } from '../../../board/src/model/card.ts';
import { placeOf } from '../../../board/src/model/classify.ts';
import { stateOf } from '../../../board/src/model/states.ts';
import type { FiberRow } from '../../../board/src/model/wire.ts';
import { armed, blocked, live, row } from './rows.ts';

const TODAY = '2026-11-23';
const unconfirmed = { ...blocked, reason: 'startup_unconfirmed' };
const limited = { ...blocked, reason: 'usage_limit' };

describe('where a fiber stands', () => {
  it.each<[what: string, of: Partial<FiberRow>, state: string, place: string | null]>([
    ['accepted', { status: 'closed', tempered: true }, 'accepted', null],
    ['set aside', { status: 'closed', tempered: false }, 'set_aside', null],
    ['closed without a verdict', { status: 'closed' }, 'review', 'review'],
    ['closed while its worker still runs', { status: 'closed', runtime: live() }, 'review', 'review'],
    [
      'at a dialog of its start',
      { ...armed, blocked: unconfirmed, runtime: live({ state: 'starting' }) },
      'waiting',
      'needs_you',
    ],
    ['at its usage limit', { ...armed, blocked: limited, runtime: live() }, 'waiting', 'needs_you'],
    ['working after a start that was refused', { ...armed, blocked, runtime: live() }, 'working', 'working'],
    ['claimed', { ...armed, runtime: live({ state: 'claimed', phase: 'unknown' }) }, 'launching', 'working'],
    ['starting', { ...armed, runtime: live({ state: 'starting' }) }, 'launching', 'working'],
    ['working', { ...armed, runtime: live() }, 'working', 'working'],
    ['a draft with a worker', { runtime: live() }, 'working', 'working'],
    ['waiting for an answer', { ...armed, runtime: live({ phase: 'waiting' }) }, 'waiting', 'needs_you'],
    ['in need of attention', { ...armed, runtime: live({ phase: 'attention' }) }, 'waiting', 'needs_you'],
    ['idle', { ...armed, runtime: live({ phase: 'idle' }) }, 'idle', 'working'],
    ['running, phase unknown', { ...armed, runtime: live({ phase: 'unknown' }) }, 'unknown', 'working'],
    [
      'running, phase unknown for long',
      { ...armed, runtime: live({ phase: 'unknown', needs_look: true }) },
      'unknown',
      'needs_you',
    ],
    ['running, session unknown', { ...armed, runtime: live({ state: 'unknown' }) }, 'unknown', 'working'],
    ['pinned at rest', { svc: { kind: 'pinned' } }, 'parked', null],
    ['pinned with a worker', { svc: { kind: 'pinned' }, runtime: live() }, 'working', 'working'],
    [
      'standing, not due',
      { status: 'active', svc: { kind: 'standing' }, gate: 'due', next_due_at: 1 },
      'scheduled',
      'scheduled',
    ],
    [
      'standing, never due',
      { status: 'active', svc: { kind: 'standing' }, gate: 'due' },
      'delayed',
      'blocked',
    ],
    [
      'standing and held back',
      { status: 'active', svc: { kind: 'standing' }, held: 'killed' },
      'held',
      'blocked',
    ],
    ['due', armed, 'due', 'working'],
    ['blocked', { ...armed, blocked }, 'blocked', 'blocked'],
    ['held back', { ...armed, held: 'boot_quarantine', gate: 'held' }, 'held', 'blocked'],
    ['delayed by a gate', { ...armed, gate: 'max_concurrent' }, 'delayed', 'blocked'],
    ['of another host', { status: 'active', svc: { host: 'host-b' } }, 'elsewhere', 'blocked'],
    ['active without a service block', { status: 'active' }, 'draft', 'drafts'],
    ['open', {}, 'draft', 'drafts'],
    ['unreadable', { error: 'line 4' }, 'blocked', 'blocked'],
    ['laid aside without a date', { horizon: 'stashed' }, 'draft', 'resting'],
    ['laid aside until tomorrow', { horizon: 'stashed', due: '2026-11-24' }, 'draft', 'resting'],
    ['laid aside until today', { horizon: 'stashed', due: '2026-11-23' }, 'draft', 'drafts'],
    ['laid aside until a day that is none', { horizon: 'stashed', due: 'soon' }, 'draft', 'resting'],
    ['laid aside and due, armed', { ...armed, horizon: 'stashed', due: '2026-11-01' }, 'due', 'working'],
    ['laid aside, with a worker', { ...armed, horizon: 'stashed', runtime: live() }, 'working', 'working'],
    ['laid aside and closed', { status: 'closed', horizon: 'stashed' }, 'review', 'review'],
    ['laid aside and unreadable', { horizon: 'stashed', error: 'line 4' }, 'blocked', 'blocked'],
    ['a span of days', { status: 'closed', tags: ['cycle'] }, 'review', null],
  ])('%s', (_, of, state, place) => {
    const fiber = row(of);
    expect(stateOf(fiber)).toBe(state);
    expect(placeOf(fiber, stateOf(fiber), TODAY)).toBe(place);
  });
});

describe('what a card says', () => {
  const card = (of: Partial<FiberRow>) => cardOf(row(of), TODAY);

  it('shows what a waiting worker said last, and since when', () => {
    const runtime = live({ phase: 'waiting', phase_since: 5, said: 'Keep them?' });
    expect(card({ ...armed, runtime }).band).toEqual({ tone: 'you', since: 5, text: 'Keep them?' });
    expect(card({ ...armed, runtime: { ...runtime, said: null } }).band).toMatchObject({ text: null });
  });

  it('shows the refusal of a worker that stands at a dialog, since when, and a way to its screen', () => {
    const runtime = live({ state: 'starting', phase: 'unknown', phase_since: null });
    const { band, buttons } = card({ ...armed, blocked: unconfirmed, runtime });
    expect(band).toEqual({ tone: 'you', since: blocked.first_attempted_at, text: 'No folder.' });
    expect(buttons).toEqual([{ id: 'watch', name: 'Look at it' }]);
  });

  it('shows since when a worker works, and its last sign of life', () => {
    expect(card({ ...armed, runtime: live({ last_activity_at: 9 }) }).band).toEqual({
      tone: 'agent',
      since: 1,
      active_at: 9,
    });
  });

  it('gives the reason of a refusal, a hold, a delay, a death and an unreadable document', () => {
    expect(card({ ...armed, blocked }).band).toEqual({ tone: 'fault', text: 'No folder.' });
    expect(card({ ...armed, held: 'killed', held_note: 'after lunch' }).band).toEqual({
      tone: 'quiet',
      text: 'Its worker was stopped. It stays stopped until you resume it. Note: after lunch',
    });
    expect(card({ ...armed, gate: 'usage_limit' }).band).toEqual({
      tone: 'quiet',
      text: 'The account of its agent has reached its usage limit.',
    });
    expect(card({ error: 'line 4' }).band).toEqual({ tone: 'fault', text: 'Line 4.' });
    const last_death = {
      run_id: 'r',
      at: 1,
      reason: 'exited',
      code: 3,
      signal: null,
      message: 'it ended with exit code 3',
      mend: 'look',
    };
    expect(card({ ...armed, last_death }).band).toMatchObject({
      text: 'Its last worker died: it ended with exit code 3.',
    });
    expect(card({ ...armed, last_death, runtime: live() }).band).toMatchObject({ tone: 'agent' });
  });

  it('says whose it is where another host owns it', () => {
    expect(card({ status: 'active', svc: { host: 'host-b' } })).toMatchObject({
      host: 'host-b',
      band: { tone: 'quiet', text: 'It belongs to host-b; host-a does not know whether it runs.' },
    });
  });

  it('names the agent of the run before that of the document, and its effort', () => {
    expect(card({ svc: { agent: 'atlas', effort: 'high' } }).agent).toBe('atlas high');
    expect(card({ ...armed, runtime: live({ agent: 'birch' }) }).agent).toBe('birch');
    expect(card({}).agent).toBeNull();
  });

  it('tells the day on which it is due', () => {
    expect(card({ due: '2026-11-23T09:00:00Z' }).fact).toEqual({ kind: 'due', day: '2026-11-23' });
    expect(card({ due: '2026-13-45' }).fact).toBeNull();
  });
});
