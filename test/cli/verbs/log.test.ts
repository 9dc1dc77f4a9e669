import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatTime } from '../../../src/cli/command-line/output.ts';
import { fiberLife } from '../../../src/cli/verbs/log/fiber-life.ts';
import { verb } from '../../../src/cli/verbs/log.ts';
import type { FiberRow } from '../../../src/contract/fiber.ts';
import type { Activity } from '../../../src/contract/http/activity.ts';
import type { SentFilesRow } from '../../../src/contract/http/sent-files.ts';
import type { Spend } from '../../../src/contract/http/spend.ts';
import type { CommitLedgerLine, SessionLine } from '../../../src/contract/ledger.ts';
import { fiberAnswer } from '../answers.ts';
import { createMachine, type Machine, type StandIn, serveAnswers } from '../kit.ts';

let machine: Machine;
let server: StandIn | undefined;
beforeEach(() => {
  machine = createMachine();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  machine.remove();
});

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 2, 7, 12);
const UID = fiberAnswer().uid!;
const ONE = '11111111-0000-4000-8000-000000000001';
const TWO = '22222222-0000-4000-8000-000000000002';

const line = (minute: number, over: Partial<SessionLine>): SessionLine => ({
  fiber: 'work/loader',
  uid: UID,
  session: ONE,
  thread_id: null,
  harness: 'claude',
  agent: 'claude-sonnet',
  host: 'host-a',
  mux: 'loader-svc',
  at: NOON + minute * MINUTE,
  kind: 'dispatch',
  run_id: 'run-1',
  ...over,
});
const commit = (minute: number, over: Partial<CommitLedgerLine>): CommitLedgerLine => ({
  at: NOON + minute * MINUTE,
  kind: 'commit',
  sha: 'a'.repeat(40),
  subject: 'Load fonts',
  repo: '/srv/dev',
  files: 1,
  insertions: 12,
  deletions: 3,
  session: ONE,
  mux: 'loader-svc',
  cwd: '/srv/dev',
  ...over,
});
const bucket = (minute: number, over: Partial<Activity['buckets'][number]>) => ({
  m: NOON + minute * MINUTE,
  s: ONE,
  cwd: '/srv/dev',
  k: 'attention' as const,
  n: 1,
  ...over,
});
const sent = (minute: number, files: string[]): SentFilesRow => ({
  at: NOON + minute * MINUTE,
  session: ONE,
  mux: 'loader-svc',
  cwd: '/srv/dev',
  harness: 'claude',
  files,
  fiber: 'work/loader',
  uid: UID,
});
const tokens = { input: 10, cache_read: 2_000, cache_write: 300, output: 44 };
const SPEND: Spend = {
  host: 'host-a',
  sessions: [
    {
      session: ONE,
      tokens,
      answers: 3,
      models: ['model-a'],
      unknown: null,
      harness: 'claude',
      began_at: NOON,
    },
    {
      session: TWO,
      tokens: null,
      answers: 0,
      models: [],
      unknown: 'transcript_missing',
      harness: 'claude',
      began_at: NOON,
    },
  ],
  total: tokens,
  unknown: 1,
};
const NOTHING = { buckets: [], commits: [], sent_files: [] };

/** What of the past each entry tells, without times. */
const kinds = (fiber: Pick<FiberRow, 'uid' | 'svc'>, told: Partial<Parameters<typeof fiberLife>[1]>) =>
  fiberLife(fiber, { sessions: [], ...NOTHING, ...told }).map(({ kind }) => kind);

