import { escapeForTerminal } from '../../../base/terminal-text.ts';
import { endWords } from '../../../contract/end-words.ts';
import type { FiberRow } from '../../../contract/fiber.ts';
import type { LifeEntry } from '../../../contract/http/life.ts';
import type { Spend, Tokens } from '../../../contract/http/spend.ts';
import { nativeIdOf, parseAddress } from '../../../contract/session-address.ts';
import { type Screen, tabLine } from '../../command-line/columns.ts';
import { cutEnd, wrapWords } from '../../command-line/fit-width.ts';
import { marksOf } from '../../command-line/glyphs.ts';
import {
  formatDate,
  formatDuration,
  formatMoment,
  formatTable,
  formatTimeOfDay,
} from '../../command-line/output.ts';
import { lastLine, stageWords } from '../../command-line/screen-words.ts';
import type { Span, Styled, Tone } from '../../command-line/styled-text.ts';
import { asWritten } from '../../command-line/typed-command.ts';
import { briefCount } from '../spend/spend-page.ts';
import { deathDetails, lastScreen } from '../status/death.ts';
import type { Exchange } from './exchanges.ts';

export type LifePage = {
  /** Whose ledgers these are. */
  host: string;
  fiber: Pick<FiberRow, 'id' | 'name' | 'svc'>;
  entries: readonly LifeEntry[];
  /** How many older entries are left out. */
  earlier: number;
  spend: Spend | null;
  /** What people wrote and were asked before, of those entries for which it is known. */
  exchanges: ReadonlyMap<LifeEntry, readonly Exchange[]>;
};

export type LifeOptions = Screen & {
  /** In milliseconds since the Unix epoch. */
  now: number;
  /** The session of each entry too, and the tokens of each session. */
  verbose: boolean;
  /** The command that shows this page. */
  command: string;
};

/** A fiber's life as one page: what happened, oldest first, below its days, and what its sessions used. */
export function lifePage(page: LifePage, options: LifeOptions): Styled {
  const { host, fiber, entries, earlier, spend } = page;
  const { now, width, verbose, command } = options;
  const owner = fiber.svc?.host;
  const notes: string[] = [];
  if (owner !== undefined && owner !== host)
    notes.push(`Its host is ${owner}; this is what ${host} recorded.`);
  if (entries.length === 0 && earlier === 0) notes.push(`Nothing of it is recorded on ${host} yet.`);
  if (earlier > 0)
    notes.push(`${earlier} earlier; show them with: ${command} -n ${entries.length + earlier}`);
  const last = lastEnd(entries);
  const rows = entries
    .flatMap((entry): Row[] => {
      const session = verbose ? shortId(entry.session) : null;
      const row = { ...tellingOf(entry), session, order: entry.at };
      // The screen of the last end is shown below.
      const words = wordsOf(entry, now, entry !== last);
      const exchanges = page.exchanges.get(entry) ?? [{ at: entry.at, text: null, asked: null }];
      return exchanges.flatMap(({ at, text, asked }) => [
        ...(asked === null
          ? []
          : [
              {
                ...{ ...ASKED, session, at: asked.at, order: Math.min(asked.at, entry.at) },
                words: briefly(asked.text, options),
              },
            ]),
        { ...row, at, words: `${text === null ? words : briefly(text, options)}${waited(at, asked)}` },
      ]);
    })
    .toSorted((a, b) => a.order - b.order);
  const piped = width === Number.POSITIVE_INFINITY;
  return [
    ...headOf(fiber, options),
    ...notes.map((line) => `${line}\n`),
    ...(piped ? rows.map((row) => tabbed(row, now)) : dayLines(rows, options)),
    last === undefined ? '' : endPage(last, now),
    spend === null || spend.sessions.length === 0 ? '' : tokensPage(spend, width, verbose),
  ];
}

/** Columns of what one prompt takes of a page: it may be a whole document, which `svc transcript` shows. */
const MOST_TYPED = 240;

function briefly(text: string, { width, unicode }: LifeOptions): string {
  const line = asWritten(text.replace(/\s+/g, ' ').trim());
  return width === Number.POSITIVE_INFINITY ? line : cutEnd(line, MOST_TYPED, marksOf(unicode).cut);
}

const ASKED = { what: 'asked', tone: 'machine' } as const;

/** How long an agent waited for an answer, from a minute on. */
function waited(at: number, asked: Exchange['asked']): string {
  return asked === null || at - asked.at < 60_000 ? '' : ` (waited ${formatDuration(at - asked.at)})`;
}

type Telling = { what: string; tone?: Tone };
/**
 * `order`: where it stands among the others. It is the time of its entry, of which several of one minute have their own
 * order, or that of a question, which may be older than what another session did meanwhile.
 */
type Row = Telling & { at: number; order: number; session: string | null; words: string };

