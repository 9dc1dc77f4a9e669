import { type Place, placeOf } from './classify.ts';
import { type Contact, silenceOf } from './contact.ts';
import { type Day, dayAfter, mondayAfter, monthAfter } from './days.ts';
import { type CardState, stateOf } from './states.ts';
import type {
  DispatchRequest,
  EditFiber,
  FiberRow,
  KillRequest,
  LifecycleRequest,
  NestFiber,
  TransitionRequest,
} from './wire.ts';
import { monthName, shortDay } from './wording.ts';

/** A request to the daemon as plain data: a route below `/api/v1` and its body. */
export type Call =
  | { path: '/transition'; body: TransitionRequest }
  | { path: '/fiber-edit'; body: EditFiber }
  | { path: '/dispatch'; body: DispatchRequest }
  | { path: '/kill'; body: KillRequest }
  | { path: '/lifecycle'; body: LifecycleRequest }
  | { path: '/fiber-nest'; body: NestFiber };

/** What becomes of a row, as far as it is known before the daemon says it; null takes a field away. */
export type Change = {
  status?: FiberRow['status'];
  tempered?: boolean | null;
  due?: string | null;
  horizon?: string | null;
  worker?: 'none' | 'launching';
  /** Where it is not the present. */
  closed_at?: string | null;
};

/** Forms that a gesture opens in place of a request. */
export type Form = 'launch' | 'install' | 'pin' | 'repeat' | 'agent' | 'nest';

export type WriteAct = Extract<Act, { kind: 'write' }>;
type Act =
  | {
      kind: 'write';
      call: Call;
      /** Null where the daemon alone knows what becomes of the row. */
      change: Change | null;
      /** It ends a worker, or cannot be taken back: a person confirms it first. */
      asks: boolean;
      /** Said once it is done. */
      done: string;
    }
  /**
   * `call` is what the form sends, before its fields are filled in; `as_it_is` what that is where they may stay empty, and
   * what it does then.
   */
  | { kind: 'form'; form: Form; call: Call; as_it_is?: { says: string; act: WriteAct } }
  /** The sheet of the fiber, the reply box in it, or the screen of its worker. */
  | { kind: 'sheet'; at: 'top' | 'reply' | 'screen' };

export type MoveName = 'drafts' | 'launch' | 'review' | 'accept' | 'set_aside';
export type GestureId =
  | MoveName
  | `rest:${Day | 'none'}`
  | 'open'
  | 'reply'
  | 'watch'
  | 'stop'
  | 'pause'
  | 'resume'
  | 'agent'
  | 'install'
  | 'pin'
  | 'repeat'
  | 'nest'
  | 'uninstall';

/** One thing that a person can do to a fiber. Menus, keys, buttons and drops all come from these. */
export type Gesture = {
  id: GestureId;
  /** `move` and `rest` make up the Move menu and the drop targets. */
  group: 'move' | 'rest' | 'worker' | 'shape';
  /** The place or the day in a menu below its heading. */
  name: string;
  /** The same on a button, or in a place where it can be dropped. */
  verb: string;
  /** Its letter or digit in the Move menu. */
  letter: string | null;
  /** Its key while the card has the focus. */
  key: string | null;
  /** What will happen, in one sentence. */
  says: string;
  /** Why it cannot be done now. */
  refused: string | null;
  act: Act;
};

/** Everything that decides what can be done to a row besides the row itself. */
export type GestureFacts = {
  /** The host that answers. */
  host: string;
  /** What the row tells is the last that is known of it. */
  aged: boolean;
  today: Day;
  contact: Contact;
  /** An earlier gesture on the row has not been answered. */
  saving: boolean;
};

/** A row with what its gestures are made of. */
type Subject = GestureFacts & {
  row: FiberRow;
  state: CardState;
  place: Place;
  kind: 'oneshot' | 'standing' | 'pinned';
  /** The host that owns it: the one whose feed has it, unless its document names another one there. */
  owner: string;
  live: boolean;
  /** `fiber_id`, and the owner where it is another host. */
  whose: { fiber_id: string; origin?: string };
  /** The same as the verbs name it. */
  of: { fiber: string; store?: string; origin?: string };
};

