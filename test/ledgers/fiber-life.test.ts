import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Closing, LifeEntry } from '../../src/contract/http/life.ts';
import type { CommitLedgerLine, MessageLine, SessionLine } from '../../src/contract/ledger.ts';
import { fiberLife, lifePart, type Told } from '../../src/ledgers/fiber-life.ts';
import { SessionFibers } from '../../src/ledgers/session-fibers.ts';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 2, 7, 12);
const UID = '01K2B3C4D5E6F7G8H9J0K1M2N3';
const ONE = '11111111-0000-4000-8000-000000000001';
const TWO = '22222222-0000-4000-8000-000000000002';

const at = (minute: number) => NOON + minute * MINUTE;
const line = (minute: number, over: Partial<SessionLine>): SessionLine => ({
  fiber: 'work/loader',
  uid: UID,
  session: ONE,
  thread_id: null,
  harness: 'claude',
  agent: 'claude-sonnet',
  host: 'host-a',
  mux: 'loader-svc',
  at: at(minute),
  kind: 'dispatch',
  run_id: 'run-1',
  ...over,
});
const commit = (minute: number, over: Partial<CommitLedgerLine>): CommitLedgerLine => ({
  at: at(minute),
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
const sent = (minute: number, files: string[]) => ({
  ...{ at: at(minute), session: ONE, mux: 'loader-svc', cwd: '/srv/dev', harness: 'claude', files },
});

/** The life of the fiber from the lines of all fibers. */
function life(told: Partial<Omit<Told, 'fiberOf'>>): LifeEntry[] {
  const fibers = new SessionFibers();
  for (const each of told.sessions ?? []) fibers.add(each);
  return fiberLife(UID, {
    ...{ messages: [], prompts: [], commits: [], sent: [], closing: null, ...told },
    sessions: (told.sessions ?? []).filter(({ uid }) => uid === UID),
    fiberOf: (doing) => fibers.find(doing),
  });
}
const shown = (entries: LifeEntry[]) => entries.map((entry) => [(entry.at - NOON) / MINUTE, entry.kind]);

describe('the life of a fiber', () => {
  it('[TMP-2] tells of each start whether it was asked for, where the ledger has that', () => {
    const sessions = [
      line(0, { by_request: true }),
      line(1, { run_id: 'run-2', resumed: true, by_request: false }),
      line(2, { run_id: 'run-3' }),
    ];
    expect(life({ sessions }).map((entry) => ('by_request' in entry ? entry.by_request : 'unknown'))).toEqual(
      [true, false, 'unknown'],
    );
  });

  it('[TMP-2] tells who closed, accepted and reopened the fiber, and an end of whole seconds after the closing', () => {
    const change = (minute: number, over: Partial<SessionLine>) =>
      line(minute, { session: null, mux: null, run_id: undefined, agent: undefined, ...over });
    const sessions = [
      line(0, {}),
      change(5, { kind: 'closed', by: 'agent', agent: 'claude-sonnet', at: at(5) + 300 }),
      line(5, { kind: 'ended', reason: 'exited' }),
      change(6, { kind: 'accepted', by: 'board', from: 'tarn' }),
      change(7, { kind: 'reopened', by: 'cli' }),
      change(8, { kind: 'composted', by: 'document' }),
    ];
    const closing: Closing = {
      status: 'closed',
      tempered: false,
      closed_at: new Date(at(8)).toISOString(),
      updated_at: new Date(at(8)).toISOString(),
    };
    expect(
      life({ sessions, closing }).map(({ kind, ...entry }) => [kind, 'by' in entry ? entry.by : null]),
    ).toEqual([
      ['dispatch', null],
      ['closed', 'agent'],
      ['ended', null],
      ['accepted', 'board'],
      ['reopened', 'cli'],
      ['composted', 'document'],
    ]);
    expect(life({ sessions })[3]).toMatchObject({ exact: true, from: 'tarn' });
  });

  it('[TMP-2] leaves a role that the daemon closes after its end in that order', () => {
    const sessions = [
      line(0, {}),
      line(5, { kind: 'ended', reason: 'exited' }),
      line(5, { kind: 'closed', by: 'daemon', session: null, at: at(5) + 300, run_id: undefined }),
    ];
    expect(life({ sessions }).map(({ kind }) => kind)).toEqual(['dispatch', 'ended', 'closed']);
  });

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
      line(8, {
        run_id: 'run-0',
        kind: 'ended',
        reason: 'exited',
        detail: 'It was long ago.',
        mend: 'Wait.',
        screen: 'x',
      }),
    ];
    const told = life({ sessions });
    expect(told.map(({ kind, session }, nth) => [shown(told)[nth]?.[0], kind, session])).toEqual([
      [0, 'dispatch', ONE],
      [2, 'session', TWO],
      [3, 'handoff', TWO],
      [4, 'resume', ONE],
      [5, 'ended', ONE],
      [6, 'claim', ONE],
      [8, 'ended', ONE],
    ]);
    expect(told[2]).toMatchObject({ lasted_ms: 3 * MINUTE });
    expect(told[4]).toMatchObject({ lasted_ms: MINUTE, reason: 'kill' });
    expect(told[6]).toMatchObject({
      lasted_ms: null,
      reason: 'exited',
      detail: 'It was long ago.',
      mend: 'Wait.',
      screen: 'x',
    });
  });

  it('[TMP-2] tells the end of a run as the daemon knows it that settled it last', () => {
    const sessions = [
      line(0, {}),
      line(2, { kind: 'ended', reason: 'exited', detail: 'SIGHUP', mend: 'Nothing needs to be fixed.' }),
      line(2, { kind: 'ended', reason: 'handoff' }),
      line(4, { run_id: 'run-2' }),
    ];
    expect(shown(life({ sessions }))).toEqual([
      [0, 'dispatch'],
      [2, 'handoff'],
      [4, 'dispatch'],
    ]);
  });

  it('tells no end before its beginning, and no conversation of a run after its end', () => {
    const sessions = [
      line(0, { at: NOON + 250 }),
      line(0, { at: NOON + 900, kind: 'learned', session: TWO }),
      // In whole seconds.
      line(0, { at: NOON, kind: 'ended', session: TWO, reason: 'exited' }),
      line(0, { at: NOON + 2_000, run_id: 'run-2' }),
    ];
    expect(life({ sessions }).map((entry) => [entry.at - NOON, entry.kind])).toEqual([
      [250, 'dispatch'],
      [250, 'session'],
      [250, 'ended'],
      [2_000, 'dispatch'],
    ]);
  });

  it('[TMP-1] [TMP-3] gives the prompts, commits and files of a session that served several fibers to the one it then worked on', () => {
    const sessions = [
      line(0, {}),
      line(10, { uid: 'other', kind: 'claim', run_id: 'run-2' }),
      // Its end is told late, when the session is another fiber's already.
      line(11, { kind: 'ended', reason: 'handoff' }),
    ];
    const told = life({
      sessions,
      commits: [commit(5, {}), commit(6, { session: null }), commit(12, { sha: 'b'.repeat(40) })],
      prompts: [
        { m: at(1), s: ONE, n: 3 },
        { m: at(12), s: ONE, n: 1 },
        { m: at(2), s: 'unknown', n: 1 },
      ],
      sent: [sent(7, ['/a']), sent(13, ['/b'])],
    });
    expect(shown(told)).toEqual([
      [0, 'dispatch'],
      [1, 'prompts'],
      [5, 'commit'],
      [6, 'commit'],
      [7, 'sent'],
      [11, 'handoff'],
    ]);
    expect(told[1]).toMatchObject({ count: 3 });
    expect(told[4]).toMatchObject({ files: ['/a'] });
  });

  it('tells messages to and from its sessions, and does not count what a person wrote as a prompt too', () => {
    const address = (session: string) => `svc://host-a/claude/${session}`;
    const written = (minute: number, over: Partial<MessageLine>): MessageLine => ({
      ...{ at: at(minute) + 5, id: `m-${minute}`, sent_at: at(minute) + 1, from: 'ada', to: address(ONE) },
      ...{
        fiber: 'work/loader',
        uid: UID,
        status: 'submitted',
        transport: 'terminal',
        bytes: 9,
        wake: true,
        hops: 0,
      },
      ...over,
    });
    const told = life({
      sessions: [line(0, {})],
      messages: [
        written(1, {}),
        written(2, { from: address(TWO) }),
        written(3, { from: address(ONE), to: address(TWO), fiber: null, uid: null }),
        written(4, { uid: null, fiber: null, status: 'queued', transport: 'held' }),
      ],
      prompts: [1, 2, 4]
        .map((minute) => ({ m: at(minute), s: ONE, n: 1 }))
        .concat({ m: at(5), s: ONE, n: 2 }),
    });
    expect(told.map(({ at: when, kind }) => [Math.floor((when - NOON) / MINUTE), kind])).toEqual([
      [0, 'dispatch'],
      [1, 'message'],
      [2, 'prompts'],
      [2, 'message'],
      [3, 'message'],
      [4, 'prompts'],
      [4, 'message'],
      [5, 'prompts'],
    ]);
    const messages = told.filter((entry) => entry.kind === 'message');
    expect(messages.map(({ direction, from }) => [direction, from])).toEqual([
      ['received', 'ada'],
      ['received', address(TWO)],
      ['sent', address(ONE)],
      ['received', 'ada'],
    ]);
    expect(messages.every(({ session }) => session === ONE)).toBe(true);
  });

  it.each([
    {
      seconds: 30,
      expected: [
        [30_000, 'claim'],
        [30_000, 'prompts'],
      ],
    },
    {
      seconds: 90,
      expected: [
        [0, 'prompts'],
        [90_000, 'claim'],
      ],
    },
  ])(
    'tells what was typed in the minute of a beginning after it, and earlier prompts before it: $seconds s',
    ({ seconds, expected }) => {
      const sessions = [line(0, { at: NOON + seconds * 1_000, kind: 'claim' })];
      const told = life({ sessions, prompts: [{ m: NOON, s: ONE, n: 1 }] });
      expect(told.map((entry) => [entry.at - NOON, entry.kind])).toEqual(expected);
    },
  );

  const iso = (minute: number) => new Date(at(minute)).toISOString();
  it.each<{ what: string; closing: Closing | null; expected: unknown[] }>([
    { what: 'no document', closing: null, expected: [] },
    { what: 'an armed one', closing: { status: 'active', updated_at: iso(9) }, expected: [] },
    { what: 'a closed one', closing: { status: 'closed', closed_at: iso(1) }, expected: [[1, 'closed']] },
    {
      what: 'one that was closed with its verdict',
      closing: { status: 'closed', tempered: true, closed_at: iso(1), updated_at: iso(1) },
      expected: [
        [1, 'closed'],
        [1, 'accepted', true],
      ],
    },
    {
      what: 'a verdict of a later write',
      closing: { status: 'closed', tempered: false, closed_at: iso(1), updated_at: iso(5) },
      expected: [
        [1, 'closed'],
        [5, 'composted', false],
      ],
    },
    {
      what: 'a verdict by hand, without any time',
      closing: { status: 'closed', tempered: true },
      expected: [],
    },
    {
      what: 'unreadable times',
      closing: { status: 'closed', tempered: true, closed_at: 'soon', updated_at: iso(2) },
      expected: [[2, 'accepted', false]],
    },
  ])('tells the closing and the verdict of the document: $what', ({ closing, expected }) => {
    const told = life({ closing });
    expect(
      told.map((entry, nth) => [...shown(told)[nth]!, ...('exact' in entry ? [entry.exact] : [])]),
    ).toEqual(expected);
  });

  it('tells of each run that the daemon accepted by itself, and prompts afterwards are still of the fiber served then', () => {
    const told = life({
      sessions: [
        line(0, {}),
        line(3, { kind: 'ended', reason: 'handoff' }),
        line(2, { uid: 'other', fiber: 'other', kind: 'claim', run_id: 'run-2' }),
        line(3, { kind: 'accepted' }),
        line(9, { kind: 'accepted', run_id: 'before-the-ledger' }),
      ],
      prompts: [{ m: at(5), s: ONE, n: 1 }],
    });
    expect(shown(told)).toEqual([
      [0, 'dispatch'],
      [3, 'handoff'],
      [3, 'accepted'],
      [9, 'accepted'],
    ]);
    expect(told.slice(2).map((entry) => 'by_itself' in entry && entry.by_itself)).toEqual([
      { run: 'run-1', began_at: NOON },
      { run: 'before-the-ledger', began_at: null },
    ]);
  });

  it('tells no handoff that no run of this host ended by, as the mark of a reopening would be', () => {
    expect(shown(life({ sessions: [line(0, {}), line(1, { kind: 'ended', reason: 'kill' })] }))).toEqual([
      [0, 'dispatch'],
      [1, 'ended'],
    ]);
  });
});

