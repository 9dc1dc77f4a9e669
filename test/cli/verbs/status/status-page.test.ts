import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placeOf as placeOnBoard } from '../../../../board/src/model/classify.ts';
import { stateOf } from '../../../../board/src/model/states.ts';
import { paint } from '../../../../src/cli/command-line/styled-text.ts';
import { type PlacedRow, placeOf } from '../../../../src/cli/verbs/status/place.ts';
import { printStatus } from '../../../../src/cli/verbs/status/print-status.ts';
import { type StatusPage, statusPage } from '../../../../src/cli/verbs/status/status-page.ts';
import { FIBER_KINDS, FIBER_STATUSES, type FiberRow } from '../../../../src/contract/fiber.ts';
import { GATES } from '../../../../src/contract/gates.ts';
import type { State } from '../../../../src/contract/http/state.ts';
import type { Version } from '../../../../src/contract/http/version.ts';
import { fiberAnswer, runningRow, stateAnswer, versionAnswer } from '../../answers.ts';

const NOW = Date.parse('2025-11-21T14:00:00Z');
const svc = { kind: 'oneshot', host: 'host-a' } as const;
const DEATH = {
  ...{ run_id: 'r', at: NOW - 60_000, reason: 'exited', code: 7, signal: null },
  ...{ message: 'exit code 7', mend: 'its program is not licensed' },
};
const BLOCKED = {
  ...{ reason: 'agent_unavailable', message: 'claude is not on the PATH; install it', attempts: 2 },
  ...{ first_attempted_at: NOW - 90_000, attempted_at: NOW - 60_000, retry_at: null },
};

function run(over: Partial<NonNullable<FiberRow['runtime']>> = {}): NonNullable<FiberRow['runtime']> {
  const { fiber_id: _, uid: __, store: ___, ...runtime } = runningRow({ started_at: NOW - 600_000 });
  return { ...runtime, ...over };
}

function page(rows: readonly Partial<FiberRow>[], state: Partial<State> = {}, version = versionAnswer()) {
  return statusPage({
    rows: rows.map((over, at) => fiberAnswer({ id: `f${at}`, svc, ...over })),
    state: stateAnswer(state),
    version,
    now: NOW,
    svc: 'svc',
  });
}

function printed(told: StatusPage, width = 80): string {
  const text = printStatus(told, { width, unicode: true, now: NOW, all: false, svc: 'svc' });
  return paint(text, false, (part) => part);
}

