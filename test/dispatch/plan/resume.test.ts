import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FiberDocument, SvcBlock } from '../../../src/contract/fiber.ts';
import { HARNESS_NAMES } from '../../../src/contract/harness-name.ts';
import { decideResume, type ResumeFacts } from '../../../src/dispatch/plan/resume.ts';

const MINUTE = 60_000;
const DISPATCHED = Date.parse('2026-01-05T09:00:00.000Z');
const NOW = DISPATCHED + 60 * MINUTE;
const SESSION = '11111111-2222-4333-8444-555555555555';
const PATH = `/home/me/.claude/projects/-srv-dev/${SESSION}.jsonl`;

const iso = (at: number) => new Date(at).toISOString();

function documentOf(svc: Partial<SvcBlock> = {}, top: Partial<FiberDocument> = {}): FiberDocument {
  return {
    id: 'work/loader',
    uid: '01K00000000000000000000000',
    leaf: 'loader',
    store: '/srv/notes',
    path: '/srv/notes/.fibers/work/loader/loader.md',
    name: 'Loader',
    status: 'active',
    tags: [],
    digest: 'd',
    svc: { kind: 'oneshot', host: 'host-a', runtime: { dispatched_at: iso(DISPATCHED) }, ...svc },
    ...top,
  };
}
const written = (mtime_ms: number): ResumeFacts['transcript'] => ({
  kind: 'found',
  session_uuid: SESSION,
  path: PATH,
  size: 10,
  mtime_ms,
});
const HANDED_OFF = documentOf({
  runtime: { dispatched_at: iso(DISPATCHED), handed_off_at: iso(DISPATCHED + 30 * MINUTE) },
});

/** A oneshot that died without a handoff, with a warm transcript: the one case that is resumed by itself. */
const cutOff: ResumeFacts = {
  document: documentOf(),
  previous: { session_uuid: SESSION, harness: 'claude', host: 'host-a' },
  transcript: written(NOW - 5 * MINUTE),
  mode: null,
  host: 'host-a',
  harness: 'claude',
  reachable: true,
  end: null,
  seen_closed: false,
  cuts: false,
  resumed_in_vain: false,
  open_in_resume: false,
  warm_window_ms: 45 * MINUTE,
  now: NOW,
};
const RESUMED = { kind: 'resume', session_uuid: SESSION };
const ended = (handed_off: boolean) => ({ at: DISPATCHED + 20 * MINUTE, handed_off });
const named = (more: object = {}) => ({
  session_uuid: SESSION,
  harness: 'claude',
  cut_off: true,
  transcript: PATH,
  ...more,
});

type Row = [title: string, facts: Partial<ResumeFacts>, outcome: object];
const missing = { kind: 'missing' } as const;
const silent = { kind: 'unknown', detail: 'EIO' } as const;
const role = (kind: 'pinned' | 'standing') => ({ document: documentOf({ kind }) });
const app = { document: documentOf({ surface: 'app' }) };

