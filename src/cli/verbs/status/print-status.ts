import {
  type Cell,
  type ColumnRow,
  formatColumns,
  type Screen,
  tabLine,
} from '../../command-line/columns.ts';
import { cutEnd, lengthOf } from '../../command-line/fit-width.ts';
import { type Glyph, glyphOf, marksOf } from '../../command-line/glyphs.ts';
import { formatAge, formatClock, formatDuration } from '../../command-line/output.ts';
import { sharedWith, sharedWithSome } from '../../command-line/screen-words.ts';
import type { Span, Styled } from '../../command-line/styled-text.ts';
import { asWritten } from '../../command-line/typed-command.ts';
import { contextText } from './context-text.ts';
import type { StatusLine, StatusPage, StatusWorker } from './status-page.ts';

/** How many lines of a group are shown without `--all`. */
export const LINES_SHOWN = 8;
const NEXT_SHOWN = 3;

export type PrintOptions = Screen & {
  now: number;
  all: boolean;
  svc: string;
  /** How many commits the worker of a fiber made, or all its sessions where that awaits review; absent where unknown. */
  commits?: ReadonlyMap<string, number>;
};

/** The page for a terminal; for a file or a pipe a line for each thing, its group first. */
export function printStatus(page: StatusPage, options: PrintOptions): Styled {
  if (options.width === Number.POSITIVE_INFINITY) return [tabLines(page, options)];
  const { needs_you, review, working, starting, faults, cannot_start } = page;
  const { now, unicode } = options;
  const count = fibersIn(needs_you);
  const at_work = working.filter(({ state }) => state !== 'starting');
  const coming = [...working.flatMap((one) => (one.state === 'starting' ? [one.fiber_id] : [])), ...starting];
  const needs =
    count === 0
      ? quietLine(page, options.svc)
      : group(
          'needs_you',
          count === 1 ? '1 needs you' : `${count} need you`,
          needs_you.map((one) => ({ ...row(quoted(one), now), aside: sharedBeside(one, options) })),
          options,
        );
  const to_review = group(
    'review',
    `${review.length} to review`,
    review.map((one, at) => row(withCommits(quoted(one), options), now, at === 0)),
    options,
  );
  const groups: Styled[] = [
    [...needs, ...to_review],
    group(
      'working',
      `${at_work.length} working${limitOf(page)}`,
      at_work.map((one) => workerRow(one, options)),
      options,
    ),
    coming.length === 0
      ? []
      : [glyphOf('starting', unicode), ` ${coming.length} starting: ${listed(coming, options)}\n`],
    group(
      'stopped',
      faults.length === 1
        ? '1 thing keeps work from starting'
        : `${faults.length} things keep work from starting`,
      faults.map((one) => row(one, now)),
      options,
    ),
    group(
      'stopped',
      `${fibersIn(cannot_start)} cannot start`,
      cannot_start.map((one) => row(one, now)),
      options,
    ),
  ];
  const parts = groups.filter((part) => part.length > 0);
  const closing: Span[] = [nextLine(page, options), { tone: 'dim', text: hostLine(page, options) }, '\n'];
  return [...parts.flatMap((part) => [...part, '\n']), ...closing];
}

function group(glyph: Glyph, title: string, rows: readonly ColumnRow[], options: PrintOptions): Styled {
  if (rows.length === 0) return [];
  const shown = options.all ? rows : rows.slice(0, LINES_SHOWN);
  const more = rows.length - shown.length;
  return [
    glyphOf(glyph, options.unicode),
    { tone: 'heading', text: ` ${title}` },
    '\n',
    ...formatColumns(shown, options),
    ...(more === 0 ? [] : [`  and ${more} more: ${options.svc} status --all\n`]),
  ];
}

function row({ what, words, since, commands }: StatusLine, now: number, with_commands = true): ColumnRow {
  const cells: Cell[] = [
    { text: what },
    { text: words, cut: 'end' },
    { text: since === null ? '' : formatAge(since, now), tone: 'dim' },
  ];
  return { cells, below: with_commands ? commands : [] };
}

/** Said on a line of its own, where the words beside the fiber may lose their end. */
function sharedBeside({ shares_folder_with = [] }: StatusLine, { width }: PrintOptions): string | undefined {
  if (shares_folder_with.length === 0) return undefined;
  const whole = sharedWith(shares_folder_with);
  return lengthOf(whole) <= width / 2 ? whole : sharedWithSome(shares_folder_with);
}

/** What an agent says or has done is in its own words. */
function quoted(line: StatusLine): StatusLine {
  return { ...line, words: asWritten(line.words) };
}

function withCommits(line: StatusLine, { commits }: PrintOptions): StatusLine {
  const words = commitWords(commits?.get(line.what));
  if (words === '') return line;
  return { ...line, words: line.words === '' ? words : `${words}: ${line.words}` };
}

function commitWords(count = 0): string {
  return count === 0 ? '' : count === 1 ? '1 commit' : `${count} commits`;
}

function workerRow(worker: StatusWorker, options: PrintOptions): ColumnRow {
  const { now } = options;
  const { fiber_id, agent, started_at } = worker;
  return {
    cells: [
      { text: fiber_id },
      { text: agent },
      { text: formatDuration(now - started_at), tone: 'dim' },
      {
        ...told(worker, workerWords(worker, options, sharedWith)),
        short: told(worker, workerWords(worker, options, sharedWithSome)).text,
        cut: 'end',
      },
    ],
  };
}

