import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FiberRow, RunView } from '../../../src/contract/fiber.ts';
import type { FleetRow } from '../../../src/contract/http/fleet.ts';
import type { Life, LifeEntry } from '../../../src/contract/http/life.ts';
import type { Peers } from '../../../src/contract/http/peers.ts';
import type { Rehearsal } from '../../../src/contract/http/rehearsal.ts';
import type { Spend } from '../../../src/contract/http/spend.ts';
import type { State } from '../../../src/contract/http/state.ts';
import type { TranscriptWords } from '../../../src/contract/http/transcript-words.ts';
import type { Uncommitted } from '../../../src/contract/http/uncommitted.ts';
import type { Why } from '../../../src/contract/http/why.ts';
import { readBuildStamp } from '../../../src/platform/build-stamp.ts';
import { findProgram } from '../../kit/find-program.ts';
import { fiberAnswer, OWN_LEASE, stateAnswer, versionAnswer } from '../answers.ts';
import type { Answers, Machine } from '../kit.ts';

/** A Friday afternoon, in UTC. */
export const NOW = Date.parse('2025-11-21T14:00:30Z');
const MIN = 60_000;
const HOUR = 60 * MIN;
const ago = (ms: number) => NOW - ms;

function run(over: Partial<RunView>): RunView {
  return {
    mux_session: 'loader-01K2B3C4D5E6F7G8H9J0K1M2N3-svc',
    surface: 'cli',
    agent: 'claude-sonnet',
    harness: 'claude',
    session_uuid: null,
    state: 'running',
    phase: 'working',
    phase_since: ago(MIN),
    phase_source: 'hook',
    said: null,
    run_id: 'run-1',
    started_at: ago(40 * MIN),
    last_activity_at: ago(5_000),
    ...over,
  };
}

function fiber(id: string, over: Partial<FiberRow>): FiberRow {
  return fiberAnswer({
    id,
    leaf: id,
    path: `/srv/notes/.fibers/${id}/${id}.md`,
    name: id,
    uid: `uid-of-${id}`,
    tags: [],
    svc: { kind: 'oneshot', host: 'harbor' },
    ...over,
  });
}

const LOADER_UID = fiberAnswer().uid!;

export const ROWS: readonly FiberRow[] = [
  fiber('tide-gauges', {
    runtime: run({
      ...{ surface: 'app', mux_session: null, phase: 'waiting', phase_since: ago(21 * MIN) },
      said: 'Keep the nine days as missing, or interpolate them from the neighbours on both sides?',
    }),
  }),
  fiber('work/parser-fuzz', {
    runtime: run({ phase: 'waiting', phase_since: ago(4 * MIN), said: 'asks to run: rm -rf build/' }),
  }),
  fiber('loader', {
    uid: LOADER_UID,
    last_death: {
      ...{ run_id: 'run-0', at: ago(2 * MIN), reason: 'exited', code: 7, signal: null },
      message: 'exit code 7',
      mend: 'its program is not licensed',
      screen: '  Reading the licence\n  Fatal: licence expired',
    },
    gate: 'cooldown',
  }),
  fiber('release-notes', {
    status: 'closed',
    closed_at: '2025-11-20T09:12:00Z',
    outcome: 'Reads the merge list and groups by area; six past releases come out as they were written',
  }),
  fiber('surge-note', {
    status: 'closed',
    closed_at: '2025-11-20T08:40:00Z',
    outcome: 'Two pages, four figures.',
  }),
  fiber('map-tiles', {
    runtime: run({ started_at: ago(48 * MIN), context: { tokens: 122_000, most: 200_000 } }),
  }),
  fiber('survey-form', {
    runtime: run({
      ...{ agent: 'codex', started_at: ago(79 * MIN), phase: 'idle', phase_since: ago(19 * MIN) },
      said: 'The form is done and the tests pass. Shall I write the guide as well?',
    }),
  }),
  fiber('link-audit', {
    shares_folder_with: ['map-tiles'],
    runtime: run({
      ...{ agent: 'claude-haiku', started_at: ago(3 * MIN), phase: 'waiting' },
      ...{ phase_since: ago(800), said: 'asks to use Read' },
    }),
  }),
  fiber('new-index', { runtime: run({ state: 'starting', phase: 'unknown', started_at: ago(2_000) }) }),
  fiber('archive', {
    project_dir: '/srv/archive',
    gate: 'cooldown',
    blocked: {
      reason: 'project_dir_missing',
      message: 'the project folder /srv/archive does not exist',
      attempts: 3,
      first_attempted_at: ago(HOUR),
      attempted_at: ago(5 * MIN),
      retry_at: NOW + 35 * MIN,
    },
  }),
  fiber('old-parser', { held: 'killed', held_note: 'wrong branch', gate: 'held' }),
  ...['a-map', 'b-map', 'c-map'].map((id) => fiber(id, { held: 'boot_quarantine', gate: 'held' })),
  fiber('an-idea', { status: 'open' }),
  ...(
    [
      ['station-health', NOW + HOUR],
      ['backup', NOW + 4 * HOUR],
      ['feed-mirror', NOW + 12 * HOUR],
      ['monthly', NOW + 400 * HOUR],
    ] as const
  ).map(([id, next_due_at]) =>
    fiber(id, { svc: { kind: 'standing', host: 'harbor', schedule: '0 9 * * *' }, next_due_at }),
  ),
];