describe('what needs a person', () => {
  it.each<[string, Partial<FiberRow>, string, string]>([
    [
      'a permission',
      { runtime: run({ phase: 'waiting', phase_since: NOW - 10_000, said: 'asks to use Bash' }) },
      'wants to use Bash',
      'svc attach f0',
    ],
    [
      'a command that waits for a permission',
      { runtime: run({ phase: 'waiting', phase_since: NOW - 10_000, said: 'asks to run: rm -rf\nbuild/' }) },
      'wants to run: rm -rf build/',
      'svc attach f0',
    ],
    [
      'a dialog that only a notice told of',
      {
        runtime: run({ phase: 'waiting', phase_since: NOW - 10_000, said: 'Claude needs your permission' }),
      },
      'Claude needs your permission',
      'svc attach f0',
    ],
    [
      'a question about a permission',
      { runtime: run({ phase: 'waiting', phase_since: null, said: 'Whose permission is it?' }) },
      'asks: Whose permission is it?',
      'svc attach f0',
    ],
    [
      'a question with its words',
      { runtime: run({ phase: 'waiting', phase_since: null, said: 'Which of\nthe two?' }) },
      'asks: Which of the two?',
      'svc attach f0',
    ],
    [
      'a question of a conversation in the app',
      { runtime: run({ surface: 'app', mux_session: null, phase: 'attention', said: 'Which one?' }) },
      'its last turn ended: Which one?',
      'svc send f0 "…"',
    ],
    [
      'a worker of which nobody knows what it does',
      { runtime: run({ phase: 'unknown', needs_look: true }) },
      'runs, and does not say what it does',
      'svc attach f0',
    ],
    ['a failed turn', { runtime: run({ phase: 'attention' }) }, 'its last turn failed', 'svc attach f0'],
    [
      'a dialog of a worker that has not come up',
      {
        runtime: run({ state: 'starting', phase: 'unknown' }),
        blocked: {
          ...BLOCKED,
          reason: 'startup_unconfirmed',
          screen: '╭──╮\n│ Do you trust this folder? │\n╰──╯',
        },
      },
      'did not start: Do you trust this folder?',
      'svc attach f0',
    ],
    [
      'a death',
      { last_death: { ...DEATH, screen: 'Reading\nFatal: licence expired\n' }, gate: 'cooldown' },
      'died: exit code 7, "Fatal: licence expired"',
      'svc why f0',
    ],
    [
      'a usage limit',
      { blocked: { ...BLOCKED, reason: 'usage_limit' }, gate: 'usage_limit' },
      'at its usage limit',
      'svc why f0',
    ],
    [
      'a fiber held after a loop',
      {
        held: 'loop_breaker',
        blocked: { ...BLOCKED, reason: 'loop_breaker', attempts: 5 },
        gate: 'held',
      },
      'failed 5 times in a row',
      'svc why f0',
    ],
    ['a lost tmux server', { held: 'server_lost', gate: 'held' }, 'tmux ended', 'svc why f0'],
  ])('is %s', (_, row, words, command) => {
    expect(page([row]).needs_you).toMatchObject([{ what: 'f0', words, commands: [command] }]);
  });

  it.each<[string, Partial<FiberRow>]>([
    [
      'a permission that was asked for a moment ago',
      { runtime: run({ phase: 'waiting', phase_since: NOW - 1_000, said: 'asks to use Read' }) },
    ],
    ['a worker that is idle', { runtime: run({ phase: 'idle', phase_since: NOW - 60_000 }) }],
    ['a death before the worker that runs now', { runtime: run(), last_death: DEATH }],
    ['a death of a fiber that was closed', { status: 'closed', last_death: DEATH }],
    ['what a person stopped', { held: 'killed', last_death: DEATH, gate: 'held' }],
    ['what a person left', { held: 'clean_exit', gate: 'held' }],
    ['what another host starts', { svc: { ...svc, host: 'host-b' } }],
  ])('is not %s', (_, row) => {
    expect(page([row]).needs_you).toEqual([]);
  });

  it('is told in the order of its age, the oldest first', () => {
    const asks = (minutes: number) => ({
      runtime: run({ phase: 'waiting', phase_since: NOW - minutes * 60_000, said: `asks ${minutes}` }),
    });
    expect(page([asks(2), asks(30), asks(4)]).needs_you.map(({ what }) => what)).toEqual(['f1', 'f2', 'f0']);
  });

  it('names the workers of an incident once, with one command for all', () => {
    const of = {
      uid: '',
      store: '/srv/notes',
      run_id: 'r',
      mux_session: 's',
      session_uuid: null,
      refused: null,
    };
    const fibers = ['f0', 'f1'].map((fiber_id) => ({ ...of, fiber_id, lost_at: NOW }));
    const incidents = [{ id: 'i', cause: 'server_lost' as const, at: NOW - 60_000, fibers }];
    const held = { held: 'server_lost', gate: 'held' } as const;
    expect(page([held, held], { incidents }).needs_you).toEqual([
      {
        what: 'tmux',
        fibers: ['f0', 'f1'],
        words: '2 workers ended with it: f0, f1',
        since: NOW - 60_000,
        commands: ['svc incident resume --all'],
      },
    ]);
  });
});

describe('that nothing needs a person', () => {
  it('is not said above what asks for one', () => {
    const quiet = 'Nothing needs you. Nothing is running. 0 drafts (svc fiber ls).\n';
    expect(printed(page([]))).toMatch(new RegExp(`^${quiet.replace(/[.()]/g, '\\$&')}`));
    const works = page([{ status: 'active', runtime: run() }]);
    expect(printed(works)).toMatch(/^Nothing needs you\.\n/);
    const closed = { status: 'closed', closed_at: new Date(NOW).toISOString() } as const;
    expect(printed(page([closed]))).toMatch(/^Nothing is running\.\n◇ 1 to review\n/);
    expect(printed(page([closed, { status: 'active', runtime: run() }]))).toMatch(/^◇ 1 to review\n/);
  });
});

