import type { FiberRow } from '../../../contract/fiber.ts';
import type { LifeEntry } from '../../../contract/http/life.ts';
import type { Spend, Tokens } from '../../../contract/http/spend.ts';
import { nativeIdOf, parseAddress } from '../../../contract/session-address.ts';
import { formatDuration, formatTable, formatTime } from '../../command-line/output.ts';
import { deathDetails, lastScreen } from '../status/death.ts';

export type LifePage = {
  /** Whose ledgers these are. */
  host: string;
  fiber: Pick<FiberRow, 'id' | 'name' | 'status' | 'svc'>;
  entries: readonly LifeEntry[];
  /** How many older entries are left out. */
  earlier: number;
  spend: Spend | null;
};

/** A fiber's life as one page: what happened, oldest first, and what its sessions used. */
export function lifePage({ host, fiber, entries, earlier, spend }: LifePage, width?: number): string {
  const owner = fiber.svc?.host;
  const head = [`${fiber.id} (${fiber.status})  ${fiber.name.replace(/\s+/g, ' ')}`];
  if (owner !== undefined && owner !== host)
    head.push(`Its host is ${owner}; this is what ${host} recorded.`);
  if (entries.length === 0 && earlier === 0) head.push(`Nothing of it is recorded on ${host} yet.`);
  if (earlier > 0) head.push(`${earlier} earlier; show them with: -n ${entries.length + earlier}`);
  const rows = entries.map((entry) => [
    formatTime(entry.at),
    WORDS[entry.kind],
    shortId(entry.session),
    detail(entry),
  ]);
  return [
    head.map((line) => `${line}\n`).join(''),
    rows.length === 0 ? '' : `\n${formatTable(['when', 'what', 'session', 'more'], rows, width)}`,
    lastEnd(entries),
    spend === null || spend.sessions.length === 0 ? '' : `\nTokens\n${spendTable(spend, width)}`,
  ].join('');
}

const WORDS: Readonly<Record<LifeEntry['kind'], string>> = {
  dispatch: 'dispatched',
  resume: 'resumed',
  claim: 'claimed',
  capture: 'captured',
  adopt: 'adopted',
  session: 'new session',
  handoff: 'handed off',
  ended: 'ended',
  message: 'message',
  prompts: 'prompted',
  commit: 'committed',
  sent: 'sent',
  closed: 'closed',
  accepted: 'accepted',
  composted: 'composted',
};

function detail(entry: LifeEntry): string {
  switch (entry.kind) {
    case 'session':
      return entry.session ?? '';
    case 'handoff':
      return after(entry.lasted_ms);
    case 'ended':
      return `${entry.detail ?? entry.reason} ${after(entry.lasted_ms)}`;
    case 'closed':
      return '';
    case 'accepted':
    case 'composted':
      if (entry.by_itself !== undefined) return byItself(entry.by_itself.began_at);
      return entry.exact ? '' : 'at that time or before';
    case 'message': {
      const { direction, from, to, status, transport } = entry;
      const stage = transport === 'held' ? 'held' : status;
      return `${direction === 'received' ? `from ${shortAddress(from)}` : `to ${shortAddress(to)}`}: ${stage}`;
    }
    case 'prompts':
      return entry.count === 1 ? 'once' : `${entry.count} times`;
    case 'commit': {
      const { sha, subject, files, insertions, deletions } = entry;
      return `${sha.slice(0, 8)} ${subject} (${files === 1 ? '1 file' : `${files} files`}, +${insertions} -${deletions})`;
    }
    case 'sent':
      return entry.files.join(', ');
    default:
      return `${entry.agent ?? entry.harness}${entry.mux_session === null ? '' : ` in ${entry.mux_session}`}`;
  }
}

/** Why the last of these runs died, if it did; else the last screen of an agent that was left. */
function lastEnd(entries: readonly LifeEntry[]): string {
  const last = entries.findLast(({ kind }) => kind === 'ended' || kind === 'handoff');
  if (last?.kind !== 'ended') return '';
  const { at, mend, screen } = last;
  const when = formatTime(at);
  if (mend !== undefined) return `\nThe last worker died at ${when}. ${deathDetails({ mend, screen })}`;
  return screen === undefined ? '' : `\nThe last worker ended at ${when}. ${lastScreen(screen)}`;
}

function byItself(began_at: number | null): string {
  const run = began_at === null ? '' : `, after the run of ${formatTime(began_at)}`;
  return `by itself (--auto-accept)${run}`;
}

function after(lasted_ms: number | null): string {
  return lasted_ms === null ? '' : `after ${formatDuration(lasted_ms)}`;
}

/** A session by enough of its address to tell it apart; a person by name. */
function shortAddress(text: string): string {
  if (nativeIdOf(text) === null) return text;
  const { harness, native_id } = parseAddress(text);
  return `${harness} ${shortId(native_id)}`;
}

/** Enough of an id to tell the sessions of one fiber apart. */
function shortId(session: string | null): string {
  return session === null ? '-' : session.slice(0, 8);
}

function spendTable({ sessions, total, unknown }: Spend, width?: number): string {
  const rows = sessions.map(({ session, models, tokens, unknown: reason }) => [
    session,
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
  if (tokens === null) return [unknown, '', '', ''];
  return [tokens.input, tokens.cache_read, tokens.cache_write, tokens.output].map(String);
}