const remote = (name: string, over: object = {}) => ({
  ...{ name, state: 'fresh' as const, last_ok_at: NOW, error: null, build: '1.4.0' },
  breaker: 'closed' as const,
  ...over,
});

const STATE: State = stateAnswer({
  host: 'harbor',
  generated_at: NOW,
  poll_health: {
    ...stateAnswer().poll_health,
    stores: [
      {
        ...{ store: '/srv/notes', state: 'ok', fibers: 312, last_ok_at: ago(4_000), last_ms: 2, error: null },
        ...OWN_LEASE,
      },
    ],
  },
  running: ROWS.flatMap(({ id, uid, store, runtime }) =>
    runtime === undefined ? [] : [{ ...runtime, fiber_id: id, uid, store }],
  ),
  pending_launch: ROWS.flatMap(({ id, uid, store, held, held_note }) =>
    held === undefined
      ? []
      : [{ fiber_id: id, uid, store, since: ago(2 * HOUR), reason: held, note: held_note ?? null }],
  ),
  fleet: { remotes: [remote('mesa'), remote('tarn', { state: 'stale', last_ok_at: ago(38 * MIN) })] },
});

const BROKEN: State = stateAnswer({
  ...STATE,
  running: [],
  pending_launch: [],
  brake: { on: true, since: ago(2 * MIN), note: 'the disk is full' },
  operator_file_errors: [
    {
      file: 'agents',
      path: '/etc/svc/agents.json',
      error: '/etc/svc/agents.json is not valid at agents.0.harness: unknown; correct it, or remove the file',
    },
  ],
  document_errors: {
    count: 3,
    first: [
      { store: '/srv/notes', path: '/srv/notes/.fibers/a/a.md', error: 'its frontmatter does not end' },
    ],
  },
  poll_health: {
    ...stateAnswer().poll_health,
    stores: [
      {
        ...{ store: '/mnt/far/notes', state: 'stale', fibers: 2, last_ok_at: ago(3 * MIN), last_ms: null },
        error: 'it did not answer within 10 s',
        ...OWN_LEASE,
      },
    ],
    mux: { state: 'unknown', detail: 'timed out', owner: { kind: 'unknown', name: null } },
  },
  fleet: null,
});

const MISSING = { status: 404, body: { error: 'fiber_not_found', message: 'no such fiber' } };
const STAMP = { version: '1.4.0', git_short_sha: 'abc1234', booted_at: '2025-11-18T11:00:30Z', ready: true };
export const BOOTED_AT = ago(75 * HOUR);
const VERSION = versionAnswer({
  ...STAMP,
  host: 'harbor',
  booted_at: new Date(BOOTED_AT).toISOString(),
});