/** Everything that can be done to a fiber, in the order of the menus; what would change nothing is left out. */
export function gesturesOf(row: FiberRow, facts: GestureFacts): readonly Gesture[] {
  const subject = subjectOf(row, facts);
  const found = [...moves(subject), ...rests(subject), ...onWorker(subject), ...ofShape(subject)];
  const { owner, host } = subject;
  if (owner === host) return found;
  // What is shown of it is what this host knows.
  const asked = `Asked of ${owner}, which owns it${facts.aged ? ', on its last known state' : ''}.`;
  return found.map((one) => (one.act.kind === 'sheet' ? one : { ...one, says: `${one.says} ${asked}` }));
}

/** The places to which a card can be moved: the Move menu, and where a drag can be dropped. */
export function targetsOf(gestures: readonly Gesture[]): readonly Gesture[] {
  return gestures.filter(({ group }) => group === 'move' || group === 'rest');
}

function subjectOf(row: FiberRow, facts: GestureFacts): Subject {
  const found = stateOf(row);
  const place = placeOf(row, found, facts.today);
  const owner = row.origin === facts.host ? (row.svc?.host ?? facts.host) : row.origin;
  const whose = row.uid ?? row.id;
  const origin = owner === facts.host ? {} : { origin: owner };
  return {
    ...facts,
    row,
    state: place === 'resting' ? 'resting' : found,
    place,
    kind: row.svc?.kind ?? 'oneshot',
    owner,
    live: row.runtime !== undefined,
    whose: { fiber_id: whose, ...origin },
    // An id can be that of a document in another store as well; a ULID cannot.
    of: { fiber: whose, ...(row.uid === null ? { store: row.store } : {}), ...origin },
  };
}

/** Why nothing can be written about the fiber now. */
function refusedWrite({ contact, host, saving, row }: Subject): string | null {
  const silence = silenceOf(contact, host);
  if (silence !== null) return `${silence}. Nothing can be changed until it answers.`;
  if (saving) return 'Its last change is still being saved.';
  return row.error === undefined ? null : `Its document cannot be read: ${row.error}`;
}

/** Why the fiber stays where it is: a move must not leave a worker behind that nobody sees. */
function refusedMove(subject: Subject): string | null {
  const refused = refusedWrite(subject);
  if (refused !== null) return refused;
  if (subject.state === 'launching') return 'Its worker is being launched. Move it once the worker is up.';
  if (subject.row.runtime?.state === 'unknown')
    return `Whether its worker on ${subject.owner} still runs is not known now.`;
  return null;
}

function moves(subject: Subject): Gesture[] {
  const { state, place } = subject;
  const parked = state === 'parked';
  const found: Gesture[] = [];
  if (place !== 'drafts' && !parked) found.push(toDrafts(subject));
  if (state !== 'launching') found.push(launch(subject));
  if (state !== 'review' && !parked) found.push(toReview(subject));
  // Accepting a role that only waits for its next run would change nothing.
  if (state !== 'accepted' && !parked && state !== 'scheduled') found.push(accept(subject));
  if (state !== 'set_aside') found.push(setAside(subject));
  return found;
}

function move(
  subject: Subject,
  as: { id: MoveName; name: string; verb: string; letter: string; key?: string; says: string; done: string },
  target: TransitionRequest['target'],
  change: Change,
): Gesture {
  const { live } = subject;
  const { done, key = null, says, ...rest } = as;
  return {
    ...rest,
    group: 'move',
    key,
    says: live ? `${workerStops(subject)} ${says}` : says,
    refused: refusedMove(subject),
    act: {
      kind: 'write',
      call: { path: '/transition', body: { ...subject.whose, target } },
      change: { ...change, worker: 'none' },
      asks: live,
      done: live ? `${done} ${workerStopped(subject)}` : done,
    },
  };
}

function workerStops({ owner, row }: Subject): string {
  return row.runtime?.surface === 'app'
    ? `Its conversation on ${owner} is let go.`
    : `The worker on ${owner} stops.`;
}

function workerStopped({ owner, row }: Subject): string {
  return row.runtime?.surface === 'app'
    ? `Its conversation on ${owner} was let go.`
    : `The worker on ${owner} stopped.`;
}

const DRAFTS_SAYS = {
  oneshot: 'It is parked: nothing launches until you say so.',
  standing: 'It is paused: no launches until you resume it.',
  pinned: 'It goes back among the pinned roles.',
} as const;

