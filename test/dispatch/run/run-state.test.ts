import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  endInHand,
  isClaimed,
  isStarted,
  isStarting,
  liveState,
  nextRunState,
  type RunEvent,
  type RunState,
  shownState,
} from '../../../src/dispatch/run/run-state.ts';

const end = { reason: 'kill', at: 7 };
const STATES = {
  starting: { kind: 'starting' },
  claimed: { kind: 'claimed', answers: true },
  silent_claimed: { kind: 'claimed', answers: false },
  started: { kind: 'started', answers: true },
  running: { kind: 'running', answers: true },
  silent_running: { kind: 'running', answers: false },
  ending: { kind: 'ending', end, before: { kind: 'running', answers: true } },
} satisfies Record<string, RunState>;
const EVENTS = {
  start_resumed: { kind: 'start_resumed' },
  started: { kind: 'started', confirmed: false },
  started_confirmed: { kind: 'started', confirmed: true },
  start_over: { kind: 'start_over' },
  confirmed: { kind: 'confirmed' },
  answered: { kind: 'looked', answers: true },
  silent: { kind: 'looked', answers: false },
  ending: { kind: 'ending', end },
  not_ended: { kind: 'not_ended' },
} satisfies Record<string, RunEvent>;

const TABLE: [keyof typeof STATES, keyof typeof EVENTS, RunState][] = [
  ['starting', 'started', STATES.started],
  ['starting', 'started_confirmed', STATES.running],
  ['starting', 'start_over', STATES.claimed],
  ['starting', 'silent', STATES.starting],
  ['starting', 'confirmed', STATES.starting],
  ['claimed', 'start_resumed', STATES.starting],
  ['claimed', 'started', STATES.started],
  ['claimed', 'start_over', STATES.claimed],
  ['claimed', 'silent', STATES.silent_claimed],
  ['silent_claimed', 'started_confirmed', STATES.silent_running],
  ['silent_claimed', 'answered', STATES.claimed],
  ['started', 'confirmed', STATES.running],
  ['started', 'start_over', STATES.started],
  ['started', 'start_resumed', STATES.started],
  ['running', 'started', STATES.running],
  ['running', 'silent', STATES.silent_running],
  ['running', 'ending', STATES.ending],
  ['silent_running', 'answered', STATES.running],
  ['ending', 'not_ended', STATES.running],
  ['ending', 'ending', STATES.ending],
  ['ending', 'silent', { ...STATES.ending, before: STATES.silent_running }],
];

describe('the state of a run', () => {
  it.each(TABLE)('%s, then %s', (before, event, after) => {
    expect(nextRunState(STATES[before], EVENTS[event])).toEqual(after);
  });

  it('is shown as claimed until the start has come about, and as unknown while nobody can tell', () => {
    const shown = Object.fromEntries(
      Object.entries(STATES).map(([name, state]) => [name, shownState(state)]),
    );
    expect(shown).toEqual({
      starting: 'claimed',
      claimed: 'claimed',
      silent_claimed: 'unknown',
      started: 'starting',
      running: 'running',
      silent_running: 'unknown',
      ending: 'running',
    });
  });

  const events = fc.array(fc.constantFrom<RunEvent>(...Object.values(EVENTS)), { maxLength: 30 });
  const first = fc.constantFrom<RunState>(...Object.values(STATES));

  it('never falls back from started to unstarted, whatever happens', () => {
    fc.assert(
      fc.property(first, events, (state, all) => {
        let now: RunState = state;
        for (const event of all) {
          const next = nextRunState(now, event);
          if (isStarted(now)) expect(isStarted(next)).toBe(true);
          if (liveState(now).kind === 'running') expect(liveState(next).kind).toBe('running');
          now = next;
        }
      }),
    );
  });

  it('is exactly one of starting, claimed and started, also while the run is being ended', () => {
    fc.assert(
      fc.property(first, events, (state, all) => {
        const last = all.reduce<RunState>(nextRunState, state);
        const kinds = [isStarting(last), isClaimed(last), isStarted(last)];
        expect(kinds.filter(Boolean)).toHaveLength(1);
      }),
    );
  });

  it('holds the end that is in hand until it fails, and forgets it then', () => {
    fc.assert(
      fc.property(first, events, (state, all) => {
        const last = all.reduce<RunState>(nextRunState, state);
        const ending = nextRunState(last, EVENTS.ending);
        expect(endInHand(ending)).toEqual(end);
        expect(nextRunState(ending, EVENTS.not_ended)).toEqual(liveState(last));
      }),
    );
  });
});