describe('the life of a fiber', () => {
  it('[TMP-2] tells each run once: how it began, in which conversations it went on, and how it ended', () => {
    const sessions = [
      line(0, { session: null }),
      line(1, { kind: 'learned' }),
      line(2, { kind: 'learned', session: TWO }),
      line(3, { kind: 'ended', session: TWO, reason: 'handoff' }),
      line(3, { kind: 'ended', session: TWO, reason: 'handoff' }),
      line(4, { run_id: 'run-2', resumed: true }),
      line(4, { run_id: 'run-2', resumed: true }),
      line(5, { run_id: 'run-2', kind: 'ended', reason: 'kill' }),
      line(6, { run_id: 'run-3', kind: 'claim' }),
      line(7, { run_id: 'run-9', uid: 'other' }),
    ];
    const life = fiberLife(fiberAnswer(), { sessions, ...NOTHING });
    expect(life.map(({ at, kind, session }) => [(at - NOON) / MINUTE, kind, session])).toEqual([
      [0, 'dispatch', ONE],
      [2, 'session', TWO],
      [3, 'handoff', TWO],
      [4, 'resume', ONE],
      [5, 'ended', ONE],
      [6, 'claim', ONE],
    ]);
  });

  it('[TMP-1] [TMP-3] gives the prompts and commits of a session that served several fibers to the one it then worked on', () => {
    const sessions = [
      line(0, {}),
      line(10, { uid: 'other', kind: 'claim', run_id: 'run-2' }),
      // Its end is told late, when the session is another fiber's already.
      line(11, { kind: 'ended', reason: 'handoff' }),
    ];
    const told = {
      sessions,
      commits: [commit(5, {}), commit(12, { sha: 'b'.repeat(40) }), commit(6, { session: null })],
      buckets: [
        bucket(1, {}),
        bucket(1, { cwd: '/srv/other', n: 2 }),
        bucket(1, { k: 'agent' }),
        bucket(12, {}),
        bucket(2, { s: 'unknown' }),
      ],
    };
    const life = fiberLife(fiberAnswer(), { ...NOTHING, ...told });
    expect(life.map(({ at, kind }) => [(at - NOON) / MINUTE, kind])).toEqual([
      [0, 'dispatch'],
      [1, 'prompts'],
      [5, 'commit'],
      [6, 'commit'],
      [11, 'handoff'],
    ]);
    expect(life[1]).toMatchObject({ count: 3 });
  });

  it('tells what was typed in the minute of a beginning after it, and what was typed before a claim before it', () => {
    const begun = (seconds: number) => line(0, { at: NOON + seconds * 1_000, kind: 'claim' });
    const life = (seconds: number) =>
      fiberLife(fiberAnswer(), { ...NOTHING, sessions: [begun(seconds)], buckets: [bucket(0, {})] });
    expect(life(30).map(({ at, kind }) => [at - NOON, kind])).toEqual([
      [30_000, 'claim'],
      [30_000, 'prompts'],
    ]);
    expect(life(90).map(({ at, kind }) => [at - NOON, kind])).toEqual([
      [0, 'prompts'],
      [90_000, 'claim'],
    ]);
  });

  it('tells the handoff that only the document bears, and one that a run ended by once', () => {
    const at = (minute: number) => new Date(NOON + minute * MINUTE).toISOString();
    const handed = (minute: number) => ({
      uid: UID,
      svc: { runtime: { handed_off_at: at(minute), session_uuid: ONE } },
    });
    expect(kinds(handed(3), {})).toEqual(['handoff']);
    const sessions = [line(0, {}), line(3, { kind: 'ended', reason: 'handoff' })];
    expect(kinds(handed(3), { sessions })).toEqual(['dispatch', 'handoff']);
    expect(kinds({ uid: null }, { sessions })).toEqual([]);
  });
});

