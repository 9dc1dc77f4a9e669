import { standingOf } from './aim.ts';
import { buttonsOf, type CardButton } from './card-buttons.ts';
import { type Place, placeOf, returnDay } from './classify.ts';
import { type Day, dayIn } from './days.ts';
import { keyOf } from './feed-copy.ts';
import { folderName } from './folder-name.ts';
import type { Aged } from './hosts.ts';
import type { Sent } from './sent-files.ts';
import { type CardState, STATE_NAMES, stateOf, stopOf } from './states.ts';
import type { Wake } from './wake.ts';
import type { FiberRow } from './wire.ts';
import { sentence, timeIn } from './wording.ts';

/** A band below the text of a card. `since` is a moment that its heading counts from. */
export type Band =
  | { tone: 'you'; since: number | null; text: string | null }
  | { tone: 'agent'; since: number; active_at: number | null }
  | { tone: 'fault' | 'quiet'; text: string };

/** The one fact at the right of a card. */
export type Fact =
  | { kind: 'due'; day: Day }
  | { kind: 'soon' }
  | { kind: 'closed' | 'accepted' | 'set_aside' | 'launching' | 'idle' | 'next'; at: number };

/** A fiber as the Desk shows it. Moments are milliseconds since the Unix epoch. */
export type Card = {
  /** That of the row, by `keyOf`. */
  key: string;
  /** What was seen by whoever saw it, as in `Aim`. */
  saw: string;
  id: string;
  /** The host whose feed has it. */
  origin: string;
  title: string;
  /** Null where it would only repeat the title. */
  path: string | null;
  outcome: string | null;
  agent: string | null;
  /** Other workers work in its folder too. */
  shares_folder: boolean;
  /** The name of the folder that its worker runs in. */
  project: string | null;
  host: string;
  /** Where its host is not fresh. */
  aged: Aged | null;
  state: CardState;
  place: Place;
  pinned: boolean;
  /** Of a resting fiber: the day on which it comes back; null for no date. */
  returns: Day | null;
  fact: Fact | null;
  /** When a role is launched next, also while its worker runs; null for no launch by the clock. */
  next_at: number | null;
  band: Band | null;
  /** Of a worker at work, or one that waits for a person. */
  wake: Wake | null;
  /** Of a card in review: which fiber sent files, and since when it ran last. */
  sent: Sent | null;
  /** What a person most likely does to it; the one that stands out is last. */
  buttons: readonly CardButton[];
  /** Its order among the cards of its place: by `rank`, then by title. */
  rank: number;
};

/** The gates that keep an armed fiber from starting, as a reader of the Desk understands them. */
const GATE_WORDS: Readonly<Record<string, string>> = {
  document: 'Its document cannot be used as it is.',
  status: 'It is not armed.',
  host: 'It names no host, so no daemon starts it.',
  due: 'No time of its schedule is due.',
  mux: 'tmux does not answer.',
  stopped_all: 'All launches are stopped on this host.',
  data_dir: 'The daemon cannot write its data folder.',
  store_lease: 'Another daemon on this machine works on its store.',
  run_elsewhere: 'A run of it is marked on another machine.',
  breaker: 'It ended too often in a row.',
  usage_limit: 'The account of its agent has reached its usage limit.',
  cooldown: 'It ran a moment ago and waits before it starts again.',
  max_concurrent: 'It waits for a free place among the workers.',
  resources: 'It waits for room on its machine.',
};

/** What a person has to know of a start that was held back. */
const HELD_WORDS: Readonly<Record<string, string>> = {
  boot_quarantine: 'The daemon restarted. Nothing launches until you say so.',
  killed: 'Its worker was stopped. It stays stopped until you resume it.',
  clean_exit: 'Its worker ended without a handoff.',
  server_lost: 'Its tmux server was lost.',
  loop_breaker: 'It started again and again without a result.',
  not_concluded: 'Its last run came to no conclusion.',
};

