import { readFileSync } from 'node:fs';
import { markdownTable } from '../../src/base/markdown-table.ts';
import { decideResume } from '../../src/dispatch/plan/resume.ts';
import { parseDocument } from '../../src/fibers/document.ts';
import { editDocument } from '../../src/fibers/edit.ts';
import { planAction } from '../../src/lifecycle/actions.ts';
import { planPause } from '../../src/lifecycle/arming-verbs.ts';
import { planFieldEdit } from '../../src/lifecycle/field-edit.ts';
import { planClose } from '../../src/lifecycle/review-verbs.ts';
import { planTransition } from '../../src/lifecycle/transition.ts';

const MINUTE = 60_000;
const DISPATCHED = Date.parse('2026-01-05T09:00:00.000Z');
const ENDED = DISPATCHED + 30 * MINUTE;
const LEFT = ENDED + MINUTE;
const NOW = ENDED + 5 * MINUTE;
const SESSION = '11111111-2222-4333-8444-555555555555';
const PLACE = { store: '/s', path: '/s/.fibers/f/f.md', relativePath: 'f/f.md' };
const FACTS = { this_host: 'a', this_zone: 'UTC', new_uid: '01K00000000000000000000001', running: false };

const written = (at) => ({
  kind: 'found',
  session_uuid: SESSION,
  path: '/t.jsonl',
  size: 1,
  mtime_ms: at,
});

/** What the last worker left, and what a start finds of it. */
export const CASES = [
  { last: 'handed off', handed_off: true },
  { last: 'died without a handoff, its transcript written in the last 45 minutes' },
  { last: 'the same, but longer ago', facts: { now: ENDED + 46 * MINUTE } },
  { last: 'the same, and the transcript is not on this host', facts: { transcript: { kind: 'missing' } } },
  {
    last: 'left its transcript on a disk that does not answer',
    facts: { transcript: { kind: 'unknown', detail: 'EIO' } },
  },
  {
    last: 'left a transcript that is older than its dispatch',
    facts: { transcript: written(DISPATCHED - 1) },
  },
  { last: 'was itself resumed, and ended before the transcript grew', facts: { resumed_in_vain: true } },
  { last: 'belonged to a standing role', kind: 'standing' },
  { last: 'belonged to a pinned role', kind: 'pinned' },
  {
    last: 'was an app conversation, without a transcript here',
    surface: 'app',
    facts: { transcript: { kind: 'missing' } },
  },
  { last: 'ran on another agent program', facts: { harness: 'codex' } },
  { last: 'ran in another folder, or on another login', facts: { reachable: false } },
  { last: 'ran on another host', facts: { host: 'b' } },
];

/** The ways to arm a fiber: each answers the text that the next start finds. A start that arms the fiber itself finds the text as it is. */
export const WAYS = {
  'svc resume': (text) => {
    const document = read(text);
    const plan = planAction(document, { action: 'resume', fiber: document.id }, FACTS, null, NOW);
    return editDocument(text, plan, NOW);
  },
  'a move on the board': (text) => {
    if (!planTransition(read(text), 'inFlight', FACTS, NOW).dispatch) throw new Error('it would not start');
    return text;
  },
  'svc dispatch': (text) => text,
  'an edit through the daemon': (text) => {
    const edit = { set: { status: 'active' } };
    return editDocument(text, planFieldEdit(read(text), edit, { running: false }, NOW), NOW);
  },
  'an edit by hand': (text) => text.replace(/^status: .*$/m, 'status: active'),
};

/** What happened to the fiber after its worker had ended. */
const SINCE = {
  'and the fiber stayed armed': null,
  'and it was parked and armed again': (text) => editDocument(text, planPause(read(text)), LEFT),
  'and it was closed and armed again': (text) => editDocument(text, planClose(read(text), {}), LEFT),
};

/** The decision of the kernel in each case, by what happened since and by the way in which the fiber was armed. */
export function decisions() {
  return CASES.map((one) => ({
    last: one.last,
    since: Object.entries(SINCE).map(([since, leave]) => {
      if (leave === null) return { since, ways: { poll: decide(one, documentOf(one), false) } };
      const left = leave(documentOf(one));
      const ways = Object.entries(WAYS).map(([way, arm]) => [way, decide(one, arm(left), false)]);
      // The daemon saw the fiber closed before all trace of it was removed from the document.
      const bare = WAYS['an edit by hand'](left).replace(/^closed-at: .*\n/m, '');
      const seen = read(left).status === 'closed';
      return {
        since,
        ways: {
          ...Object.fromEntries(ways),
          'an edit by hand that leaves no trace': decide(one, bare, seen),
        },
      };
    }),
  }));
}

/** The page with its table as the code has it now. */
export function renderResumePage() {
  const page = readFileSync(new URL('../resume.md', import.meta.url), 'utf8');
  const rows = decisions().map(({ last, since }) => [last, ...since.map(({ ways }) => onlyOne(ways))]);
  const table = markdownTable(['the last worker …', ...Object.keys(SINCE).map((text) => `… ${text}`)], rows);
  const place = /(?<=<!-- table -->\n).*?(?=<!-- end of the table -->)/s;
  return page.replace(place, () => `${table}\n`);
}

function documentOf({ kind = 'oneshot', surface = 'cli', handed_off = false }) {
  const handed = handed_off ? { 'svc.runtime.handed_off_at': new Date(ENDED - 1).toISOString() } : {};
  const set = {
    id: '01K00000000000000000000000',
    name: 'f',
    status: 'active',
    'svc.kind': kind,
    'svc.host': 'a',
    'svc.surface': surface,
    'svc.project_dir': '/p',
    'svc.runtime.dispatched_at': new Date(DISPATCHED).toISOString(),
    ...handed,
  };
  return editDocument('', { set }, DISPATCHED);
}

function read(text) {
  return parseDocument(Buffer.from(text), PLACE);
}

function decide({ facts = {}, handed_off = false }, text, seen_closed) {
  return decideResume({
    document: read(text),
    previous: { session_uuid: SESSION, harness: 'claude', host: 'a' },
    transcript: written(ENDED),
    mode: null,
    host: 'a',
    harness: 'claude',
    reachable: true,
    end: { at: ENDED, handed_off },
    seen_closed,
    cuts: false,
    resumed_in_vain: false,
    open_in_resume: false,
    warm_window_ms: 45 * MINUTE,
    now: NOW,
    ...facts,
  });
}

function onlyOne(ways) {
  const words = new Set(Object.values(ways).map(inWords));
  if (words.size !== 1) throw new Error(`the ways to arm a fiber differ: ${JSON.stringify(ways)}`);
  return [...words][0];
}

function inWords(decision) {
  if (decision.kind === 'resume') return '**resumes it**';
  const { previous } = decision;
  if (previous === null) return 'fresh';
  if (!previous.cut_off) return 'fresh; names the session';
  if (previous.transcript !== null) return 'fresh; names the session and its transcript';
  return previous.doubt === undefined
    ? 'fresh; names the session, without a transcript'
    : 'fresh; names the session and the fault of the disk';
}