describe('svc log', () => {
  async function serve(
    fiber: Partial<FiberRow> = {},
    sessions = [line(0, {}), line(1, { uid: 'other', session: 'x', mux: 'x-svc' })],
  ) {
    machine.context.clock = { ...machine.context.clock, now: () => NOON + 10 * MINUTE + 1 };
    const window = `from_ms=${NOON}&to_ms=${NOON + 11 * MINUTE + 1}`;
    const host = 'host-a';
    server = await serveAnswers({
      'GET /fibers/work/loader': { body: { fiber: fiberAnswer(fiber) } },
      'GET /sessions': { body: { host, sessions } },
      [`GET /activity?${window}`]: {
        body: {
          host,
          from_ms: NOON,
          to_ms: NOON + 11 * MINUTE,
          buckets: [bucket(0, {}), bucket(2, { n: 3 })],
        },
      },
      'GET /commits': { body: { host, commits: [commit(3, { subject: 'Fonts\u001b[31m' })] } },
      [`GET /sent-files?uid=${UID}`]: { body: { host, sent_files: [sent(4, ['/srv/dev/a.png', '/b.md'])] } },
      [`GET /spend?uid=${UID}`]: { body: SPEND },
    });
    machine.writeDaemonFile([server.listen]);
  }

  it('[P25] is one page: what happened, and the tokens of each session, unknown where nobody counted', async () => {
    await serve();
    const { code, out } = await machine.svc('log', 'work/loader');
    expect(code).toBe(0);
    const at = (minute: number) => formatTime(NOON + minute * MINUTE);
    expect(at(0)).toMatch(/^2026-03-0[678] \d\d:00$/);
    expect(out).toBe(
      [
        'work/loader (active)  Rewrite the loader',
        '',
        'WHEN              WHAT        SESSION   MORE',
        `${at(0)}  dispatched  11111111  claude-sonnet in loader-svc`,
        `${at(0)}  prompted    11111111  once`,
        `${at(2)}  prompted    11111111  3 times`,
        `${at(3)}  committed   11111111  aaaaaaaa Fonts\\u001b[31m (1 file, +12 -3)`,
        `${at(4)}  sent        11111111  /srv/dev/a.png, /b.md`,
        '',
        'Tokens',
        'SESSION                               MODEL    INPUT                         FROM CACHE  TO CACHE  OUTPUT',
        `${ONE}  model-a  10                            2000        300       44`,
        `${TWO}  -        unknown (no transcript here)`,
        'in all, without 1 unknown                      10                            2000        300       44',
        '',
      ].join('\n'),
    );
  });

  it('shows the newest entries, and says how many came before', async () => {
    await serve({ svc: { host: 'host-b' } });
    const { out } = await machine.svc('log', 'work/loader', '-n', '1');
    expect(out).toContain('Its host is host-b; this is what host-a recorded.\n');
    expect(out).toContain('4 earlier; show them with: -n 5\n');
    expect(out).toContain('  sent  ');
    expect(out).not.toContain('committed');
  });

  it('answers all of it as JSON, of the shape that its page tells', async () => {
    await serve();
    const { code, out } = await machine.svc('log', 'work/loader', '--json', '-n', '2');
    expect(code).toBe(0);
    const answer = JSON.parse(out);
    expect(verb.json!.parse(answer)).toEqual(answer);
    expect(answer).toMatchObject({ host: 'host-a', earlier: 3, fiber: { uid: UID }, spend: SPEND });
    expect(answer.entries.map(({ kind }: { kind: string }) => kind)).toEqual(['commit', 'sent']);
  });

  it('asks for nothing more of a fiber that no worker ever took up, and says so', async () => {
    await serve({}, []);
    const { code, out } = await machine.svc('log', 'work/loader');
    expect(code).toBe(0);
    expect(out).toBe('work/loader (active)  Rewrite the loader\nNothing of it is recorded on host-a yet.\n');
    expect(server!.seen.map(({ path }) => path)).toEqual(['/fibers/work/loader', '/sessions']);
  });

  it('passes a refusal on, and says how to start a daemon that does not run', async () => {
    expect(await machine.svc('log', 'a')).toMatchObject({
      code: 3,
      out: '',
      err: 'svc: the daemon does not run; start it with: svc daemon start\n',
    });
    server = await serveAnswers({
      'GET /fibers/a': { status: 404, body: { error: 'fiber_not_found', message: 'no fiber a' } },
    });
    machine.writeDaemonFile([server.listen]);
    expect(await machine.svc('log', 'a')).toMatchObject({ code: 1, out: '', err: 'svc: no fiber a\n' });
  });
});