const WHY: Why = {
  fiber_id: 'archive',
  uid: null,
  host: 'harbor',
  at: NOW,
  verdict: 'waits',
  first: {
    gate: 'cooldown',
    state: 'shut',
    reason: 'cooldown',
    message: 'its last start was refused: the project folder /srv/archive does not exist',
    mend: 'fix that, then start it at once with `svc dispatch archive`',
  },
  gates: [
    { gate: 'document', state: 'open' },
    {
      gate: 'cooldown',
      state: 'shut',
      message: `its last start was refused: the project folder /srv/archive does not exist; it is tried again at ${new Date(NOW + 35 * MIN).toISOString()}`,
    },
    { gate: 'project_dir', state: 'not_asked' },
  ],
  project_dir: { path: '/srv/archive', looked_at: false },
  workers: { count: 4, resting: 0, most: null },
  waits_since: null,
  blocked: ROWS.find(({ id }) => id === 'archive')!.blocked!,
};

const WHY_DEAD: Why = {
  ...WHY,
  fiber_id: 'loader',
  first: {
    ...{ gate: 'cooldown', state: 'shut', reason: 'cooldown' },
    message: `its last worker died; it is tried again at ${new Date(NOW + 3 * MIN).toISOString()}`,
    mend: 'fix the cause, then start it at once with `svc dispatch loader`',
  },
  blocked: undefined,
  last_death: ROWS.find(({ id }) => id === 'loader')!.last_death!,
};

const [FIRST, SECOND] = ['0198c0de-0000-4000-8000-00000000000a', '0198c0ff-0000-4000-8000-00000000000b'];
const begun = { harness: 'claude', agent: 'claude-sonnet', mux_session: 'loader-svc', run_id: 'run-1' };
/** A time of yesterday, and one of today. */
const before = (clock: string) => Date.parse(`2025-11-20T${clock}:00Z`);
const today = (clock: string) => Date.parse(`2025-11-21T${clock}:00Z`);

const commit = (
  at: number,
  sha: string,
  subject: string,
  files: number,
  lines: [number, number],
): LifeEntry => ({
  ...{ at, kind: 'commit', session: FIRST, sha: sha.padEnd(40, '0'), subject, repo: '/home/ada/loader' },
  ...{ files, insertions: lines[0], deletions: lines[1] },
});
const COMMITS = [
  commit(before('14:19'), '79def80a', 'Split the parser', 3, [42, 7]),
  commit(
    before('14:58'),
    '1be7c3d2',
    'Read both formats, and say which one a file has where a line of it cannot be read',
    11,
    [310, 128],
  ),
];
const tokens = { input: 1_840, cache_read: 2_410_000, cache_write: 182_000, output: 23_400 };
const spent = (session: string, known: boolean): Spend['sessions'][number] => ({
  ...{ session, answers: 41, models: ['claude-sonnet-4'], harness: 'claude', began_at: before('14:02') },
  tokens: known ? tokens : null,
  unknown: known ? null : 'transcript_missing',
});
const spendOf = (...sessions: Spend['sessions']): Spend => ({
  ...{ host: 'harbor', sessions, total: tokens },
  unknown: sessions.filter((one) => one.tokens === null).length,
});

const LIFE: readonly LifeEntry[] = [
  { at: before('14:02'), kind: 'dispatch', session: FIRST, ...begun, by_request: true },
  { at: before('14:06'), kind: 'prompts', session: FIRST, count: 2 },
  COMMITS[0]!,
  {
    ...{ at: before('14:52'), kind: 'message', session: FIRST, message_id: 'm-1', direction: 'received' },
    ...{
      from: 'ada',
      to: `svc://harbor/claude/${FIRST}`,
      status: 'submitted',
      transport: 'terminal',
      bytes: 11,
    },
  },
  COMMITS[1]!,
  { at: before('15:04'), kind: 'sent', session: FIRST, files: ['/home/ada/loader/figures/throughput.png'] },
  { at: before('15:10'), kind: 'handoff', session: FIRST, lasted_ms: 68 * MIN },
  { at: today('09:00'), kind: 'dispatch', session: SECOND, ...begun, by_request: false },
  {
    ...{ at: today('09:04'), kind: 'ended', session: SECOND, lasted_ms: 4 * MIN, reason: 'exited' },
    ...{ detail: 'exit code 7', mend: 'its program is not licensed' },
    screen: '  Reading the licence\n  Fatal: licence expired',
  },
];