/** `aged` where what the row tells is the last that is known of it. */
export function cardOf(row: FiberRow, today: Day, aged: Aged | null = null): Card {
  return new RowCard(row, today, aged);
}

/**
 * What decides where a card stands is found out at once, for all cards of a Desk; what it shows only once it is shown, for
 * those few that can be seen.
 */
class RowCard implements Card {
  readonly key: string;
  readonly title: string;
  readonly aged: Aged | null;
  readonly state: CardState;
  readonly place: Place;
  readonly pinned: boolean;
  readonly returns: Day | null;
  readonly rank: number;
  readonly #row: FiberRow;
  readonly #told: CardState;
  readonly #found: CardState;

  constructor(row: FiberRow, today: Day, aged: Aged | null) {
    const told = stateOf(row);
    const found = aged !== null && IN_MOTION.has(told) ? 'unknown' : told;
    const place = placeOf(row, found, today);
    const state = place === 'resting' ? 'resting' : found;
    this.#row = row;
    this.#told = told;
    this.#found = found;
    this.key = keyOf(row);
    this.title = row.name;
    this.aged = aged;
    this.state = state;
    this.place = place;
    this.pinned = row.svc?.kind === 'pinned' && state !== 'accepted' && state !== 'set_aside';
    this.returns = returnDay(row, found, today) ?? null;
    this.rank = place === null ? 0 : rankOf(row, state, today);
  }

  get id(): string {
    return this.#row.id;
  }

  get origin(): string {
    return this.#row.origin;
  }