function toDrafts(subject: Subject): Gesture {
  const { state, kind, row, whose } = subject;
  const change: Change = { status: 'open', tempered: null };
  const at_rest = kind === 'pinned';
  const name = at_rest ? 'Pinned roles' : 'Drafts';
  const done = at_rest ? 'Back among the pinned roles.' : 'Moved to Drafts.';
  const closed = row.status === 'closed';
  const says = closed && !at_rest ? 'It is reopened as a draft; its outcome is kept.' : DRAFTS_SAYS[kind];
  const verb = closed && !at_rest ? 'Reopen as a draft' : at_rest ? 'Put back' : 'Move to Drafts';
  const gesture = move(subject, { id: 'drafts', name, verb, letter: 'd', says, done }, 'drafts', change);
  if (gesture.act.kind !== 'write' || row.horizon !== 'stashed' || subject.live) return gesture;
  // Otherwise it would only move on to what rests.
  const awake: Change = { ...change, due: null, horizon: null };
  const body: EditFiber = { ...whose, status: 'open', tempered: null, due: null, unset: ['horizon'] };
  return {
    ...gesture,
    says: state === 'resting' ? 'It is back on the Desk; its date is removed.' : gesture.says,
    act: {
      ...gesture.act,
      call: { path: '/fiber-edit', body },
      change: awake,
    },
  };
}

const LAUNCH_SAYS = {
  oneshot: 'Starts a worker',
  standing: 'Runs it once now',
  pinned: 'Starts a run of it',
} as const;

function launch(subject: Subject): Gesture {
  const { row, live, kind, owner, state, of, whose } = subject;
  // A card with a worker is where it would be moved to.
  const where = live
    ? ({ group: 'worker', name: 'Launch', letter: null } as const)
    : ({ group: 'move', name: 'In flight', letter: 'f' } as const);
  const shared = { id: 'launch', verb: 'Launch', key: 'L', ...where } as const;
  const refused = live
    ? `Its worker on ${owner} runs already. Write to it, or stop it first.`
    : refusedMove(subject);
  if (row.svc === undefined)
    return {
      ...shared,
      says: 'It becomes a task: you choose its folder and agent, and a worker starts.',
      refused,
      act: {
        kind: 'form',
        form: 'install',
        call: { path: '/lifecycle', body: { action: 'install', ...of } },
      },
    };
  const role = kind !== 'oneshot';
  const agent = row.svc.agent === undefined ? '' : ` with ${row.svc.agent}`;
  const what = role ? LAUNCH_SAYS[kind] : `${LAUNCH_SAYS.oneshot}${agent}`;
  const rest = kind === 'standing' && state === 'scheduled' ? '; its schedule stays' : '';
  const closed = row.status === 'closed' ? 'It is reopened. ' : '';
  const says = `${closed}${what} on ${owner}${rest}.`;
  const call: Call = {
    path: '/dispatch',
    body: { ...whose, force: true, ...(role ? { ad_hoc: true } : {}) },
  };
  const change: Change = { status: 'active', tempered: null, worker: 'launching' };
  const act: WriteAct = { kind: 'write', call, change, asks: false, done: `Launched on ${owner}.` };
  return {
    ...shared,
    says: `${says} You see first what it does.`,
    refused,
    act: { kind: 'form', form: 'launch', call, as_it_is: { says, act } },
  };
}

function toReview(subject: Subject): Gesture {
  const { kind, row, live } = subject;
  const kept = live || row.outcome !== undefined ? '; its outcome is kept' : '';
  const says =
    row.status === 'closed'
      ? 'Its verdict is taken back.'
      : kind === 'standing'
        ? `It is closed${kept}, and runs again once you accept it.`
        : `It is closed for your review${kept}.`;
  return move(
    subject,
    {
      id: 'review',
      name: 'Awaiting review',
      verb: row.status === 'closed' ? 'Review again' : 'Close for review',
      letter: 'r',
      says,
      done: 'Moved to Awaiting review.',
    },
    'awaitingReview',
    { status: 'closed', tempered: null },
  );
}