function headOf({ id, name }: LifePage['fiber'], { width, unicode }: LifeOptions): Span[] {
  const title = asWritten(name.replace(/\s+/g, ' ').trim());
  if (width === Number.POSITIVE_INFINITY) return [tabLine([id, title])];
  return [{ tone: 'heading', text: `${id}${marksOf(unicode).between}${title}` }, '\n'];
}

function tabbed({ at, what, session, words }: Row, now: number): string {
  const when = `${formatDate(at, now)} ${formatTimeOfDay(at)}`;
  return tabLine([when, what, ...(session === null ? [] : [session]), words]);
}

const INDENT = '  ';
const GAP = '  ';

/** Each day as a heading with its entries below. */
function dayLines(rows: readonly Row[], { now, width }: LifeOptions): Span[] {
  const columns = Math.max(0, ...rows.map(({ what }) => what.length));
  const spans: Span[] = [];
  let shown = '';
  for (const { at, what, tone, session, words } of rows) {
    const day = formatDate(at, now);
    if (day !== shown) spans.push({ tone: 'heading', text: day }, '\n');
    shown = day;
    const time = formatTimeOfDay(at);
    const id = session === null ? '' : `${session.padEnd(SHORT)}${GAP}`;
    const lead = INDENT.length + time.length + GAP.length + columns + GAP.length + id.length;
    const told = escapeForTerminal(words.replace(/\s+/g, ' ').trim());
    const [first = '', ...rest] = wrapWords(told, width - lead);
    const label = first === '' && id === '' ? what : what.padEnd(columns);
    spans.push(INDENT, { tone: 'dim', text: time }, GAP, tone === undefined ? label : { tone, text: label });
    spans.push(`${first === '' && id === '' ? '' : `${GAP}${id}${first}`}`.trimEnd(), '\n');
    spans.push(...rest.map((line) => `${' '.repeat(lead)}${line}\n`));
  }
  return spans;
}

const WORDS: Readonly<Record<LifeEntry['kind'], string>> = {
  dispatch: 'started',
  resume: 'resumed',
  claim: 'claimed',
  capture: 'captured',
  adopt: 'adopted',
  session: 'went on',
  handoff: 'handed off',
  ended: 'ended',
  message: 'message',
  prompts: 'you',
  commit: 'commit',
  sent: 'sent',
  closed: 'closed',
  reopened: 'reopened',
  accepted: 'accepted',
  composted: 'set aside',
};

const TONES: Readonly<Partial<Record<LifeEntry['kind'], Tone>>> = {
  dispatch: 'machine',
  resume: 'machine',
  prompts: 'you',
};

function tellingOf(entry: LifeEntry): Telling {
  if (entry.kind === 'ended' && entry.mend !== undefined) return { what: 'died', tone: 'fault' };
  const tone = TONES[entry.kind];
  return { what: WORDS[entry.kind], ...(tone === undefined ? {} : { tone }) };
}

/** What is told of an entry beside its kind; `with_screen`: also what the screen of a dead worker said last. */
function wordsOf(entry: LifeEntry, now: number, with_screen: boolean): string {
  switch (entry.kind) {
    case 'dispatch':
      return joined(agentOf(entry), 'fresh', byWhom(entry));
    case 'resume':
      return joined(agentOf(entry), byWhom(entry));
    case 'session':
      return 'in a new conversation';
    case 'handoff':
      return after(entry.lasted_ms);
    case 'ended': {
      const said = with_screen && entry.mend !== undefined ? lastLine(entry.screen) : null;
      const how = entry.detail ?? endWords(entry.reason);
      return joined(said === null ? how : `${how}, "${asWritten(said)}"`, after(entry.lasted_ms));
    }
    case 'closed':
    case 'reopened':
      return changerOf(entry);
    case 'accepted':
    case 'composted':
      if (entry.by_itself !== undefined) return byItself(entry.by_itself.began_at, now);
      return entry.exact ? changerOf(entry) : 'at that time or before';
    case 'message':
      return messageWords(entry);
    case 'prompts':
      return entry.count === 1 ? 'wrote to it' : `wrote to it ${entry.count} times`;
    case 'commit': {
      const { sha, subject, files, insertions, deletions } = entry;
      return `${sha.slice(0, SHORT)} ${asWritten(subject)} (${files === 1 ? '1 file' : `${files} files`}, +${insertions} -${deletions})`;
    }
    case 'sent':
      return entry.files.join(', ');
    default:
      return agentOf(entry);
  }
}

type Change = Extract<LifeEntry, { kind: 'closed' | 'reopened' | 'accepted' | 'composted' }>;
const CHANGERS: Readonly<Record<Exclude<NonNullable<Change['by']>, 'agent'>, string>> = {
  cli: 'by you',
  board: 'by you, on the board',
  http: 'over HTTP',
  daemon: 'by the daemon',
  document: 'in its document',
};

