import { z } from 'zod';
import { CodedError } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import { readSettings } from '../../config/settings.ts';
import { fiberRowSchema } from '../../contract/fiber.ts';
import { type State, stateSchema } from '../../contract/http/state.ts';
import { versionSchema } from '../../contract/http/version.ts';
import { continuedLine, wrapPage } from '../command-line/fit-width.ts';
import { argument, ON_HOST } from '../command-line/options.ts';
import { formatMoment, formatTable } from '../command-line/output.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { readFiber } from '../daemon-client/daemon-of-fiber.ts';
import { presence } from './daemon/status.ts';
import { incidentLines } from './incident.ts';
import { runningTable } from './ps.ts';
import { fiberPage } from './status/fiber-page.ts';
import { describeHold, letGo } from './status/hold.ts';

/** `svc status [fiber]`: one page about the whole daemon, or about one fiber (OPR-2). */
export const verb = defineVerb({
  summary: 'Show what the daemon does, or one fiber',
  arguments: { fiber: argument('[fiber]', 'canonical id or uid') },
  options: { host: ON_HOST },
  examples: [
    ['svc status', 'stores, workers, and what waits and why'],
    ['svc status say-hello', 'one fiber'],
  ],
  json: z.union([z.object({ version: versionSchema, state: stateSchema }), fiberRowSchema]),
  async run(context, { fiber: id, host }) {
    const now = context.clock.now();
    const { width } = context;
    if (id !== undefined) {
      const { fiber } = await readFiber(context, id, host);
      return { json: fiber, text: wrapPage(fiberPage(fiber, now), width) };
    }
    if (host !== undefined)
      throw new CodedError('invalid_request', '--host takes a fiber; svc fleet shows the other hosts');
    const daemon = await connectDaemon(readSettings(context.env));
    const version = await daemon.get('/version', versionSchema);
    if (!version.ready)
      throw new CodedError('booting', 'the daemon is still starting; svc daemon status shows how far it is');
    const state = await daemon.get('/state', stateSchema);
    return {
      json: { version, state },
      text: wrapPage(`${presence(daemon.daemon, version, now, width)}${statePage(state, now, width)}`, width),
    };
  },
});

/** The poller's state as sections; empty sections are left out, except the workers. */
export function statePage(state: State, now: number, width = Number.POSITIVE_INFINITY): string {
  const section = sectionOf(width);
  return [
    dataDirLine(state),
    brakeLine(state, now),
    section(
      'Stores',
      storeRows(state, now),
      ['store', 'state', 'fibers', 'listed', 'error'],
      'No store is configured; name one in stores.json or SVC_STORES.',
    ),
    operatorFileErrors(state),
    documentErrors(state, section),
    leaseLines(state),
    `\nRunning${bound(state)}\n${state.running.length === 0 ? 'No worker runs.\n' : runningTable(state.running, now, width)}`,
    startsLine(state),
    section('Captures without a fiber', captureRows(state, now), [
      'session',
      'agent',
      'since',
      'state',
      'its text',
    ]),
    capturesAgain(state, width),
    section('Blocked', blockedRows(state, now), ['fiber', 'reason', 'tries', 'next try', 'what to do']),
    section('Died', deathRows(state, now), ['fiber', 'when', 'how', 'likely mend']),
    pending(state, now, section),
    section('Standing roles', standingRows(state, now), ['fiber', 'schedule', 'zone', 'next due']),
    state.incidents.length === 0 ? '' : `\nIncidents\n${incidentLines(state.incidents, now, width)}`,
    mux(state),
    skills(state),
  ].join('');
}

type Section = (
  title: string,
  rows: readonly (readonly string[])[],
  header: readonly string[],
  empty?: string,
) => string;

function sectionOf(width: number): Section {
  return (title, rows, header, empty) => {
    if (rows.length > 0) return `\n${title}\n${formatTable(header, rows, width)}`;
    return empty === undefined ? '' : `\n${title}\n${empty}\n`;
  };
}

function storeRows(state: State, now: number): string[][] {
  return state.poll_health.stores.map((store) => [
    store.store,
    store.state,
    String(store.fibers),
    store.last_ok_at === null ? 'never' : formatMoment(store.last_ok_at, now),
    store.error ?? '-',
  ]);
}

/** Whole sentences, which a column would break. */
function operatorFileErrors({ operator_file_errors }: State): string {
  if (operator_file_errors.length === 0) return '';
  const lines = operator_file_errors.map(({ error }) => `${error}\n`).join('');
  return `\nOperator files with an error, not used as they are now\n${lines}`;
}

function documentErrors({ document_errors: { count, first } }: State, section: Section): string {
  const more = count > first.length ? `and ${count - first.length} more; see svc fiber check\n` : '';
  return (
    section(
      'Documents with an error',
      first.map(({ path, error }) => [path, error]),
      ['document', 'what to mend'],
    ) + more
  );
}

function captureRows(state: State, now: number): string[][] {
  return state.captures.map((capture) => [
    capture.mux_session ?? `conversation ${capture.thread_id ?? capture.run_id}`,
    capture.agent,
    formatMoment(capture.captured_at, now),
    capture.ended_reason === null ? capture.state : `${capture.state} (${capture.ended_reason})`,
    capture.text_file ?? capture.prompt_file,
  ]);
}