const UNCOMMITTED: Uncommitted = {
  ...{ host: 'harbor', fiber_id: 'loader', uid: LOADER_UID, folder: '/home/ada/loader' },
  work: {
    ...{ state: 'read', repo: '/home/ada/loader', branch: 'main', truncated: false, untracked: ['notes/'] },
    files: [
      ['src/formats/fixed-width.ts', 'modified', 18, 4],
      ['src/formats/separated.ts', 'added', 77, 0],
    ].map(([path, change, additions, deletions]) => ({
      ...{ path, old_path: null, change, additions, deletions, binary: false, hunks: [] },
    })) as Extract<Uncommitted['work'], { state: 'read' }>['files'],
  },
};

const WORDS: TranscriptWords = {
  ...{ host: 'harbor', session: SECOND, harness: 'claude', from: 0, to: 6, size: 6 },
  words: (
    [
      ['09:00', 'person', null, 'Go on with the loader: read both formats, and say what a line lacks.'],
      [
        '09:00',
        'agent',
        null,
        'I look at what the tests say of the second format before I change its reader.',
      ],
      ['09:01', 'agent', 'Bash', 'npx vitest run test/formats --reporter verbose --coverage.enabled=false'],
      ['09:01', 'tool', null, 'FAIL test/formats/separated.test.ts\n1 failed\n12 passed\n'],
      [
        '09:03',
        'agent',
        null,
        'One test fails.\n\nA line without its last field is read as one with an empty field.',
      ],
    ] as const
  ).map(([clock, who, tool, text], byte) => ({ at: today(clock), who, tool, text, byte })),
};

const SESSIONS = [
  ['loader', 'u-1', 's-1', 'claude-sonnet', today('09:00')],
  ['loader', 'u-1', 's-2', 'claude-sonnet', before('14:02')],
  ['work/tide-gauges', 'u-2', 's-3', 'codex', today('13:39')],
  ['an-old-one', 'u-3', 's-4', 'claude-haiku', today('08:00')],
].map(([name, uid, session, agent, at]) => ({
  ...{ fiber: name, uid, session, thread_id: null, harness: 'claude', agent },
  ...{ host: 'harbor', mux: null, at, kind: 'dispatch' },
}));

const FLEET = [
  fleetRow('mesa', {}),
  fleetRow('quarry', { build: { ...STAMP, git_short_sha: 'def5678', version: '1.3.2' }, workers: null }),
  fleetRow('tarn', {
    ...{ address: '127.0.0.1:4003', build: null, host_class: null, workers: null },
    reach: {
      ...{ state: 'no_answer', since: ago(38 * MIN), last_ok_at: ago(38 * MIN) },
      error: {
        code: 'remote_unreachable',
        message:
          'tarn does not answer at 127.0.0.1:4003: connect ECONNREFUSED 127.0.0.1:4003. Check that its daemon and its tunnel are running.',
      },
    },
  }),
];

function fleetRow(name: string, over: Partial<FleetRow>): FleetRow {
  return {
    ...{ name, display: null, source: 'file', address: '127.0.0.1:4001', ssh: null },
    reach: { state: 'answers', since: NOW, last_ok_at: ago(2_000), error: null },
    ...{ build: STAMP, host_class: 'personal', clock_ahead_ms: 0, workers: { running: 5, needs_you: 1 } },
    feed: { state: 'fresh', last_ok_at: ago(2_000), error: null },
    ...over,
  };
}

