import { shellWord } from '../../../base/shell-word.ts';
import { endWords } from '../../../contract/end-words.ts';
import type { State } from '../../../contract/http/state.ts';
import { continuedLine } from '../../command-line/fit-width.ts';
import { formatMoment, formatTable } from '../../command-line/output.ts';
import { muxOwnerWords } from '../../command-line/screen-words.ts';
import { incidentLines } from '../incident.ts';

/** What the daemon keeps of its own as sections; empty ones are left out, except the stores. */
export function internalsPage(state: State, now: number, width: number): string {
  const section = sectionOf(width);
  return [
    dataDirLine(state),
    section(
      'Stores',
      storeRows(state, now),
      ['store', 'state', 'fibers', 'listed', 'error'],
      'No store is watched; make one with: svc fiber init ~/fibers',
    ),
    leaseLines(state),
    operatorFileErrors(state),
    documentErrors(state, section),
    startsLine(state),
    section('Captures without a fiber', captureRows(state, now), [
      'session',
      'agent',
      'since',
      'state',
      'its text',
    ]),
    capturesAgain(state, width),
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
      ['document', 'what to fix'],
    ) + more
  );
}

function captureRows(state: State, now: number): string[][] {
  return state.captures.map((capture) => [
    capture.mux_session ?? `conversation ${capture.thread_id ?? capture.run_id}`,
    capture.agent,
    formatMoment(capture.captured_at, now),
    capture.ended_reason === null ? capture.state : `${capture.state} (${endWords(capture.ended_reason)})`,
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

/** One line for all fibers that wait for resources of the machine. */
function startsLine({ start_gate: { hold, waiting } }: State): string {
  if (hold === null || waiting === 0) return '';
  return `\n${waiting} ${waiting === 1 ? 'fiber waits' : 'fibers wait'} for the machine: ${hold.message}\nTo go on: ${hold.mend}\n`;
}

function mux(state: State): string {
  const { state: answer, detail } = state.poll_health.mux;
  if (answer === 'unknown') return `\ntmux does not answer: ${detail ?? 'no detail'}; see: svc doctor\n`;
  const { owner } = state.poll_health.mux;
  const mend = owner.kind === 'daemon_born' ? ' and ends with its service, see: svc doctor' : '';
  return `\ntmux ${muxOwnerWords(owner)}${mend}\n`;
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