describe('what is to review', () => {
  it('is told with its outcome, and how its last worker died; the newest first', () => {
    const closed = (closed_at: string, over: Partial<FiberRow> = {}) => ({
      ...{ status: 'closed' as const, closed_at, outcome: 'Done.' },
      ...over,
    });
    const { review } = page([
      closed('2025-11-20T08:40:00Z'),
      closed('2025-11-20T09:12:00Z', { last_death: DEATH }),
      closed('2025-11-20T09:12:00Z', { tempered: true }),
    ]);
    expect(review).toMatchObject([
      { what: 'f1', words: 'died: exit code 7; Done.', commands: ['svc accept f1', 'svc reopen f1 -m "…"'] },
      { what: 'f0', words: 'Done.' },
    ]);
  });
});

describe('what cannot start', () => {
  it('is told with the command that fixes it, and what a restart holds in one line', () => {
    const held = { held: 'boot_quarantine', gate: 'held' } as const;
    const { cannot_start, needs_you } = page([
      {
        project_dir: '/srv/gone',
        blocked: {
          ...BLOCKED,
          reason: 'project_dir_missing',
          message: 'the project folder /srv/gone does not exist',
        },
      },
      { blocked: BLOCKED },
      { held: 'killed', held_note: 'wrong branch', gate: 'held' },
      { gate: 'max_concurrent' },
      { svc: { ...svc, kind: 'standing' }, gate: 'due' },
      ...[held, held, held],
    ]);
    expect(needs_you).toEqual([]);
    expect(cannot_start.map(({ what, words, commands }) => [what, words, ...commands])).toEqual([
      ['f0', 'folder /srv/gone does not exist', 'svc reshape f0 --project-dir <folder>'],
      ['f1', 'claude is not on the PATH', 'svc why f1'],
      ['f2', 'stopped by you: wrong branch', 'svc resume f2'],
      ['f3', 'waits for a free place among the workers', 'svc why f3'],
      ['f4', 'no time of its schedule is due', 'svc why f4'],
      ['f5 and 2 more', 'held since the restart', 'svc daemon release'],
    ]);
  });

  it('is told with the time of its own store, where a store whose name begins the same has its id', () => {
    const pending_launch = ['/srv/notes', '/srv/notes-old'].map((store, at) => ({
      ...{ fiber_id: 'loader', uid: '', store, reason: 'killed', note: null },
      since: NOW - (at + 1) * 60_000,
    }));
    const store = '/srv/notes-old';
    const row = { id: 'loader', store, path: `${store}/.fibers/loader/loader.md` };
    const { cannot_start } = page([{ ...row, held: 'killed', gate: 'held' }], { pending_launch });
    expect(cannot_start).toMatchObject([{ what: 'loader', since: NOW - 120_000 }]);
  });

  it('names a data folder that is gone once', () => {
    const fault = 'the data folder /srv/data was deleted';
    const failed = { name: 'data_dir', state: 'failed', restarts: 0, started_at: null, last_error: fault };
    const version = versionAnswer({ components: [failed as Version['components'][number]] });
    const { faults } = page([], { data_dir: { path: '/srv/data', fault } }, version);
    expect(faults.map(({ what, words }) => [what, words])).toEqual([['data folder', fault]]);
  });

  it('is told once for all where the host is the reason', () => {
    const brake = { on: true, since: NOW - 60_000, note: null };
    const { faults, cannot_start } = page([{ gate: 'stopped_all' }, { gate: 'stopped_all' }], { brake });
    expect(cannot_start).toEqual([]);
    expect(faults).toMatchObject([
      { what: 'brake', words: 'is on; 2 fibers wait', commands: ['svc resume-all'] },
    ]);
  });
});