const TABLE: Row[] = [
  [
    '[RES-1] a fiber that was never dispatched starts plain',
    { previous: null },
    { why: 'first', previous: null },
  ],
  [
    '[RES-1] not even `previous` resumes what never was',
    { previous: null, mode: 'previous' },
    { why: 'first' },
  ],
  [
    '[RES-2] a worker that handed off itself is followed by a fresh one that is told its name',
    { document: HANDED_OFF },
    { why: 'handed_off', previous: named({ cut_off: false, transcript: null }) },
  ],
  [
    '[RES-2] a handoff of an earlier run is none of this one',
    {
      document: documentOf({
        runtime: { dispatched_at: iso(DISPATCHED), handed_off_at: iso(DISPATCHED - 1) },
      }),
    },
    RESUMED,
  ],
  ['[RES-3] a session that died is resumed while its transcript is warm', {}, RESUMED],
  ['[RES-3] [LIM-17] it is warm up to the last moment', { transcript: written(NOW - 45 * MINUTE) }, RESUMED],
  [
    '[RES-3] [LIM-17] a moment later it is cold, and the prompt gets its place',
    { transcript: written(NOW - 45 * MINUTE - 1) },
    { why: 'cold', previous: named() },
  ],
  [
    '[RES-3] a transcript that a wrong clock dates ahead is warm',
    { transcript: written(NOW + MINUTE) },
    RESUMED,
  ],
  [
    '[RES-3] a transcript that is not on this host is not resumed, and that is said',
    { transcript: missing },
    { why: 'absent', previous: named({ transcript: null }) },
  ],
  [
    '[RES-3] a conversation of another host stays there',
    { previous: { session_uuid: SESSION, harness: 'claude', host: 'host-b' } },
    { why: 'other_host', previous: named() },
  ],
  [
    '[RES-3] a disk that does not answer is not an absent transcript, and nothing is resumed on a guess',
    { transcript: silent },
    { why: 'unknown', previous: named({ transcript: null, doubt: 'EIO' }) },
  ],
  [
    '[RES-3] another program cannot go on with it',
    { harness: 'codex' },
    { why: 'other_harness', previous: named() },
  ],
  [
    '[RES-3] neither can an agent that starts elsewhere',
    { reachable: false },
    { why: 'out_of_reach', previous: named() },
  ],
  [
    '[RES-4] a transcript older than the dispatch is not that dispatch’s session',
    { transcript: written(DISPATCHED - 1) },
    { why: 'not_of_dispatch', previous: null },
  ],
  [
    '[RES-4] one written at the very dispatch is',
    { transcript: written(DISPATCHED), now: DISPATCHED },
    RESUMED,
  ],
  ['[RES-5] an app conversation is resumed without a transcript', { ...app, transcript: missing }, RESUMED],
  ['[RES-5] or with one that cannot be read', { ...app, transcript: silent }, RESUMED],
  ['[RES-5] or with an old one', { ...app, transcript: written(DISPATCHED - 1) }, RESUMED],
  [
    '[RES-5] unless it handed off',
    { document: { ...HANDED_OFF, svc: { ...HANDED_OFF.svc, surface: 'app' } } },
    { why: 'handed_off' },
  ],
  ['[RES-6] a pinned role starts fresh', role('pinned'), { why: 'role', previous: named() }],
  ['[RES-6] a standing role starts fresh', role('standing'), { why: 'role', previous: named() }],
  ['[RES-7] `previous` resumes what handed off', { mode: 'previous', document: HANDED_OFF }, RESUMED],
  ['[RES-7] `previous` resumes what is cold', { mode: 'previous', transcript: written(1) }, RESUMED],
  ['[RES-7] `previous` resumes a role', { mode: 'previous', ...role('standing') }, RESUMED],
  ['[RES-7] `previous` resumes without a transcript', { mode: 'previous', transcript: missing }, RESUMED],
  ['[RES-7] `previous` resumes although a worker is cut', { mode: 'previous', cuts: true }, RESUMED],
  [
    '[RES-7] `previous` cannot make one program resume another’s session',
    { mode: 'previous', harness: 'pi' },
    { why: 'other_harness', previous: named() },
  ],
  [
    '[RES-7] `fresh` never resumes, and names what was cut off',
    { mode: 'fresh' },
    { why: 'asked', previous: named() },
  ],
  ['[RES-7] `continue` applies the rule to a pinned role', { mode: 'continue', ...role('pinned') }, RESUMED],
  [
    '[RES-7] `continue` applies the rule to a standing role',
    { mode: 'continue', ...role('standing') },
    RESUMED,
  ],
  [
    '[RES-7] `continue` does not reopen what handed off',
    { mode: 'continue', document: HANDED_OFF },
    { why: 'handed_off' },
  ],
  [
    '[RES-7] `continue` does not warm what is cold',
    { mode: 'continue', transcript: written(DISPATCHED) },
    { why: 'cold' },
  ],
  [
    '[RES-7] `continue` goes on although the fiber was closed',
    { mode: 'continue', document: documentOf({}, { status: 'closed' }) },
    RESUMED,
  ],
  [
    '[RES-8] a closed fiber is reopened for a fresh start',
    { document: documentOf({}, { status: 'closed' }) },
    { why: 'closed', previous: named() },
  ],
  [
    '[RES-8] so is one that was seen closed, whatever its document says by now',
    { seen_closed: true },
    { why: 'closed', previous: named() },
  ],
  [
    '[RES-8] so is one whose document still says when it was closed',
    { document: documentOf({}, { closed_at: iso(DISPATCHED + 1) }) },
    { why: 'closed', previous: named() },
  ],
  [
    '[RES-8] so is one that a verb armed again, and its worker is not said to have handed off',
    { document: HANDED_OFF, end: ended(false) },
    { why: 'closed', previous: named() },
  ],
  [
    '[RES-8] a worker that handed off before the fiber was closed is said to have done so',
    { document: HANDED_OFF, end: ended(true) },
    { why: 'handed_off', previous: named({ cut_off: false, transcript: null }) },
  ],
  [
    '[RES-8] a fiber that was closed before its last dispatch is armed like any other',
    { document: documentOf({}, { closed_at: iso(DISPATCHED - 1) }) },
    RESUMED,
  ],
  [
    '[RES-8] one that was closed and armed again while its worker ran was given back to it',
    { document: documentOf({}, { closed_at: iso(DISPATCHED + 1) }), end: ended(false) },
    RESUMED,
  ],
  [
    '[RES-3] [RES-8] parking a fiber ends no conversation',
    { document: documentOf({}, { status: 'open' }) },
    RESUMED,
  ],
  [
    '[RES-9] an open session of that conversation refuses',
    { open_in_resume: true },
    { kind: 'refused', reason: 'session_open_in_resume' },
  ],
  [
    '[RES-9] it refuses `previous` as well',
    { mode: 'previous', open_in_resume: true },
    { kind: 'refused', reason: 'session_open_in_resume' },
  ],
  ['[RES-9] it does not refuse a fresh start', { mode: 'fresh', open_in_resume: true }, { kind: 'fresh' }],
  [
    '[RES-9] a multiplexer that does not answer has not said no',
    { open_in_resume: null },
    { kind: 'refused', reason: 'mux_unavailable' },
  ],
  ['[WPL-1] a running worker is cut for a fresh start', { cuts: true }, { why: 'cut', previous: named() }],
  [
    '[P7] a conversation that was resumed in vain is not resumed again',
    { resumed_in_vain: true, transcript: written(DISPATCHED - MINUTE) },
    { why: 'resumed_in_vain', previous: named() },
  ],
  ['[P7] unless a person asks for it', { resumed_in_vain: true, mode: 'previous' }, RESUMED],
];