const answersOf = (state: State, fibers: readonly FiberRow[]): Answers => ({
  'GET /version': { body: VERSION },
  'GET /state': { body: state },
  'GET /fibers': { body: { host: state.host, state: 'fresh', generated_at: NOW, fibers } },
  'GET /why?fiber=archive&look=1': { body: WHY },
  'GET /why?fiber=loader&look=1': { body: WHY_DEAD },
  'GET /fleet': { body: { host: state.host, remotes: FLEET } },
  ...Object.fromEntries(
    fibers.map((row) => [`GET /fibers/${encodeURIComponent(row.id)}`, { body: { fiber: row } }]),
  ),
  'GET /fibers/relase-notes': MISSING,
  'GET /why?fiber=quartz&look=1': MISSING,
  'GET /fibers/composite': {
    body: {
      host: state.host,
      origins: { [state.host]: { read: { fibers: fibers.map(({ id, uid }) => ({ id, uid })) } } },
    },
  },
  [`GET /fiber-life?uid=${LOADER_UID}&limit=50`]: {
    body: { host: state.host, uid: LOADER_UID, entries: LIFE, earlier: 0 },
  },
  [`GET /fiber-life?uid=${LOADER_UID}&limit=1000`]: {
    body: { host: state.host, uid: LOADER_UID, entries: LIFE, earlier: 0 },
  },
  'GET /fiber-life?uid=uid-of-map-tiles&limit=1000': lifeOf('uid-of-map-tiles', COMMITS, ago(20 * MIN)),
  'GET /fiber-life?uid=uid-of-release-notes&limit=1000': lifeOf(
    'uid-of-release-notes',
    [...COMMITS, ...COMMITS, ...COMMITS],
    before('09:00'),
  ),
  [`GET /spend?uid=${LOADER_UID}`]: { body: spendOf(spent(FIRST, true), spent(SECOND, false)) },
  'GET /uncommitted?fiber=loader': { body: UNCOMMITTED },
  [`GET /sessions/composite?uid=${LOADER_UID}`]: {
    body: {
      host: state.host,
      origins: {
        [state.host]: {
          ...{ state: 'fresh', last_ok_at: null, error: null, build: null },
          read: { host: state.host, sessions: [{ ...SESSIONS[0], session: SECOND }] },
        },
      },
    },
  },
  [`GET /transcript/words?session=${SECOND}`]: { body: WORDS },
  [`GET /transcript/words?session=${SECOND}&after_byte=0`]: { body: WORDS },
  'GET /sessions': { body: { host: state.host, sessions: SESSIONS } },
  [`GET /moment?session=${FIRST}&at=${before('14:06') + 30_000}&within_ms=30000`]: {
    body: {
      ...{ host: state.host, session: FIRST, harness: 'claude', at: before('14:06'), more: false },
      words: ['Keep the old flags working.', 'A person who wrote --tab yesterday types it tomorrow.'].map(
        (text) => ({ at: before('14:06'), who: 'person', tool: null, text }),
      ),
      said_before: null,
    },
  },
  [`GET /moment?session=${FIRST}&at=${before('14:52') + 30_000}&within_ms=30000`]: {
    body: {
      ...{ host: state.host, session: FIRST, harness: 'claude', at: before('14:52'), more: false },
      words: [{ at: before('14:52'), who: 'person', tool: null, text: 'The second.' }],
      said_before: {
        ...{ at: before('14:31'), who: 'agent', tool: null },
        text: 'Both readers work now, and their tests pass.\n\nWhich of the two formats stays the default?',
      },
    },
  },
  'GET /spend?uid=u-1': { body: spendOf(spent('s-1', true), spent('s-2', true)) },
  'GET /spend?uid=u-2': { body: spendOf(spent('s-3', true)) },
  'GET /spend?uid=u-3': { body: spendOf(spent('s-4', false)) },
});

function lifeOf(uid: string, entries: readonly LifeEntry[], at: number): { body: Life } {
  return { body: { host: 'harbor', uid, entries: entries.map((entry) => ({ ...entry, at })), earlier: 0 } };
}