const ACCEPT_SAYS = {
  oneshot: 'The work is done: it leaves the Desk.',
  standing: 'The run is accepted: it launches again by its schedule.',
  pinned: 'The run is accepted: it goes back among the pinned roles.',
} as const;
const ACCEPTED: Readonly<Record<'oneshot' | 'standing' | 'pinned', Change>> = {
  oneshot: { status: 'closed', tempered: true },
  standing: { status: 'active', tempered: null },
  pinned: { status: 'open', tempered: null },
};

function accept(subject: Subject): Gesture {
  const says = ACCEPT_SAYS[subject.kind];
  return move(
    subject,
    { id: 'accept', name: 'Accept', verb: 'Accept', letter: 'a', key: 'a', says, done: 'Accepted.' },
    'tempered',
    ACCEPTED[subject.kind],
  );
}

function setAside(subject: Subject): Gesture {
  const says =
    subject.kind === 'oneshot'
      ? 'It ends without being accepted; nothing is deleted.'
      : 'The role ends: it is not launched again; nothing is deleted.';
  return move(
    subject,
    {
      id: 'set_aside',
      name: 'Set aside',
      verb: 'Set aside',
      letter: 'x',
      key: 'x',
      says,
      done: 'Set aside.',
    },
    'composted',
    { status: 'closed', tempered: false },
  );
}

/** The days until which a fiber can rest, with their digits in the menu. */
export function restDays(today: Day): readonly { day: Day | null; name: string; digit: string }[] {
  const days: { day: Day | null; name: string }[] = [
    { day: dayAfter(today, 1), name: 'Tomorrow' },
    { day: mondayAfter(today), name: 'Monday' },
    { day: dayAfter(today, 7), name: 'In a week' },
    { day: monthAfter(today), name: monthName(monthAfter(today)) },
    { day: null, name: 'No date' },
  ];
  return days
    .filter(({ day }, index) => days.findIndex((one) => one.day === day) === index)
    .map((one, index) => ({ ...one, digit: String(index + 1) }));
}

function rests(subject: Subject): Gesture[] {
  const { row, state, place, kind, today, live, owner, whose } = subject;
  const verdict = state === 'accepted' || state === 'set_aside';
  if (kind === 'pinned' || verdict || (place === null && !live)) return [];
  const refused = live
    ? `Its worker on ${owner} runs. Stop it, or let it end, before the fiber rests.`
    : refusedMove(subject);
  return restDays(today)
    .filter(({ day }) => state !== 'resting' || day !== (row.due ?? null))
    .map(({ day, name, digit }) => {
      const change: Change = { status: 'open', tempered: null, due: day, horizon: 'stashed' };
      const until = day === null ? 'It stays at rest until you bring it back.' : backOn(day, today);
      const paused = row.status === 'active' ? ' Nothing launches meanwhile.' : '';
      return {
        id: `rest:${day ?? 'none'}`,
        group: 'rest',
        name,
        verb: day === null ? 'Rest without a date' : `Rest until ${shortDay(day, today)}`,
        letter: digit,
        key: null,
        says: `${until}${paused}`,
        refused,
        act: {
          kind: 'write',
          call: {
            path: '/fiber-edit',
            body: { ...whose, status: 'open', tempered: null, due: day, set: { horizon: 'stashed' } },
          },
          change: { ...change, worker: 'none' },
          asks: false,
          done: day === null ? 'Resting, without a date.' : `Resting until ${shortDay(day, today)}.`,
        },
      };
    });
}

function backOn(day: Day, today: Day): string {
  return `It is back in Drafts on ${shortDay(day, today)}.`;
}

/** A write of which the daemon alone knows what becomes of the row. */
function told(call: Call, done: string, asks: boolean): Act {
  return { kind: 'write', call, change: null, asks, done };
}

