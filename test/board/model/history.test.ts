import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardOf } from '../../../board/src/model/card.ts';
import { commitsIn, lifeLine } from '../../../board/src/model/life.ts';
import { filesSent, sentFiles, viewOf } from '../../../board/src/model/sent-files.ts';
import { pastSessions } from '../../../board/src/model/sessions.ts';
import { type Transcript, withPage } from '../../../board/src/model/transcript.ts';
import type { LifeEntry, SessionLine, TranscriptPage } from '../../../board/src/model/wire.ts';
import { row as fiberRow } from './rows.ts';

const line = (of: Partial<SessionLine>): SessionLine => ({
  fiber: 'one',
  uid: 'u',
  session: null,
  thread_id: null,
  harness: 'claude',
  host: 'host-a',
  mux: null,
  at: 0,
  kind: 'dispatch',
  ...of,
});

describe('the conversations of a fiber', () => {
  it('are told from its lines, the one that ran last first', () => {
    const sessions = pastSessions([
      line({ session: 'a', run_id: 'r1', at: 1, agent: 'atlas' }),
      line({ run_id: 'r1', at: 2, kind: 'ended', reason: 'handoff' }),
      line({ run_id: 'r2', at: 3 }),
      line({ session: 'b', run_id: 'r2', at: 4, kind: 'learned' }),
      line({ run_id: 'r2', at: 5, kind: 'ended', reason: 'exited' }),
      line({ session: 'a', run_id: 'r3', at: 6, kind: 'resume' }),
    ]);
    expect(sessions).toEqual([
      { session: 'a', harness: 'claude', agent: 'atlas', began_at: 1, resumed_at: 6, ended: null },
      {
        session: 'b',
        harness: 'claude',
        agent: null,
        began_at: 4,
        resumed_at: null,
        ended: { at: 5, reason: 'exited' },
      },
    ]);
  });
});

describe('a line of the life of a fiber', () => {
  const ended = { at: 1, kind: 'ended', session: null, lasted_ms: 60_000, reason: 'exited' } as const;
  it.each<[LifeEntry, string, string, string | null]>([
    [
      {
        at: 1,
        kind: 'dispatch',
        session: null,
        harness: 'claude',
        agent: 'atlas',
        mux_session: null,
        run_id: null,
      },
      'agent',
      'A worker was started',
      'atlas',
    ],
    [{ at: 1, kind: 'handoff', session: null, lasted_ms: null }, 'agent', 'It was handed off', null],
    [ended, 'quiet', 'Its worker ended: its program ended', 'after 1 min'],
    [
      { ...ended, detail: 'exit code 1', mend: 'look' },
      'fault',
      'Its worker ended: exit code 1',
      'after 1 min',
    ],
    [{ at: 1, kind: 'prompts', session: null, count: 2 }, 'you', '2 prompts', null],
    [
      {
        at: 1,
        kind: 'commit',
        session: null,
        sha: 'abcdef0123456789',
        subject: 'Keep gaps',
        repo: '/r',
        files: 1,
        insertions: 2,
        deletions: 1,
      },
      'agent',
      'Keep gaps',
      'abcdef01, +2 −1',
    ],
    [{ at: 1, kind: 'sent', session: null, files: ['/a/b.png', '/c.md'] }, 'agent', 'Sent b.png, c.md', null],
    [{ at: 1, kind: 'accepted', session: null, exact: false }, 'you', 'It was accepted', 'at the latest'],
    [
      { at: 1, kind: 'accepted', session: null, exact: true, by_itself: { run: null, began_at: null } },
      'quiet',
      'It was accepted',
      'by itself',
    ],
  ])('says %o', (entry, tone, text, detail) => {
    expect(lifeLine(entry)).toEqual({ tone, text, detail });
  });

  it('is a commit or not', () => {
    expect(commitsIn([ended])).toEqual([]);
  });
});