const minute = fc.integer({ min: 0, max: 6 });
const sessionName = fc.constantFrom(ONE, TWO, null);
const history = fc.record({
  sessions: fc.array(
    fc
      .record({
        at: minute.map(at),
        kind: fc.constantFrom<SessionLine['kind']>('dispatch', 'learned', 'claim', 'ended'),
        session: sessionName,
        uid: fc.constantFrom(UID, UID, 'other'),
        run_id: fc.constantFrom('run-1', 'run-2', 'run-3'),
        reason: fc.constantFrom('handoff', 'kill'),
      })
      .map((over) => line(0, over)),
    { maxLength: 12 },
  ),
  prompts: fc.uniqueArray(
    fc.record({ m: minute.map(at), s: fc.constantFrom(ONE, TWO), n: fc.integer({ min: 1, max: 9 }) }),
    { maxLength: 6, selector: ({ m, s }) => `${m} ${s}` },
  ),
  commits: fc.uniqueArray(
    fc
      .record({ at: minute.map(at), session: sessionName, sha: fc.stringMatching(/^[0-9a-f]{40}$/) })
      .map((over) => commit(0, over)),
    { maxLength: 6, selector: ({ sha }) => sha },
  ),
  sent: fc.array(
    minute.map((when) => sent(when, ['/a'])),
    { maxLength: 4 },
  ),
});

