import { describe, expect, it } from 'vitest';
import { type AgentFact, agentFact, assessLiveness, paneOfRun } from '../../../src/dispatch/run/liveness.ts';
import type { ExitRecord, FileRead } from '../../../src/dispatch/run-directory/run-records.ts';
import type { MuxListing } from '../../../src/mux/mux.ts';

const LAUNCH = '01K2Z3V4W5X6Y7Z8A9B0C1D2E3';
const pane = { id: '%1', pid: 5, dead: false, launch_id: LAUNCH };
const listed = (change: Partial<typeof pane> | { launch_id: null }): MuxListing => ({
  kind: 'alive',
  sessions: [{ id: '$1', name: 'loader', created_at: 1_000, attached: 0, panes: [{ ...pane, ...change }] }],
});
const LISTINGS: Record<string, MuxListing> = {
  here: listed({}),
  dead: listed({ dead: true }),
  other: listed({ launch_id: '01K2Z3V4W5X6Y7Z8A9B0C1D2E4' }),
  not_ours: listed({ launch_id: null }),
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
    absent: [
      'ended session_gone',
      state === 'claimed' ? 'starting' : 'ended session_gone',
      'ended session_gone',
    ],
    unknown: ['unknown no_answer', 'starting', 'unknown no_answer'],
  };
  table.other = table.not_ours = table.absent!;
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
    pane: paneOfRun({ launch_id: LAUNCH, mux_session: 'loader' }, LISTINGS[facts.listing]!)?.pane,
    manifest: { state: facts.state, dispatched_at: 1_000, boot_id: 'b1' },
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