/** What it committed, how full its context is, and what it does where it does not work. */
function workerWords(worker: StatusWorker, { now, commits }: PrintOptions, shared: Shared): string {
  const { fiber_id, state, since, context } = worker;
  const words: string[] = [];
  if (state === 'unknown') words.push('not known what it does');
  if (state === 'idle') words.push(since === null ? 'idle' : `idle ${formatDuration(now - since)}`);
  const committed = commitWords(commits?.get(fiber_id));
  if (committed !== '') words.push(committed);
  if (context !== null) words.push(`context ${contextText(context)}`);
  words.push(...asideWords(worker, shared));
  return words.join(', ');
}

/** What is told of a worker, then what it said last; in fewer than `whole` columns more than that would lose its end. */
function told({ said }: StatusWorker, words: string): { text: string; whole: number } {
  if (said === null) return { text: words, whole: lengthOf(words) };
  return { text: `${words}: ${asWritten(said)}`, whole: lengthOf(words) + 2 };
}

type Shared = (others: readonly string[]) => string;

/** What a person may want to know of a worker beside what it does. */
function asideWords({ died, shares_folder_with, judged, capture }: StatusWorker, shared: Shared): string[] {
  return [
    ...(capture === undefined ? [] : ['a capture, no fiber yet']),
    ...(judged === null ? [] : [`${judged}, still runs`]),
    ...(died === null ? [] : [`the one before died: ${died}`]),
    ...(shares_folder_with.length === 0 ? [] : [shared(shares_folder_with)]),
  ];
}

function limitOf({ workers }: StatusPage): string {
  return workers.most === null ? '' : `, ${workers.count - workers.resting} of ${workers.most} places taken`;
}

/** What there is nothing of. A review, a fault and a fiber that cannot start ask for a person, too. */
function quietLine(
  { working, review, starting, faults, cannot_start, next, drafts }: StatusPage,
  svc: string,
): string[] {
  const isEmpty = (group: readonly unknown[]) => group.length === 0;
  const asks_nothing = [review, faults, cannot_start].every(isEmpty);
  const words = [
    ...(asks_nothing ? ['Nothing needs you.'] : []),
    ...(isEmpty(working) ? ['Nothing is running.'] : []),
    ...(asks_nothing && [working, starting, next].every(isEmpty)
      ? [`${drafts === 1 ? '1 draft' : `${drafts} drafts`} (${svc} fiber ls).`]
      : []),
  ];
  return isEmpty(words) ? [] : [`${words.join(' ')}\n`];
}

function nextLine({ next }: StatusPage, options: PrintOptions): string {
  if (next.length === 0) return '';
  const { cut, between } = marksOf(options.unicode);
  const shown = options.all ? next : next.slice(0, NEXT_SHOWN);
  const words = shown.map(({ fiber_id, at }) => `${fiber_id} ${formatClock(at, options.now)}`);
  if (next.length > shown.length) words.push(`${next.length - shown.length} more`);
  const line = `next  ${words.join(between)}`;
  return `${options.all ? line : cutEnd(line, options.width, cut)}\n`;
}

function hostLine({ host, booted_at, hosts, stale_hosts }: StatusPage, options: PrintOptions): string {
  const { now, unicode, width } = options;
  const { cut, between } = marksOf(unicode);
  const up = `${host}, up ${formatDuration(now - booted_at)}`;
  if (hosts === 1) return cutEnd(up, width, cut);
  const stale = stale_hosts.map(({ name, last_ok_at }) =>
    last_ok_at === null ? `${name}, no answer` : `${name}, ${formatDuration(now - last_ok_at)}`,
  );
  const others = stale.length === 0 ? '' : `, ${stale.length} stale (${stale.join('; ')})`;
  return cutEnd(`${up}${between}${hosts} hosts${others}`, width, cut);
}

function listed(ids: readonly string[], { all, width }: PrintOptions): string {
  if (all || ids.join(', ').length < width / 2) return ids.join(', ');
  return `${ids[0]} and ${ids.length - 1} more`;
}

function fibersIn(lines: readonly StatusLine[]): number {
  return lines.reduce((count, { fibers }) => count + Math.max(1, fibers.length), 0);
}

function tabLines(page: StatusPage, { now }: PrintOptions): string {
  const of = (name: string, lines: readonly StatusLine[]) =>
    lines.map(({ what, fibers, words, since, commands, shares_folder_with = [] }) =>
      tabLine([
        name,
        fibers.length > 1 ? fibers.join(', ') : what,
        words,
        since === null ? '' : formatAge(since, now),
        ...commands,
        ...(shares_folder_with.length === 0 ? [] : [sharedWith(shares_folder_with)]),
      ]),
    );
  return [
    ...of('needs you', page.needs_you.map(quoted)),
    ...of('to review', page.review.map(quoted)),
    ...page.working.map((worker) => {
      const { fiber_id, agent, started_at, state, said, context } = worker;
      const ran = formatDuration(now - started_at);
      return tabLine([
        state,
        fiber_id,
        agent,
        ran,
        contextText(context),
        asWritten(said ?? ''),
        ...asideWords(worker, sharedWith),
      ]);
    }),
    ...page.starting.map((id) => tabLine(['starting', id])),
    ...of('fault', page.faults),
    ...of('cannot start', page.cannot_start),
    ...page.next.map(({ fiber_id, at }) => tabLine(['next', fiber_id, formatClock(at, now)])),
    tabLine([
      'host',
      page.host,
      `up ${formatDuration(now - page.booted_at)}`,
      page.hosts === 1 ? '1 host' : `${page.hosts} hosts`,
      ...page.stale_hosts.map(({ name }) => `stale: ${name}`),
    ]),
  ].join('');
}
