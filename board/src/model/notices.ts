import { endWords } from '../../../src/contract/end-words.ts';
import { folderName } from './folder-name.ts';
import type { CardState } from './states.ts';
import type { BrakePulled, BrakeReleased, CaptureRequest, Incident, IncidentReply, State } from './wire.ts';
import { sentence, timeOfDay } from './wording.ts';

/** A write that a notice offers. `done` tells what came of it, from the daemon's answer. */
export type NoticeAct = {
  text: string;
  tone?: 'quiet' | 'agent';
  path: string;
  body: object;
  done(answer: never): string;
};

/** Something that concerns the whole host, with what can be done about it. */
export type Notice = {
  key: string;
  glyph: CardState;
  title: string;
  text: string;
  acts: readonly NoticeAct[];
  /** The part of the settings where it is fixed, and what the button says. */
  part?: { name: string; text: string };
  again?: LostCapture;
};

/** A capture that made no fiber, to be sent again: where its text is kept, and how it was asked for. */
export type LostCapture = { run_id: string; text_file: string; request: Omit<CaptureRequest, 'prompt'> };

/** What `GET /state` has to tell everybody, most urgent first. */
export function noticesOf(state: State): Notice[] {
  const { brake, incidents, data_dir, start_gate, operator_file_errors, captures, poll_health } = state;
  return [
    ...(data_dir.fault === null
      ? []
      : [notice('data-dir', 'blocked', 'Nothing is started', sentence(data_dir.fault))]),
    ...(brake.on ? [brakeNotice(brake, state.host)] : []),
    ...incidents.map(incidentNotice),
    ...(start_gate.hold === null
      ? []
      : [
          notice(
            'start-gate',
            'delayed',
            start_gate.waiting === 1 ? '1 start waits' : `${start_gate.waiting} starts wait`,
            `${sentence(start_gate.hold.message)} ${sentence(start_gate.hold.mend)}`,
          ),
        ]),
    ...operator_file_errors.map(({ file, error }) => ({
      ...notice(`file-${file}`, 'blocked', `${file}.json is not valid`, sentence(error)),
      part: { name: `file-${file}`, text: 'Correct it' },
    })),
    ...poll_health.stores.flatMap(staleStore),
    ...captures.filter((one) => one.state === 'ended').map(endedCapture),
    ...filing(captures.filter((one) => one.state !== 'ended')),
  ];
}

function notice(key: string, glyph: CardState, title: string, text: string): Notice {
  return { key, glyph, title, text, acts: [] };
}

/** A store whose rows are older than they should be, or some of whose documents could not be read. */
function staleStore({ store, state, error, last_ok_at }: State['poll_health']['stores'][number]): Notice[] {
  if (error === null) return [];
  const title =
    state === 'ok'
      ? `Not all of ${store} could be read`
      : last_ok_at === null
        ? `${store} could not be read yet`
        : `${store} is shown as of ${timeOfDay(last_ok_at)}`;
  const text = `${sentence(error)} It is read again by itself.`;
  return [
    {
      ...notice(`store-${store}`, 'unknown', title, text),
      acts: [{ text: 'Try again now', path: '/fiber-stores/sweep', body: { store }, done: sweptText }],
      part: { name: 'health', text: 'Show why' },
    },
  ];
}

/** What reading a store once more came to. */
function sweptText({ store, error }: { store: string; error: string | null }): string {
  return error === null ? `${store} was read.` : `${store} could not be read: ${sentence(error)}`;
}

function brakeNotice({ since, note, fault }: State['brake'], host: string): Notice {
  const title =
    since === null ? 'The emergency brake is on' : `The emergency brake is on since ${timeOfDay(since)}`;
  const parts = [`Nothing starts on ${host}.`, ...(note === null ? [] : [`“${note}”`])];
  if (fault !== undefined) parts.push(sentence(fault));
  return { key: 'brake', glyph: 'held', title, text: parts.join(' '), acts: [RELEASE_BRAKE] };
}

export const RELEASE_BRAKE: NoticeAct = {
  text: 'Release the brake',
  path: '/brake/release',
  body: {},
  done: ({ held }: BrakeReleased) =>
    held.length === 0
      ? 'The brake is off. Workers start again.'
      : `The brake is off. Still held: ${held.join(', ')}.`,
};