/** The commands that capture each lost text again, or take it off the list. */
function capturesAgain({ captures }: State, width: number): string {
  return captures
    .flatMap(({ state, surface, agent, effort, project_dir, store, text_file, run_id }) => {
      if (state !== 'ended' || text_file === null) return [];
      const words = ['svc', 'capture', '-', '--project-dir', project_dir, '--agent', agent, '--store', store];
      if (effort !== null) words.push('--effort', effort);
      words.push('--surface', surface);
      const command = [...words.map(shellWord), '<', shellWord(text_file)];
      const again = continuedLine('To try it again:', command, width);
      return [`${again}\nOr take it off the list: svc incident dismiss ${run_id}\n`];
    })
    .join('');
}

function blockedRows(state: State, now: number): string[][] {
  return state.blocked.map((row) => [
    row.fiber_id,
    row.reason,
    String(row.attempts),
    row.retry_at === null ? 'by you' : formatMoment(row.retry_at, now),
    row.message,
  ]);
}

function deathRows(state: State, now: number): string[][] {
  return state.deaths.map((death) => [
    death.fiber_id,
    formatMoment(death.at, now),
    death.message,
    death.mend,
  ]);
}

function standingRows(state: State, now: number): string[][] {
  return state.standing_roles.map((role) => [
    role.fiber_id,
    role.schedule,
    role.tz,
    role.error ?? nextOf(role, now),
  ]);
}

function nextOf(role: State['standing_roles'][number], now: number): string {
  switch (role.state) {
    case 'armed':
      return role.next_due_at === null ? 'never' : formatMoment(role.next_due_at, now);
    case 'running':
      return 'runs now';
    case 'awaiting_review':
      return `awaits review: svc accept ${role.fiber_id}`;
    default:
      return `${role.state.replace('_', ' ')}: svc resume ${role.fiber_id}`;
  }
}

/** One line for all fibers that wait for resources of the machine. */
function startsLine({ start_gate: { hold, waiting } }: State): string {
  if (hold === null || waiting === 0) return '';
  return `\n${waiting} ${waiting === 1 ? 'fiber waits' : 'fibers wait'} for the machine: ${hold.message}\nTo go on: ${hold.mend}\n`;
}

function pending(state: State, now: number, section: Section): string {
  const rows = state.pending_launch.map((row) => [
    row.fiber_id,
    formatMoment(row.since, now),
    describeHold(row.reason, row.note === null ? null : shortened(row.note)),
    letGo(row.reason, row.fiber_id),
  ]);
  if (rows.length === 0)
    return state.boot_quarantine.active
      ? '\nSince the daemon started nothing is launched by itself; allow it with: svc daemon release\n'
      : '';
  return section('Held back', rows, ['fiber', 'since', 'reason', 'let it start with']);
}

/** `svc why` has the whole of it. */
const NOTE_WIDTH = 24;

function shortened(note: string): string {
  const letters = [...note];
  return letters.length <= NOTE_WIDTH ? note : `${letters.slice(0, NOTE_WIDTH - 1).join('')}…`;
}

function mux(state: State): string {
  const { state: answer, detail } = state.poll_health.mux;
  if (answer === 'unknown') return `\ntmux does not answer: ${detail ?? 'no detail'}; see: svc doctor\n`;
  const { kind, name } = state.poll_health.mux.owner;
  if (kind === 'absent') return '\ntmux server: absent\n';
  const mend = kind === 'daemon_born' ? '; it ends with the daemon’s service, see: svc doctor' : '';
  return `\ntmux server: ${kind}${name === null ? '' : ` (${name})`}${mend}\n`;
}

function skills(state: State): string {
  return state.skills.installed
    .filter((one) => one.state === 'skewed')
    .map(
      ({ harness }) =>
        `\nWorker skills of ${harness} are not those of this package; run: svc setup ${harness}\n`,
    )
    .join('');
}

function brakeLine({ brake }: State, now: number): string {
  if (!brake.on) return '';
  const since = brake.since === null ? '' : ` since ${formatMoment(brake.since, now)}`;
  const note = brake.note === null ? '' : ` (${brake.note})`;
  const fault = brake.fault === undefined ? '' : `But ${brake.fault}.\n`;
  return `\nThe emergency brake is on${since}${note}: nothing new is started; let it go with: svc resume-all\n${fault}`;
}

function dataDirLine({ data_dir }: State): string {
  return data_dir.fault === null ? '' : `\nNothing is started: ${data_dir.fault}.\n`;
}

/** The holders of the stores that this daemon starts nothing from. */
function leaseLines({ poll_health }: State): string {
  return poll_health.stores
    .flatMap(({ held_back }) => (held_back === null ? [] : [held_back]))
    .map(({ message, mend }) => `\nNothing is started from a store: ${message}.\nWhat to do: ${mend}.\n`)
    .join('');
}

function bound({ workers }: State): string {
  return workers.most === null ? '' : ` (${workers.count} of at most ${workers.most})`;
}