export type Screen = {
  name: string;
  argv: readonly string[];
  /** Of its daemon; null where none runs. */
  answers: Answers | null;
  /** Puts files into the folders of the machine; what else its daemon answers. */
  prepare?: (machine: Machine) => Answers;
};

const ANSWERS = answersOf(STATE, ROWS);
const screen = (name: string, ...argv: string[]) => ({ name, argv, answers: ANSWERS });

const REHEARSED: Rehearsal = {
  ...{ dry_run: true, steps: [], would: 'start a worker of archive', ends: [], moves: [] },
  documents: [
    {
      path: '/srv/notes/.fibers/archive/archive.md',
      diff: '--- archive.md\n+++ archive.md\n@@ -1,3 +1,3 @@\n svc:\n-  agent: codex\n+  agent: claude-sonnet\n',
    },
  ],
  prompt:
    'You are the worker of the fiber archive. Read /srv/notes/.fibers/archive/archive.md, work on it, and hand off once it is done.',
  command: {
    argv: ['claude', '--model', 'sonnet', '--session-id', SECOND, '--settings', '{"hooks":{}}', '<prompt>'],
    ...{ cwd: '/srv/archive', env: ['SVC_FIBER_UID', 'SVC_RUN_DIR'], mux_session: 'archive-svc' },
  },
  minted: { session_uuid: SECOND },
};

const MAP_TILES = fiber('map-tiles', { runtime: run({ session_uuid: FIRST }) });
const SENT: Answers = {
  'POST /messages': {
    body: {
      ...{ address: `svc://harbor/claude/${FIRST}`, message_id: SECOND, status: 'submitted' },
      ...{ transport: 'terminal', at: NOW },
      detail: 'the conversation shows the text as a message of its user, and its agent answers it now',
    },
  },
};
const PEERS: Peers = {
  host: 'harbor',
  sessions: [
    ['map-tiles', 'working', FIRST],
    ['rewrite-the-reader-of-both-formats', 'waiting', SECOND],
  ].map(([name = '', phase = '', id]) => ({
    ...{ address: `svc://harbor/claude/${id}`, fiber: name, fiber_uid: null },
    ...{ surface: 'cli', agent: 'claude-sonnet', phase },
  })),
  gaps: [{ host: 'tarn', error: 'remote_unreachable', message: 'tarn does not answer at 127.0.0.1:4003' }],
};