/** What pulling the brake came to. */
export function pulledText({ running, captures = [], killed, not_killed, fault }: BrakePulled): string {
  const parts = ['The brake is on.'];
  if (killed.length > 0) parts.push(`Ended: ${killed.join(', ')}.`);
  const on = [...running, ...captures];
  if (on.length > 0) parts.push(`Still running: ${on.join(', ')}.`);
  for (const { fiber_id, message } of not_killed) parts.push(`${fiber_id}: ${sentence(message)}`);
  if (fault !== undefined) parts.push(sentence(fault));
  return parts.join(' ');
}

const CAUSES: Readonly<Record<Incident['cause'], string>> = {
  server_lost: 'The tmux server was lost',
  server_replaced: 'The tmux server was lost, and another one runs in its place',
  reboot: 'The machine was restarted',
  memory_limit: 'A worker reached its memory limit',
};

function incidentNotice({ id, cause, message, at, fibers }: Incident): Notice {
  const names = fibers.map(({ fiber_id }) => fiber_id);
  const refused = fibers.flatMap(({ fiber_id, refused }) =>
    refused === null ? [] : [`${fiber_id}: ${sentence(refused)}`],
  );
  const parts = [
    names.length === 1
      ? `It cut off the worker of ${names[0]}.`
      : `It cut off ${names.length} workers: ${names.join(', ')}.`,
    ...(message === undefined ? [] : [sentence(message)]),
    ...refused,
  ];
  return {
    key: `incident-${id}`,
    glyph: 'blocked',
    title: `${CAUSES[cause]} at ${timeOfDay(at)}`,
    text: parts.join(' '),
    acts: [
      { text: 'Dismiss', tone: 'quiet', path: '/incidents/dismiss', body: { id }, done: () => DISMISSED },
      { text: 'Resume all', tone: 'agent', path: '/incidents/resume', body: { id }, done: resumedText },
    ],
  };
}

const DISMISSED = 'It is off the list. What it held back stays held.';

/** How the fibers of an incident fared, in one line. */
export function resumedText({ fibers, fault }: IncidentReply): string {
  const of = (...outcomes: string[]) => fibers.filter(({ outcome }) => outcomes.includes(outcome));
  const parts = [
    ...counted(of('started').length, 'has a worker again', 'have workers again'),
    ...counted(of('queued').length, 'follows', 'follow'),
    ...counted(of('running').length, 'has one already', 'have one already'),
    ...counted(of('not_armed').length, 'is not armed any more', 'are not armed any more'),
    ...of('refused').map(({ fiber_id, message }) => `${fiber_id}: ${sentence(message ?? 'refused')}`),
    ...(fault === undefined ? [] : [sentence(fault)]),
  ];
  return parts.length === 0 ? 'There was nothing left to resume.' : parts.join(' ');
}

function counted(count: number, one: string, more: string): string[] {
  return count === 0 ? [] : [count === 1 ? `1 fiber ${one}.` : `${count} fibers ${more}.`];
}

type Capture = State['captures'][number];

/** A capture without a fiber is not in the feed: only here can it be told. */
function endedCapture(capture: Capture): Notice {
  const { run_id, agent, project_dir, ended_reason, text_file } = capture;
  const why = ended_reason === null ? 'Its session has ended.' : sentence(endWords(ended_reason));
  const kept = text_file === null ? '' : ` Its text is kept in ${text_file}.`;
  return {
    key: `capture-${run_id}`,
    glyph: 'blocked',
    title: `A capture in ${folderName(project_dir)} by ${agent} made no fiber`,
    text: `${why}${kept}`,
    ...(text_file === null ? {} : { again: { run_id, text_file, request: requestOf(capture) } }),
    acts: [
      {
        text: 'Dismiss',
        tone: 'quiet',
        path: '/incidents/dismiss',
        body: { id: run_id },
        done: () => 'The capture is off the list.',
      },
    ],
  };
}

/** Asks for a capture as it was asked for the first time. */
function requestOf({ project_dir, agent, effort, store, surface }: Capture): LostCapture['request'] {
  return { project_dir, agent, store, surface, ...(effort === null ? {} : { effort }) };
}

function filing(captures: readonly Capture[]): Notice[] {
  const [first] = captures;
  if (first === undefined) return [];
  const title =
    captures.length === 1 ? 'A capture is being filed' : `${captures.length} captures are being filed`;
  const places = [...new Set(captures.map(({ project_dir }) => folderName(project_dir)))].join(', ');
  return [notice('captures', 'launching', title, `By ${first.agent} in ${places}.`)];
}