const transcripts = fc.oneof(
  fc.constant<ResumeFacts['transcript']>(missing),
  fc.constant<ResumeFacts['transcript']>(silent),
  fc.integer({ min: -90, max: 90 }).map((minutes) => written(NOW + minutes * MINUTE)),
);
const documents = fc
  .record({
    kind: fc.constantFrom('oneshot', 'standing', 'pinned' as const),
    surface: fc.constantFrom('cli', 'app' as const),
    status: fc.constantFrom('open', 'active', 'closed' as const),
    handed: fc.constantFrom(null, DISPATCHED - MINUTE, DISPATCHED + MINUTE),
  })
  .map(({ kind, surface, status, handed }) =>
    documentOf(
      {
        kind,
        surface,
        runtime: {
          dispatched_at: iso(DISPATCHED),
          ...(handed === null ? {} : { handed_off_at: iso(handed) }),
        },
      } as Partial<SvcBlock>,
      { status } as Partial<FiberDocument>,
    ),
  );
const anyFacts: fc.Arbitrary<ResumeFacts> = fc.record({
  document: documents,
  previous: fc.constantFrom(null, cutOff.previous, {
    session_uuid: SESSION,
    harness: 'claude' as const,
    host: null,
  }),
  transcript: transcripts,
  mode: fc.constantFrom(null, 'previous', 'fresh', 'continue' as const),
  host: fc.constantFrom('host-a', 'host-b'),
  harness: fc.constantFrom(...HARNESS_NAMES),
  reachable: fc.boolean(),
  cuts: fc.boolean(),
  resumed_in_vain: fc.boolean(),
  end: fc.constantFrom(null, ended(true), ended(false)),
  seen_closed: fc.boolean(),
  open_in_resume: fc.constantFrom(null, false, true),
  warm_window_ms: fc.constantFrom(0, 45 * MINUTE),
  now: fc.constant(NOW),
}) as fc.Arbitrary<ResumeFacts>;
const wouldResume = (facts: ResumeFacts) => decideResume(facts).kind !== 'fresh';

