import { describe, expect, it } from 'vitest';
import { type AgentFact, agentFact, assessLiveness } from '../../../src/dispatch/run/liveness.ts';
import type { ExitRecord, FileRead } from '../../../src/dispatch/run-directory/run-records.ts';
import type { MuxListing } from '../../../src/mux/mux.ts';

const NAME = 'loader-01K2Z3V4W5X6Y7Z8A9B0C1D2E3-svc';
const session = {
  id: '$1',
  name: NAME,
  created_at: 1_000,
  pane_pid: 5,
  pane_dead: false,
  panes: 1,
  attached: 0,
};
const LISTINGS: Record<string, MuxListing> = {
  here: { kind: 'alive', sessions: [session] },
  dead: { kind: 'alive', sessions: [{ ...session, pane_dead: true }] },
  earlier: { kind: 'alive', sessions: [{ ...session, created_at: 0 }] },
  gone: { kind: 'alive', sessions: [{ ...session, name: `${NAME}2` }] },
  absent: { kind: 'absent' },
  unknown: { kind: 'unknown', detail: '' },
};
const AGENTS: AgentFact[] = ['alive', 'gone', 'unknown', 'unrecorded'];
const EXITS: Record<string, FileRead<ExitRecord>> = {
  found: { kind: 'found', value: { code: 0, signal: null, at: 1 } },
  none: { kind: 'none' },
  torn: { kind: 'unknown', detail: '' },
};
const STATES = ['claimed', 'spawned', 'ended'] as const;

/** Written apart from the code under test: what each combination must come to. */
function expected(
  listing: string,
  agent: AgentFact,
  exit: string,
  state: string,
  young: boolean,
  boot: string,
): string {
  if (boot === 'other') return 'ended rebooted';
  if (agent === 'alive') return 'alive';
  if (exit === 'found') return 'ended exit_recorded';
  if (agent === 'gone') return 'ended agent_gone';
  const table: Record<string, [recorded: string, unrecordedYoung: string, unrecordedOld: string]> = {
    here: ['unknown agent_unknown', 'starting', 'unknown agent_unrecorded'],
    dead: ['ended pane_dead', 'ended pane_dead', 'ended pane_dead'],
    gone: [
      'ended session_gone',
      state === 'claimed' ? 'starting' : 'ended session_gone',
      'ended session_gone',
    ],
    absent: [
      'ended session_gone',
      state === 'claimed' ? 'starting' : 'ended session_gone',
      'ended session_gone',
    ],
    unknown: ['unknown no_answer', 'starting', 'unknown no_answer'],
  };
  table.earlier = state === 'claimed' ? table.gone! : table.here!;
  return table[listing]![agent === 'unknown' ? 0 : young ? 1 : 2];
}

const cases = Object.keys(LISTINGS).flatMap((listing) =>
  AGENTS.flatMap((agent) =>
    Object.keys(EXITS).flatMap((exit) =>
      STATES.flatMap((state) =>
        [true, false].flatMap((young) =>
          ['same', 'other', 'untold'].map((boot) => ({ listing, agent, exit, state, young, boot })),
        ),
      ),
    ),
  ),
);

function assess(facts: (typeof cases)[number]): string {
  const verdict = assessLiveness({
    listing: LISTINGS[facts.listing]!,
    manifest: { mux_session: NAME, state: facts.state, dispatched_at: 1_000, boot_id: 'b1' },
    boot_id: { same: 'b1', other: 'b2', untold: null }[facts.boot] ?? null,
    agent: facts.agent,
    exit: EXITS[facts.exit]!,
    now: facts.young ? 5_000 : 50_000,
    startup_ms: 15_000,
  });
  return 'why' in verdict ? `${verdict.kind} ${verdict.why}` : verdict.kind;
}

describe('whether a run lives', () => {
  it('is told from every combination of facts', () => {
    expect(cases).toHaveLength(6 * 4 * 3 * 3 * 2 * 3);
    for (const facts of cases) {
      const { listing, agent, exit, state, young, boot } = facts;
      expect(assess(facts), JSON.stringify(facts)).toBe(expected(listing, agent, exit, state, young, boot));
    }
  });

  it('never ends a run because something did not answer', () => {
    for (const facts of cases) {
      if (facts.boot === 'other' || facts.listing !== 'unknown' || facts.exit === 'found') continue;
      if (facts.agent === 'unknown' || facts.agent === 'unrecorded')
        expect(assess(facts)).not.toMatch(/^ended/);
    }
  });

  it('takes a file that cannot be read for an unknown process, and a missing one for an unrecorded agent', () => {
    expect(agentFact({ kind: 'none' }, null)).toBe('unrecorded');
    expect(agentFact({ kind: 'unknown', detail: '' }, null)).toBe('unknown');
    expect(agentFact({ kind: 'found', value: { pid: 7, start_time: '1' } }, 'gone')).toBe('gone');
    expect(agentFact({ kind: 'found', value: { pid: 7, start_time: '1' } }, null)).toBe('unknown');
  });
});