function onWorker(subject: Subject): Gesture[] {
  const { row, live, owner, state, of, whose, kind } = subject;
  const shared = { group: 'worker', letter: null, key: null } as const;
  const refused = refusedWrite(subject);
  const found: Gesture[] = [
    {
      ...shared,
      id: 'open',
      name: 'Open',
      verb: 'Open',
      key: 'Enter',
      says: 'Shows all of it.',
      refused: null,
      act: { kind: 'sheet', at: 'top' },
    },
  ];
  if (row.svc !== undefined)
    found.push({
      ...shared,
      id: 'reply',
      name: state === 'waiting' ? 'Reply' : 'Write to its worker',
      verb: 'Reply',
      key: 'r',
      says: live
        ? `You write to the worker on ${owner}.`
        : 'What you write starts a worker that goes on from there.',
      refused: null,
      act: { kind: 'sheet', at: 'reply' },
    });
  if (row.runtime?.mux_session != null)
    found.push({
      ...shared,
      id: 'watch',
      name: 'Watch its screen',
      verb: 'Screen',
      key: 'w',
      says: 'Shows what its worker does now. The worker knows nothing of it.',
      refused: null,
      act: { kind: 'sheet', at: 'screen' },
    });
  const verb = (id: 'pause' | 'resume', name: string, says: string, done: string): Gesture => ({
    ...shared,
    id,
    name,
    verb: name,
    says,
    refused,
    act: told({ path: '/lifecycle', body: { action: id, ...of } }, done, false),
  });
  if (live)
    found.push({
      ...shared,
      id: 'stop',
      name: 'Stop worker',
      verb: 'Stop worker',
      says: `${workerStops(subject)} The fiber stays as it is until you resume it. This cannot be taken back.`,
      refused,
      act: told({ path: '/kill', body: { ...whose } }, workerStopped(subject), true),
    });
  if (row.status === 'active' && row.svc !== undefined)
    found.push(
      verb(
        'pause',
        'Pause',
        live ? 'Its worker goes on; no other starts after it.' : DRAFTS_SAYS[kind],
        'Paused.',
      ),
    );
  if (row.svc !== undefined && (row.status !== 'active' || row.held !== undefined))
    found.push(verb('resume', 'Resume', resumeSays(subject), 'Resumed.'));
  return found;
}

function resumeSays({ live, kind, owner }: Subject): string {
  if (live) return 'It is given back to the worker that runs.';
  if (kind === 'standing') return `${owner} launches it again by its schedule.`;
  return kind === 'pinned' ? `${owner} starts one run of it.` : `${owner} starts a worker as soon as it may.`;
}

function ofShape(subject: Subject): Gesture[] {
  const { row, of, whose, kind, live } = subject;
  const shared = { group: 'shape', letter: null, key: null, refused: refusedWrite(subject) } as const;
  const kept = live ? ' The worker that runs keeps what it was started with.' : '';
  const form = (id: 'agent' | 'pin' | 'repeat', name: string, says: string, body: LifecycleRequest) => ({
    ...shared,
    id,
    name,
    verb: name,
    says: `${says}${kept}`,
    act: { kind: 'form', form: id, call: { path: '/lifecycle', body } } as const,
  });
  const found: Gesture[] = [];
  if (row.svc !== undefined)
    found.push(
      form('agent', 'Choose agent…', 'Another agent or effort, from the next launch on.', {
        action: 'set-agent',
        ...of,
        agent: row.svc.agent ?? '',
      }),
    );
  if (row.svc === undefined || kind !== 'pinned')
    found.push(
      form('pin', 'Pin…', 'It becomes a role among the pinned ones, which you launch by hand.', {
        action: 'pin',
        ...of,
      }),
    );
  found.push(
    form(
      'repeat',
      kind === 'standing' ? 'Change its schedule…' : 'Repeat…',
      'It is launched by a schedule, and each run awaits your review.',
      { action: 'repeat', ...of, schedule: row.svc?.schedule ?? '' },
    ),
  );
  found.push({
    ...shared,
    id: 'nest',
    name: 'Nest…',
    verb: 'Nest',
    says: 'It moves below another fiber, or to the top of its store, with its files and children. Links to it follow.',
    act: {
      kind: 'form',
      form: 'nest',
      call: { path: '/fiber-nest', body: { ...whose, parent: null } },
    },
  });
  if (row.svc === undefined) return found;
  return [
    ...found,
    {
      ...shared,
      id: 'uninstall',
      name: 'Make it a plain document',
      verb: 'Make it a plain document',
      says: `It is no task any more${live ? '; its worker goes on until it ends' : ' and is not launched'}. Its text stays.`,
      act: told(
        { path: '/lifecycle', body: { action: 'uninstall', ...of } },
        'It is a plain document now.',
        true,
      ),
    },
  ];
}