describe('resume or fresh', () => {
  it.each(TABLE)('%s', (_, facts, outcome) => {
    expect(decideResume({ ...cutOff, ...facts })).toMatchObject(outcome);
  });

  it('[RES-7] [RES-8] never resumes what handed off unless asked for `previous`', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const handed = facts.document.svc?.runtime?.handed_off_at === iso(DISPATCHED + MINUTE);
        if (handed && facts.mode !== 'previous') expect(wouldResume(facts)).toBe(false);
      }),
    );
  });

  it('[RES-3] [RES-4] resumes a terminal conversation by itself only with a warm transcript of that dispatch', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        if (facts.mode === 'previous' || facts.document.svc?.surface === 'app' || !wouldResume(facts)) return;
        const { transcript } = facts;
        expect(transcript.kind).toBe('found');
        if (transcript.kind !== 'found') return;
        expect(transcript.mtime_ms).toBeGreaterThanOrEqual(Math.max(DISPATCHED, NOW - facts.warm_window_ms));
      }),
    );
  });

  it('[RES-3] never has one program, host or folder go on with the conversation of another', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const { previous, harness, host, reachable } = facts;
        if (!wouldResume(facts)) return;
        expect([previous?.harness, reachable]).toEqual([harness, true]);
        expect([null, host]).toContain(previous?.host);
      }),
    );
  });

  it('[RES-5] resumes an app conversation by itself exactly when it did not hand off, whatever its transcript', () => {
    fc.assert(
      fc.property(transcripts, fc.boolean(), (transcript, handed) => {
        const document = handed
          ? { ...HANDED_OFF, svc: { ...HANDED_OFF.svc, ...app.document.svc } }
          : app.document;
        const runtime = handed ? HANDED_OFF.svc?.runtime : app.document.svc?.runtime;
        const facts = { ...cutOff, transcript, document: { ...document, svc: { ...document.svc, runtime } } };
        expect(decideResume(facts as ResumeFacts).kind).toBe(handed ? 'fresh' : 'resume');
      }),
    );
  });

  it('[RES-6] never resumes a role unless it is told to', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        if (facts.document.svc?.kind !== 'oneshot' && facts.mode === null)
          expect(wouldResume(facts)).toBe(false);
      }),
    );
  });

  it('[RES-7] [PRM-5] starts fresh when told to, and never loses a session that was cut off after its dispatch', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const decision = decideResume({ ...facts, mode: 'fresh' });
        expect(decision.kind).toBe('fresh');
        if (decision.kind !== 'fresh' || facts.previous === null) return;
        if (decision.why === 'not_of_dispatch') return;
        expect(decision.previous).toMatchObject({ session_uuid: SESSION, harness: 'claude' });
        expect(decision.previous?.cut_off).toBe(decision.why !== 'handed_off');
        if (facts.end?.handed_off === false) expect(decision.previous?.cut_off).toBe(true);
      }),
    );
  });

  it('[RES-9] never resumes beside an open session, nor before it is known that there is none', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        if (decideResume(facts).kind === 'resume') expect(facts.open_in_resume).toBe(false);
      }),
    );
  });

  it('decides the same from the same facts, whatever was decided before', () => {
    fc.assert(
      fc.property(anyFacts, anyFacts, (facts, other) => {
        const before = decideResume(facts);
        decideResume(other);
        expect(decideResume(structuredClone(facts))).toEqual(before);
      }),
    );
  });
});