/** Screens that a person sees, by the names of their fixtures. */
export const SCREENS: readonly Screen[] = [
  screen('status', 'status'),
  {
    name: 'status-quiet',
    argv: ['status'],
    answers: answersOf(
      stateAnswer({ host: 'harbor' }),
      ROWS.filter(({ status }) => status === 'open'),
    ),
  },
  { name: 'status-faults', argv: ['status'], answers: answersOf(BROKEN, []) },
  screen('status-of-one', 'status', 'archive'),
  screen('status-of-a-dead-one', 'status', 'loader'),
  screen('status-of-a-working-one', 'status', 'tide-gauges'),
  screen('why', 'why', 'archive'),
  screen('why-all', 'why', 'archive', '--all'),
  screen('why-dead', 'why', 'loader'),
  screen('ps', 'ps'),
  screen('fleet', 'fleet'),
  screen('log', 'log', 'loader'),
  screen('log-verbose', 'log', 'loader', '--verbose'),
  screen('transcript', 'transcript', 'loader'),
  screen('diff', 'diff', 'loader'),
  screen('spend', 'spend'),
  {
    ...screen('daemon-status', 'daemon', 'status'),
    answers: { ...ANSWERS, 'GET /version': { body: { ...VERSION, ...readBuildStamp() } } },
  },
  {
    ...screen('kill', 'kill', 'map-tiles', '--yes'),
    answers: {
      ...ANSWERS,
      'POST /kill': { body: { killed: true, fiber_id: 'map-tiles', mux_session: 'map-tiles-svc' } },
    },
  },
  {
    ...screen('stop-all', 'stop-all'),
    answers: {
      ...ANSWERS,
      'POST /brake': {
        body: {
          ...{ stopped: true, changed: true, since: NOW, note: null, killed: [], not_killed: [] },
          running: STATE.running.map(({ fiber_id }) => fiber_id),
        },
      },
    },
  },
  {
    ...screen('dispatch-dry-run', 'dispatch', 'archive', '--dry-run'),
    answers: { ...ANSWERS, 'POST /dispatch': { body: REHEARSED } },
  },
  {
    ...screen('send', 'send', 'map-tiles', 'Keep the old tiles.'),
    answers: { ...ANSWERS, 'GET /fibers/map-tiles': { body: { fiber: MAP_TILES } }, ...SENT },
  },
  { ...screen('peers', 'peers'), answers: { ...ANSWERS, 'GET /peers': { body: PEERS } } },
  screen('daemon-start', 'daemon', 'start'),
  { ...screen('agents', 'agents'), prepare: withAgents },
  { ...screen('run', 'run', 'Write a HELLO.md that greets the reader', '-d'), prepare: beginRun },
  // With tmux, Git and nothing else.
  {
    ...{ name: 'doctor-of-a-new-machine', argv: ['doctor'], answers: null },
    prepare: (machine) => {
      machine.env.PATH = programs(machine, 'tmux', 'git');
      return {};
    },
  },
  {
    ...{ name: 'doctor', argv: ['doctor'], answers: null },
    // A machine without tmux, Git and the program of its agent.
    prepare: (machine) => {
      machine.env.PATH = machine.folder;
      writeAgents(machine, [{ id: 'codex', harness: 'codex', default: true }]);
      return {};
    },
  },
];

/** Command lines that are refused, as `SCREENS`. */
export const REFUSALS: readonly Screen[] = [
  screen('no-such-fiber', 'status', 'relase-notes'),
  screen('no-such-fiber-near', 'why', 'quartz'),
  screen('no-such-verb', 'stauts'),
  screen('no-such-option', 'status', '--al'),
  screen('no-argument', 'why'),
];

/** A folder with these programs of this machine alone. */
function programs({ folder }: Machine, ...names: string[]): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of names) symlinkSync(findProgram(name, process.env.PATH ?? '') ?? name, join(bin, name));
  return bin;
}

function withAgents(machine: Machine): Answers {
  writeAgents(machine, [
    {
      ...{ id: 'claude-sonnet', harness: 'claude', model: 'sonnet', default: true, aliases: ['sonnet'] },
      cli: process.execPath,
    },
    { id: 'claude-opus-high', harness: 'claude', model: 'opus', default_effort: 'high' },
    { id: 'codex', harness: 'codex' },
  ]);
  return {};
}

function writeAgents({ config_dir }: Machine, agents: readonly object[]): void {
  const file = { version: 1, builtins: 'restrict', agents };
  writeFileSync(join(config_dir, 'agents.json'), JSON.stringify(file), { mode: 0o600 });
}

/** The daemon of a machine on which nothing has been done yet. */
function beginRun(machine: Machine): Answers {
  withAgents(machine);
  const store = join(machine.folder, 'fibers');
  const poll_health = stateAnswer().poll_health;
  const [watched] = poll_health.stores;
  return {
    'GET /state': { body: { ...STATE, poll_health: { ...poll_health, stores: [{ ...watched, store }] } } },
    'GET /fibers?svc=1': { body: { fibers: [] } },
    'POST /lifecycle': { body: 'write-a-hello-md: ready to start\n', text: true },
    'POST /dispatch': {
      body: {
        ...{ dispatched: true, already_running: false, fiber_id: 'write-a-hello-md', host: 'harbor' },
        ...{ surface: 'cli', mux_session: 'write-a-hello-md-svc', session_uuid: null, run_id: 'run-1' },
        ...{ agent: 'claude-sonnet', harness: 'claude', thread_id: null },
      },
    },
  };
}
