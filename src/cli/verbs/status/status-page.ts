import { z } from 'zod';
import { shellWord } from '../../../base/shell-word.ts';
import { endWords } from '../../../contract/end-words.ts';
import { contextUseSchema } from '../../../contract/fiber.ts';
import { placesSchema, type State } from '../../../contract/http/state.ts';
import type { Version } from '../../../contract/http/version.ts';
import { withClock } from '../../command-line/output.ts';
import { gateWords, holdWords, lastLine, letGo, refusalWords } from '../../command-line/screen-words.ts';
import { captureName, openCaptures } from '../../daemon-client/captures.ts';
import { dayOf, isOpen, type Place, type PlacedRow, placeOf, stopsWorker } from './place.ts';

const lineSchema = z.object({
  /** A fiber, or what of the host it is about. */
  what: z.string(),
  /** The fibers that it concerns. */
  fibers: z.array(z.string()),
  words: z.string(),
  since: z.number().nullable(),
  /** What to type, most likely first. */
  commands: z.array(z.string()),
  /** Other fibers whose workers run in the same work tree; absent where there are none. */
  shares_folder_with: z.array(z.string()).optional(),
});
export type StatusLine = z.infer<typeof lineSchema>;

const workerSchema = z.object({
  fiber_id: z.string(),
  agent: z.string(),
  started_at: z.number(),
  /** `starting`, `working`, `idle` and `unknown`. */
  state: z.enum(['starting', 'working', 'idle', 'unknown']),
  since: z.number().nullable(),
  said: z.string().nullable(),
  context: contextUseSchema.nullable(),
  /** What became of the worker before, where that died not long ago. */
  died: z.string().nullable(),
  /** Other fibers whose workers run in the same work tree. */
  shares_folder_with: z.array(z.string()),
  /** A capture that has made no fiber yet; `fiber_id` is then the beginning of the name of its session. */
  capture: z.literal(true).optional(),
  /** What became of the fiber while this worker goes on. */
  judged: z.enum(['accepted', 'set aside']).nullable(),
});
export type StatusWorker = z.infer<typeof workerSchema>;

/** What `svc status` tells, most urgent first. Times are milliseconds since the Unix epoch. */
export const statusPageSchema = z.object({
  /** Who waits longest first. */
  needs_you: z.array(lineSchema),
  /** Newest first. */
  review: z.array(lineSchema),
  working: z.array(workerSchema),
  /** Fibers that are started with one of the next ticks. */
  starting: z.array(z.string()),
  /** What keeps more than one fiber from starting. */
  faults: z.array(lineSchema),
  cannot_start: z.array(lineSchema),
  next: z.array(z.object({ fiber_id: z.string(), at: z.number() })),
  drafts: z.number().int(),
  workers: placesSchema,
  host: z.string(),
  booted_at: z.number(),
  /** This one too. */
  hosts: z.number().int(),
  stale_hosts: z.array(z.object({ name: z.string(), last_ok_at: z.number().nullable() })),
});
export type StatusPage = z.infer<typeof statusPageSchema>;

export type StatusFacts = {
  rows: readonly PlacedRow[];
  state: State;
  version: Pick<Version, 'booted_at' | 'components'>;
  now: number;
  /** The command that reaches this daemon. */
  svc: string;
};

/** Sorts everything that the daemon tells by what it asks of a person. */
export function statusPage({ rows, state, version, now, svc }: StatusFacts): StatusPage {
  const asked = { state, now, svc };
  const today = dayOf(now);
  const placed = rows.map((row): Placed => {
    const place = placeOf(row, state.host, today);
    return { row, place, need: needOf(row, place, asked) };
  });
  const needed = placed.filter(isNeeded);
  const lost = lostWorkers(state, svc);
  const told = new Set(lost.flatMap(({ fibers }) => fibers));
  const rest = placed.filter((one) => one.need === null);
  const at = (place: Place) => rest.flatMap((one) => (one.place === place ? [one.row] : []));
  return {
    needs_you: merged([
      ...needed
        .filter(({ row }) => !(row.held === 'server_lost' && told.has(row.id)))
        .map(({ need }) => need),
      ...lost,
      ...lostCaptures(state, svc),
    ]).toSorted(bySince),
    review: at('review')
      .map((row) => reviewLine(row, asked))
      .toSorted((a, b) => bySince(b, a)),
    // A fiber that was judged, or whose document cannot be read, stands in no column of those that work; it may still run.
    working: [
      ...rest.flatMap(({ row, place }) => (place === 'review' ? [] : workerOf(row, now))),
      ...openCaptures(state).map(captureWorker),
    ].toSorted((a, b) => b.started_at - a.started_at),
    starting: at('working').flatMap((row) => (row.runtime === undefined ? [row.id] : [])),
    faults: faultsOf(asked, rows, version),
    cannot_start: merged(
      at('blocked').flatMap((row) => (isOfHost(row, state.host) ? [stoppedLine(row, asked)] : [])),
    ),
    next: at('scheduled')
      .flatMap(({ id, next_due_at }) =>
        next_due_at === undefined ? [] : [{ fiber_id: id, at: next_due_at }],
      )
      .toSorted((a, b) => a.at - b.at),
    drafts: at('drafts').length,
    workers: state.workers,
    host: state.host,
    booted_at: Date.parse(version.booted_at),
    hosts: 1 + (state.fleet?.remotes.length ?? 0),
    stale_hosts: (state.fleet?.remotes ?? []).flatMap((remote) =>
      remote.state === 'fresh' || remote.state === 'unpolled'
        ? []
        : [{ name: remote.name, last_ok_at: remote.last_ok_at }],
    ),
  };
}