describe('the order of the life of any fiber', () => {
  it('is by time, with each run begun before it ends, and prompts of one minute in one entry', () => {
    fc.assert(
      fc.property(history, (told) => {
        const entries = life(told);
        const times = entries.map((entry) => entry.at);
        expect(times).toEqual([...times].sort((a, b) => a - b));
        for (const [nth, entry] of entries.entries()) {
          if (!('lasted_ms' in entry) || entry.lasted_ms === null) continue;
          expect(entry.lasted_ms).toBeGreaterThanOrEqual(0);
          const { lasted_ms } = entry;
          const began = entries.findIndex((other) => 'run_id' in other && other.at === entry.at - lasted_ms);
          expect(began).toBeGreaterThanOrEqual(0);
          expect(began).toBeLessThan(nth);
        }
      }),
    );
  });

  it('stays when a later line comes: nothing that was told before changes places', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 7, max: 9 }), (told, when) => {
        const before = life(told);
        const more = commit(when, { sha: 'f'.repeat(40) });
        const after = life({ ...told, commits: [...told.commits, more] });
        expect(after.filter((entry) => !('sha' in entry && entry.sha === more.sha))).toEqual(before);
      }),
    );
  });

  it('is the same in parts: each entry comes once, and those of one time together', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 1, max: 5 }), (told, limit) => {
        const entries = life(told);
        let all: LifeEntry[] = [];
        for (let before_ms: number | undefined; ; ) {
          const part = lifePart(entries, { limit, before_ms });
          all = [...part.entries, ...all];
          expect(part.earlier).toBe(entries.length - all.length);
          if (part.earlier === 0) break;
          expect(part.entries.length).toBeGreaterThanOrEqual(limit);
          before_ms = part.entries[0]!.at;
          expect(entries[part.earlier - 1]!.at).toBeLessThan(before_ms);
        }
        expect(all).toEqual(entries);
      }),
    );
  });
});