/** Who changed the document; empty where the daemon did not see it happen. */
function changerOf({ by, from, agent }: Change): string {
  if (by === undefined) return '';
  const who = by === 'agent' ? `by ${agent ?? 'an agent'}` : CHANGERS[by];
  return from === undefined ? who : `${who}, from ${from}`;
}

function byWhom({ by_request }: { by_request?: boolean | undefined }): string {
  return by_request === undefined ? '' : by_request ? 'by you' : 'by the daemon';
}

function agentOf({ agent, harness }: { agent: string | null; harness: string }): string {
  return agent ?? harness;
}

type Message = Extract<LifeEntry, { kind: 'message' }>;

function messageWords(message: Message): string {
  const { direction, from, to } = message;
  const other = direction === 'received' ? `from ${partnerOf(from)}` : `to ${partnerOf(to)}`;
  return `${other}: ${stageWords(message)}`;
}

/** Who wrote or was written to: a person by name, a worker by its program and host. */
function partnerOf(text: string): string {
  if (nativeIdOf(text) === null) return text;
  const { harness, host } = parseAddress(text);
  return `a ${harness} session on ${host}`;
}

/** What begins a run. */
const BEGINNINGS: ReadonlySet<LifeEntry['kind']> = new Set([
  'dispatch',
  'resume',
  'claim',
  'capture',
  'adopt',
]);

/** The end of the last of these runs that is over, where it did not hand off and there is more to tell of it. */
function lastEnd(entries: readonly LifeEntry[]): Ended | undefined {
  const nth = entries.findLastIndex(({ kind }) => kind === 'ended' || kind === 'handoff');
  const last = entries[nth];
  if (last?.kind !== 'ended') return undefined;
  // The loss of a server or a machine is no fault of the fiber, and over once its next worker runs.
  const is_loss = last.reason === 'server_lost' || last.reason === 'reboot';
  if (is_loss && entries.slice(nth).some(({ kind }) => BEGINNINGS.has(kind))) return undefined;
  return last.mend === undefined && last.screen === undefined ? undefined : last;
}

type Ended = Extract<LifeEntry, { kind: 'ended' }>;

function endPage({ at, mend, screen }: Ended, now: number): string {
  const when = formatMoment(at, now);
  if (mend !== undefined) return `\nThe last worker died ${when}. ${deathDetails({ mend, screen })}`;
  return `\nThe last worker ended ${when}. ${lastScreen(screen ?? '')}`;
}

function byItself(began_at: number | null, now: number): string {
  const run =
    began_at === null ? '' : `, after the run of ${formatDate(began_at, now)} ${formatTimeOfDay(began_at)}`;
  return `by itself (--auto-accept)${run}`;
}

function after(lasted_ms: number | null): string {
  return lasted_ms === null ? '' : `after ${formatDuration(lasted_ms)}`;
}

function joined(...parts: string[]): string {
  return parts.filter((part) => part !== '').join(', ');
}

const SHORT = 8;

/** Enough of an id to tell the sessions of one fiber apart. */
function shortId(session: string | null): string {
  return session === null ? '-' : session.slice(0, SHORT);
}

function tokensPage(spend: Spend, width: number, verbose: boolean): string {
  return verbose ? `\nTokens\n${spendTable(spend, width)}` : `\n${spendLine(spend)}`;
}

/** What all sessions used; those that nobody counted are no part of it. */
function spendLine({ total, unknown }: Spend): string {
  if (total === null) return 'Tokens: unknown.\n';
  const [input, read, written, output] = counts(total).map(briefCount);
  const rest = unknown === 0 ? '' : unknown === 1 ? '; 1 session unknown' : `; ${unknown} sessions unknown`;
  return `Tokens: ${input} in, ${read} from cache, ${written} to cache, ${output} out${rest}.\n`;
}

function spendTable({ sessions, total, unknown }: Spend, width: number): string {
  const rows = sessions.map(({ session, models, tokens, unknown: reason }) => [
    shortId(session),
    models.join(', ') || '-',
    ...cells(tokens, `unknown (${UNKNOWN[reason ?? 'no_counts']})`),
  ]);
  const without = unknown === 0 ? '' : `, without ${unknown} unknown`;
  const sum = [`in all${without}`, '', ...cells(total, 'unknown')];
  const header = ['session', 'model', 'input', 'from cache', 'to cache', 'output'];
  return formatTable(header, [...rows, sum], width);
}

const UNKNOWN: Readonly<Record<NonNullable<Spend['sessions'][number]['unknown']>, string>> = {
  transcript_missing: 'no transcript here',
  no_counts: 'its transcript has no counts',
  unreadable: 'its transcript cannot be read',
};

function cells(tokens: Tokens | null, unknown: string): string[] {
  return tokens === null ? [unknown, '', '', ''] : counts(tokens).map(String);
}

function counts({ input, cache_read, cache_write, output }: Tokens): number[] {
  return [input, cache_read, cache_write, output];
}