type Asked = { state: State; now: number; svc: string };
type Placed = { row: PlacedRow; place: Place; need: StatusLine | null };

function isNeeded(one: Placed): one is Placed & { need: StatusLine } {
  return one.need !== null;
}

/** Whom only a person helps; null for all others. */
function needOf(row: PlacedRow, place: Place, asked: Asked): StatusLine | null {
  const { runtime, blocked, last_death, held, gate, id } = row;
  const { now, svc, state } = asked;
  const line = (words: string, since: number | null, ...commands: string[]): StatusLine => ({
    ...{ what: id, fibers: [id], words, since },
    commands: commands.map((command) => `${svc} ${command}`),
  });
  const named = shellWord(id);
  if (runtime !== undefined) {
    if (blocked !== undefined && stopsWorker(row))
      return line(
        refusalWords(blocked, row.project_dir, now),
        blocked.first_attempted_at,
        blocked.reason === 'usage_limit' ? `why ${named}` : `attach ${named}`,
      );
    const { phase_since, mux_session } = runtime;
    if (place !== 'needs_you') return null;
    if (runtime.needs_look)
      return line('runs, and does not say what it does', phase_since, `attach ${named}`);
    if (!isOpen(runtime, now)) return null;
    const { shares_folder_with } = row;
    return {
      ...line(
        askingWords(runtime),
        phase_since,
        mux_session === null ? `send ${named} "…"` : `attach ${named}`,
      ),
      ...(shares_folder_with === undefined ? {} : { shares_folder_with }),
    };
  }
  if (row.status === 'closed' || place === 'resting' || !isOwned(row, state.host)) return null;
  if (row.error !== undefined || BY_A_PERSON.has(held)) return null;
  if (blocked?.reason === 'usage_limit')
    return line(refusalWords(blocked, row.project_dir, now), blocked.attempted_at, `why ${named}`);
  if (gate === 'usage_limit') return line(gateWords(gate), null, `why ${named}`);
  if (last_death !== undefined) {
    return line(deathWords(last_death), last_death.at, `why ${named}`);
  }
  if (held !== undefined || blocked?.reason === 'loop_breaker') {
    const words =
      blocked === undefined
        ? holdWords(held ?? '', row.held_note)
        : refusalWords(blocked, row.project_dir, now);
    return line(words, heldSince(row, asked), `why ${named}`);
  }
  return null;
}

/** A person knows of these: they were held by one, or by the restart alone. */
const BY_A_PERSON: ReadonlySet<string | undefined> = new Set(['killed', 'clean_exit', 'boot_quarantine']);

function isOwned({ svc }: PlacedRow, host: string): boolean {
  return svc?.host === undefined || svc.host === host;
}

function askingWords({ phase, said }: NonNullable<PlacedRow['runtime']>): string {
  const words = said?.replace(/\s+/g, ' ').trim() ?? '';
  if (words === '') return phase === 'waiting' ? 'waits for an answer' : 'its last turn failed';
  if (phase === 'attention') return `its last turn ended: ${words}`;
  const wish = /^asks to ((?:use|run:) .+)$/.exec(words)?.[1];
  if (wish !== undefined) return `wants to ${wish}`;
  return /^\S+ needs your permission\b/.test(words) ? words : `asks: ${words}`;
}