describe('sent files', () => {
  const row = (at: number, files: string[]) => ({
    at,
    files,
    session: null,
    mux: null,
    cwd: null,
    harness: null,
    fiber: null,
    uid: null,
  });
  it('are listed once, the newest first', () => {
    expect(sentFiles([row(1, ['/a/x.png', '/y.md']), row(2, ['/a/x.png'])])).toEqual([
      { path: '/a/x.png', name: 'x.png', at: 2 },
      { path: '/y.md', name: 'y.md', at: 1 },
    ]);
  });
  it('[TMP-6] of a card in review are those of its last run, from every host', () => {
    const ran = { runtime: { dispatched_at: '2026-11-23T10:00:00.000Z' } };
    const closed = { status: 'closed', uid: 'U1', svc: ran } as const;
    const { sent } = cardOf(fiberRow(closed), '2026-11-24');
    const at = Date.parse(ran.runtime.dispatched_at);
    expect(sent).toEqual({ uid: 'U1', since: at });
    const of = (uid: string, when: number, file: string) => ({ ...row(when, [file]), uid });
    const told = { state: 'fresh', last_ok_at: null, error: null, build: null } as const;
    const sent_files = [of('U1', at - 1, '/before.md'), of('U1', at, '/a.md'), of('U2', at, '/other.md')];
    const composite = {
      host: 'host-a',
      origins: {
        'host-a': { ...told, read: { host: 'host-a', sent_files } },
        'host-b': { ...told, read: { host: 'host-b', sent_files: [of('U1', at + 1, '/b.md')] } },
        'host-c': { ...told, state: 'no_answer' as const, read: null },
      },
    };
    expect(filesSent(composite, sent!).map(({ origin, path }) => `${origin}:${path}`)).toEqual([
      'host-b:/b.md',
      'host-a:/a.md',
    ]);
    expect(cardOf(fiberRow({ ...closed, status: 'open' }), '2026-11-24').sent).toBeNull();
    expect(cardOf(fiberRow({ ...closed, uid: null }), '2026-11-24').sent).toBeNull();
  });
  it.each([
    ['image/png', '/a', 'picture'],
    ['text/html; charset=utf-8', '/a', 'page'],
    [null, '/a.HTML', 'page'],
    ['text/csv', '/a.csv', 'link'],
  ] as const)('of type %s at %s are shown as a %s', (type, path, view) =>
    expect(viewOf(type, path)).toBe(view),
  );
});

describe('a transcript that is read page by page', () => {
  const said = (byte: number, who: 'person' | 'agent' = 'agent') => ({
    at: byte,
    who,
    tool: null,
    text: `${byte}`,
    byte,
  });
  const page = (from: number, to: number): TranscriptPage => ({
    from,
    to,
    size: 100,
    words: Array.from({ length: to - from }, (_, one) => said(from + one)),
  });

  it('has each word once, whichever pages come at its ends', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 9 })), { maxLength: 20 }),
        (steps) => {
          let known: Transcript = withPage(null, page(50, 60));
          for (const [before, by] of steps) {
            const next = before
              ? page(Math.max(0, known.from - by), known.from)
              : page(known.to, known.to + by);
            known = withPage(known, next);
          }
          expect(known.words.map(({ byte }) => byte)).toEqual(
            page(known.from, known.to).words.map(({ byte }) => byte),
          );
          expect(new Set(known.words.map(({ key }) => key)).size).toBe(known.words.length);
        },
      ),
    );
  });

  it('stays as it is for a page that it has, and begins again with one of another transcript', () => {
    const known = withPage(null, page(10, 20));
    expect(withPage(known, page(12, 18))).toBe(known);
    expect(withPage(known, page(0, 5))).toMatchObject({ from: 0, to: 5 });
  });

  it('begins a turn with what a person said first', () => {
    const words = [said(0, 'person'), said(1, 'person'), said(2), said(3, 'person')];
    const { words: told } = withPage(null, { from: 0, to: 4, size: 4, words });
    expect(told.map(({ begins_turn }) => begins_turn)).toEqual([true, false, false, true]);
  });
});