  get saw(): string {
    return standingOf(this.#row);
  }

  get path(): string | null {
    return this.#row.id === this.#row.name ? null : this.#row.id;
  }

  get outcome(): string | null {
    const { outcome } = this.#row;
    return outcome?.trim() ? outcome : null;
  }

  get agent(): string | null {
    return agentOf(this.#row);
  }

  get project(): string | null {
    const { project_dir } = this.#row;
    return project_dir === undefined ? null : folderName(project_dir);
  }

  get shares_folder(): boolean {
    return this.#row.shares_folder_with !== undefined;
  }

  get host(): string {
    return this.#row.svc?.host ?? this.#row.origin;
  }

  get fact(): Fact | null {
    return factOf(this.#row, this.state);
  }

  get next_at() {
    return nextOf(this.#row, this.state);
  }

  get band(): Band | null {
    return this.aged !== null && this.#found !== this.#told
      ? agedBand(this.#told, this.aged)
      : bandOf(this.#row, this.state);
  }

  get wake(): Wake | null {
    return wakeOf(this.#row, this.state);
  }

  get sent(): Sent | null {
    return sentOf(this.#row, this.state);
  }

  get buttons(): readonly CardButton[] {
    return buttonsOf(this.#row, this.state);
  }
}

/** What a worker does by itself: by now it may do something else. */
const IN_MOTION: ReadonlySet<CardState> = new Set(['launching', 'working', 'idle']);

function agedBand(told: CardState, { host }: Aged): Band {
  return { tone: 'quiet', text: `${STATE_NAMES[told]} when ${host} was last heard of.` };
}

function agentOf({ svc, runtime }: FiberRow): string | null {
  const agent = runtime?.agent ?? svc?.agent;
  if (agent === undefined) return null;
  return [agent, svc?.effort].filter(Boolean).join(' ');
}

function factOf(row: FiberRow, state: CardState): Fact | null {
  const { runtime } = row;
  if (state === 'due') return { kind: 'soon' };
  if (state === 'launching' && runtime !== undefined) return { kind: 'launching', at: runtime.started_at };
  if (state === 'idle' && typeof runtime?.phase_since === 'number')
    return { kind: 'idle', at: runtime.phase_since };
  if (state === 'review' || state === 'accepted' || state === 'set_aside') {
    const at = timeIn(row.closed_at);
    return at === null ? null : { kind: state === 'review' ? 'closed' : state, at };
  }
  const next = state === 'scheduled' ? nextOf(row, state) : null;
  if (next !== null) return { kind: 'next', at: next };
  const due = dayIn(row.due);
  return due === null ? null : { kind: 'due', day: due };
}

function nextOf({ svc, runtime, next_due_at }: FiberRow, state: CardState): number | null {
  const launches = state === 'scheduled' || (svc?.kind === 'standing' && runtime !== undefined);
  return launches && next_due_at !== undefined ? next_due_at : null;
}

function bandOf(row: FiberRow, state: CardState): Band | null {
  const { runtime, blocked, held, held_note, last_death } = row;
  if (row.error !== undefined) return { tone: 'fault', text: sentence(row.error) };
  if (runtime !== undefined) {
    if (state === 'waiting') {
      const stop = stopOf(row);
      const text = stop === undefined ? runtime.said : sentence(stop.message);
      return { tone: 'you', since: waitsSince(row), text };
    }
    if (state === 'idle') return runtime.said === null ? null : { tone: 'quiet', text: runtime.said };
    if (state === 'working')
      return { tone: 'agent', since: runtime.started_at, active_at: runtime.last_activity_at };
    if (state === 'unknown')
      return {
        tone: 'quiet',
        text: `Its session runs, but does not say what its worker does.${runtime.needs_look ? ' Look at its screen.' : ''}`,
      };
    return null;
  }
  if (state === 'blocked' && blocked !== undefined) return { tone: 'fault', text: sentence(blocked.message) };
  if (state === 'held') return { tone: 'quiet', text: heldWords(held, held_note) };
  if (state === 'delayed') return { tone: 'quiet', text: GATE_WORDS[row.gate ?? ''] ?? `Gate: ${row.gate}.` };
  if (state === 'elsewhere')
    return {
      tone: 'quiet',
      text: `It belongs to ${row.svc?.host}; ${row.origin} does not know whether it runs.`,
    };
  if (last_death !== undefined && (state === 'due' || state === 'draft'))
    return { tone: 'fault', text: sentence(`its last worker died: ${last_death.message}`) };
  return null;
}

/** Since when a worker waits for a person; null where nobody knows. */
function waitsSince(row: FiberRow): number | null {
  return stopOf(row)?.first_attempted_at ?? row.runtime?.phase_since ?? null;
}

function wakeOf(row: FiberRow, state: CardState): Wake | null {
  const { runtime } = row;
  if (runtime === undefined || (state !== 'working' && state !== 'waiting')) return null;
  const { session_uuid, transcript_session_uuid, started_at } = runtime;
  return {
    session: transcript_session_uuid ?? session_uuid,
    since: started_at,
    waits_since: state === 'waiting' ? waitsSince(row) : null,
  };
}

function sentOf({ uid, svc }: FiberRow, state: CardState): Sent | null {
  if (uid === null || state !== 'review') return null;
  return { uid, since: timeIn(svc?.runtime?.dispatched_at) ?? 0 };
}

function heldWords(held = '', note: string | undefined): string {
  const words = HELD_WORDS[held] ?? 'It is held back until you say so.';
  return note === undefined ? words : `${words} Note: ${note}`;
}

/**
 * Where a card stands is decided by what changes only with its state, never by activity, so that no card moves under
 * the reader's hand.
 */
function rankOf(row: FiberRow, state: CardState, today: Day): number {
  const { runtime } = row;
  // Who has waited longest comes first.
  if (state === 'waiting') return waitsSince(row) ?? runtime?.started_at ?? 0;
  if (runtime !== undefined && state !== 'review') return -runtime.started_at;
  if (state === 'review') return -(timeIn(row.closed_at) ?? 0);
  if (state === 'scheduled') return row.next_due_at ?? Number.MAX_SAFE_INTEGER;
  const due = dayIn(row.due);
  if (due !== null && due <= today) return Date.parse(due) - Number.MAX_SAFE_INTEGER / 2;
  return -(timeIn(row.created_at) ?? 0);
}