function heldSince({ id, path }: PlacedRow, { state }: Asked): number | null {
  const held = state.pending_launch.find((one) => one.fiber_id === id && path.startsWith(`${one.store}/`));
  return held?.since ?? null;
}

/** The incidents that ended several workers at once; the death of one worker is told by its fiber. */
function lostWorkers({ incidents }: State, svc: string): StatusLine[] {
  return incidents.flatMap(({ cause, at, fibers }) => {
    if (cause === 'memory_limit') return [];
    const ids = fibers.map(({ fiber_id }) => fiber_id);
    const ended = ids.length === 1 ? '1 worker ended' : `${ids.length} workers ended`;
    return [
      {
        what: cause === 'reboot' ? 'this machine' : 'tmux',
        fibers: ids,
        words: `${ended} with it: ${ids.join(', ')}`,
        since: at,
        commands: [`${svc} incident resume --all`],
      },
    ];
  });
}

/** A text that no fiber keeps is only told here. */
function lostCaptures({ captures }: State, svc: string): StatusLine[] {
  return captures.flatMap(({ state, agent, ended_reason, ended_at }) =>
    state === 'ended'
      ? [
          {
            what: 'a capture',
            fibers: [],
            words: `${agent} made no fiber of it${ended_reason === null ? '' : `: ${endWords(ended_reason)}`}; its text is kept`,
            since: ended_at,
            commands: [`${svc} daemon status`],
          },
        ]
      : [],
  );
}

function deathWords({ message, screen }: NonNullable<PlacedRow['last_death']>): string {
  const last = lastLine(screen);
  return last === null ? `died: ${message}` : `died: ${message}, "${last}"`;
}

function reviewLine(row: PlacedRow, { svc }: Asked): StatusLine {
  const { id, outcome, closed_at, last_death, runtime } = row;
  const at = Date.parse(closed_at ?? '');
  const named = shellWord(id);
  return {
    ...{ what: id, fibers: [id] },
    words: [
      runtime === undefined ? '' : 'still runs',
      last_death === undefined ? '' : deathWords(last_death),
      outcome ?? '',
    ]
      .filter(Boolean)
      .join('; '),
    since: Number.isNaN(at) ? null : at,
    commands: [`${svc} accept ${named}`, `${svc} reopen ${named} -m "…"`],
  };
}

/** How long it is told of a worker that the one before it died, in milliseconds. */
const DEATH_TOLD_MS = 3_600_000;

function workerOf(
  { id, runtime, last_death, shares_folder_with = [], tempered }: PlacedRow,
  now: number,
): StatusWorker[] {
  if (runtime === undefined) return [];
  const { agent, started_at, state, phase, phase_since, said, context = null } = runtime;
  const starts = state === 'claimed' || state === 'starting';
  return [
    {
      ...{ fiber_id: id, agent, started_at, since: phase_since },
      state: starts ? 'starting' : phase === 'idle' || phase === 'unknown' ? phase : 'working',
      said: phase === 'idle' ? said : null,
      context,
      died: last_death === undefined || now - last_death.at > DEATH_TOLD_MS ? null : last_death.message,
      shares_folder_with,
      judged: tempered === undefined ? null : tempered ? 'accepted' : 'set aside',
    },
  ];
}

function captureWorker(capture: ReturnType<typeof openCaptures>[number]): StatusWorker {
  const { agent, captured_at, state } = capture;
  return {
    ...{ fiber_id: captureName(capture), agent, started_at: captured_at, capture: true },
    state: state === 'running' ? 'working' : state === 'starting' ? 'starting' : 'unknown',
    ...{ since: null, said: null, context: null, died: null, shares_folder_with: [], judged: null },
  };
}

/** Told once for all fibers, by the faults of the host. */
const OF_HOST: ReadonlySet<string | undefined> = new Set(['mux', 'stopped_all', 'data_dir', 'store_lease']);

/** Whether it is this host that does not start it, for a reason of its own. */
function isOfHost(row: PlacedRow, host: string): boolean {
  const { error, held, blocked, gate } = row;
  if (error !== undefined || !isOwned(row, host)) return false;
  return held !== undefined || blocked !== undefined || !OF_HOST.has(gate);
}