describe('the groups of svc status', () => {
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const row = fc.record({
    status: fc.constantFrom(...FIBER_STATUSES),
    tempered: maybe(fc.boolean()),
    tags: fc.constantFrom([], ['cycle'], ['methods']),
    horizon: maybe(fc.constantFrom('stashed', 'now')),
    due: maybe(fc.constantFrom('2025-11-20', '2025-11-21', '2026-01-01', '2025-02-30', 'soon')),
    svc: maybe(
      fc.record({
        kind: maybe(fc.constantFrom(...FIBER_KINDS)),
        host: maybe(fc.constantFrom('host-a', 'host-b')),
      }),
    ),
    error: maybe(fc.constant('unreadable')),
    held: maybe(fc.constantFrom('killed', 'boot_quarantine', 'loop_breaker')),
    gate: maybe(fc.constantFrom(...GATES)),
    next_due_at: maybe(fc.constant(NOW + 60_000)),
    blocked: maybe(fc.constant(BLOCKED)),
    last_death: maybe(fc.constant(DEATH)),
    runtime: maybe(
      fc.record({
        state: fc.constantFrom('claimed', 'starting', 'running', 'unknown'),
        phase: fc.constantFrom('working', 'waiting', 'attention', 'idle', 'unknown'),
        look: fc.boolean(),
      }),
    ),
  });
  const rows = row.map((over) => {
    const { runtime, ...rest } = over;
    const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    const { look = false, ...told } = runtime ?? {};
    const untold = look && runtime?.state === 'running' && runtime.phase === 'unknown';
    const shown = { ...told, ...(untold ? { needs_look: true } : {}), phase_since: NOW - 60_000 };
    const running = runtime === undefined ? {} : { runtime: run(shown as object) };
    return fiberAnswer({ ...known, ...running } as Partial<FiberRow>);
  });

  it('are the columns of the board', () => {
    fc.assert(
      fc.property(rows, (one) => {
        const shown = { ...one, origin: 'host-a' };
        expect(placeOf(one as PlacedRow, 'host-a', '2025-11-21')).toBe(
          placeOnBoard(shown, stateOf(shown), '2025-11-21'),
        );
      }),
    );
  });

  it('hold every fiber at most once, and whoever the board says needs you among the needs', () => {
    fc.assert(
      fc.property(fc.array(rows, { maxLength: 6 }), (many) => {
        const named = many.map((one, at) => ({ ...one, id: `f${at}` }));
        const { needs_you, review, working, starting, cannot_start, next } = page(named);
        const all = [needs_you, review, cannot_start].flat().flatMap(({ fibers }) => fibers);
        const told = [...all, ...starting, ...[...working, ...next].map(({ fiber_id }) => fiber_id)];
        expect(new Set(told).size).toBe(told.length);
        const needed = new Set(needs_you.flatMap(({ fibers }) => fibers));
        for (const one of named)
          if (one.runtime !== undefined) expect([...told, ...needed]).toContain(one.id);
        for (const one of named)
          if (placeOf(one as PlacedRow, 'host-a', '2025-11-21') === 'needs_you')
            expect(needed).toContain(one.id);
      }),
    );
  });
});

it('new workers that wait for a busy machine are told on one line', () => {
  const hold = { message: 'this machine is busy (load 21.3 on 2 cores, above 8)', mend: 'wait for it' };
  const { faults } = page([{ gate: 'resources' }], { start_gate: { hold, waiting: 1 } });
  expect(faults).toMatchObject([
    { what: 'new workers', words: expect.stringContaining(hold.message), commands: ['svc daemon status'] },
  ]);
});

describe('a worker', () => {
  it.each([
    [true, 'accepted'],
    [false, 'set aside'],
  ] as const)('is told of after its fiber was judged: %s', (tempered, judged) => {
    const told = page([{ status: 'closed', tempered, runtime: run() }]);
    expect(told.working).toMatchObject([{ fiber_id: 'f0', judged }]);
    expect(printed(told)).toContain(`${judged}, still runs`);
  });

  it('is told of where its fiber awaits review', () => {
    const { review } = page([{ status: 'closed', outcome: 'Done.', runtime: run() }]);
    expect(review).toMatchObject([{ what: 'f0', words: 'still runs; Done.' }]);
  });

  it.each<[string, number, string | null]>([
    ['is told of with the death of the one before it', NOW - 60_000, 'exit code 7'],
    ['is not, once that is an hour ago', NOW - 3_600_001, null],
  ])('%s', (_what, at, died) => {
    const { working } = page([{ runtime: run(), last_death: { ...DEATH, at } }]);
    expect(working).toMatchObject([{ fiber_id: 'f0', died }]);
  });
});