function stoppedLine(row: PlacedRow, asked: Asked): StatusLine {
  const { id, blocked, held, gate } = row;
  const named = shellWord(id);
  const line = { what: id, fibers: [id], since: heldSince(row, asked) };
  if (held !== undefined)
    return {
      ...line,
      words: holdWords(held, row.held_note),
      commands: [letGo(held, id, asked.svc)],
    };
  if (blocked === undefined)
    return { ...line, words: gateWords(gate), commands: [`${asked.svc} why ${named}`] };
  return {
    ...line,
    words: refusalWords(blocked, row.project_dir, asked.now),
    commands: [
      blocked.reason.startsWith('project_dir_')
        ? `${asked.svc} reshape ${named} --project-dir <folder>`
        : `${asked.svc} why ${named}`,
    ],
  };
}

/** What keeps more than one fiber from starting, worst first. */
function faultsOf({ state, svc, now }: Asked, rows: readonly PlacedRow[], version: StatusFacts['version']) {
  const { data_dir, brake, poll_health, operator_file_errors, document_errors, start_gate } = state;
  const fault = (what: string, words: string, command: string, since: number | null = null): StatusLine => ({
    ...{ what, words: withClock(words, now), since },
    fibers: [],
    commands: [`${svc} ${command}`],
  });
  const waiting = (gate: string) => {
    const count = rows.filter((row) => row.gate === gate && row.runtime === undefined).length;
    return count === 0 ? '' : count === 1 ? '; 1 fiber waits' : `; ${count} fibers wait`;
  };
  const { mux, stores } = poll_health;
  const { count, first } = document_errors;
  const others = (state.not_ours ?? []).map(
    ({ fiber_id, message, command }): StatusLine => ({
      ...{ what: fiber_id, fibers: [], words: message, since: null, commands: [command] },
    }),
  );
  return [
    ...(data_dir.fault === null ? [] : [fault('data folder', data_dir.fault, 'daemon status')]),
    ...version.components
      .filter((part) => part.state === 'failed' && part.name !== 'data_dir')
      .map(({ name, last_error }) => fault(name, last_error ?? 'has failed', 'daemon status')),
    ...(brake.on
      ? [
          fault(
            'brake',
            `is on${brake.note === null ? '' : `: ${brake.note}`}${waiting('stopped_all')}${brake.fault === undefined ? '' : `; ${brake.fault}`}`,
            'resume-all',
            brake.since,
          ),
        ]
      : []),
    ...(mux.state === 'unknown'
      ? [fault('tmux', `does not answer${mux.detail === null ? '' : `: ${mux.detail}`}`, 'doctor')]
      : []),
    ...(stores.length === 0 ? [fault('stores', 'none is watched', 'fiber init ~/fibers')] : []),
    ...stores.flatMap(({ store, error, held_back, last_ok_at }) => [
      ...(error === null ? [] : [fault(store, error, 'daemon status', last_ok_at)]),
      ...(held_back === null ? [] : [fault(store, held_back.message, 'daemon status')]),
    ]),
    ...operator_file_errors.map(({ file, error }) => fault(`${file}.json`, error, 'daemon status')),
    ...(count === 0
      ? []
      : [
          fault(
            'documents',
            count === 1 && first[0] !== undefined
              ? `${first[0].path}: ${first[0].error}`
              : `${count} cannot be read`,
            'fiber check',
          ),
        ]),
    ...(start_gate.hold === null || start_gate.waiting === 0
      ? []
      : [fault('new workers', `${start_gate.hold.message}${waiting('resources')}`, 'daemon status')]),
    ...(state.boot_quarantine.active && state.boot_quarantine.held === 0
      ? [
          fault(
            'restart',
            'nothing starts by itself until you release it; no fiber waits now',
            'daemon release',
          ),
        ]
      : []),
    ...others,
  ];
}

/** Lines of the same words and one command for all are one line; so are those of more fibers than are read one by one. */
function merged(lines: readonly StatusLine[]): StatusLine[] {
  const groups = new Map<string, StatusLine[]>();
  for (const line of lines) {
    const key = `${line.words}\n${line.what === 'a capture' ? line.since : ''}\n${line.shares_folder_with ?? ''}`;
    groups.set(key, [...(groups.get(key) ?? []), line]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const one_command = new Set(group.map(({ commands }) => commands.join())).size === 1;
    if (group.length === 1 || (!one_command && group.length <= ALIKE_APART)) return group;
    const fibers = group.flatMap((one) => one.fibers);
    const [a, b, ...more] = fibers;
    const what = more.length === 0 ? `${a}, ${b}` : `${a} and ${fibers.length - 1} more`;
    return [{ ...first, what, fibers }];
  });
}

const ALIKE_APART = 3;

function bySince(a: StatusLine, b: StatusLine): number {
  return (a.since ?? 0) - (b.since ?? 0) || (a.what < b.what ? -1 : 1);
}
