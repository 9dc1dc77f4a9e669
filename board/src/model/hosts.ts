import { type Contact, freshness, isHeard, silenceOf } from './contact.ts';
import type { FeedCopy, HostCopy } from './feed-copy.ts';
import type { FiberRow } from './wire.ts';
import { lasting } from './wording.ts';

/** How fresh what the copy has of a host is: `none` of one that does not answer. */
export type Tick = 'fresh' | 'stale' | 'none';

/** A host as it is shown. Moments are milliseconds since the Unix epoch. */
export type HostLine = {
  host: string;
  /** The one that answers. */
  own: boolean;
  tick: Tick;
  /** When its fibers were last known to be as they are shown; null where they never were. */
  as_of: number | null;
  /** Why it does not answer, in its words or those of the host that asked it. */
  error: string | null;
  build: string | null;
};

/** How old what is shown of a fiber is, where its host is not fresh; `at` is null where it has never answered. */
export type Aged = { host: string; at: number | null };

/** How the hosts of a copy stand: the one that answers first, then by name. `heard_at` is when that one answered. */
export function hostLines(
  { host, hosts }: Pick<FeedCopy, 'host' | 'hosts'>,
  contact: Contact,
  heard_at: number | null,
): HostLine[] {
  const lines = [...hosts].map(([name, copy]) =>
    name === host
      ? {
          ...{ host: name, own: true, tick: ownTick(contact), as_of: heard_at },
          ...{ error: ownError(contact), build: copy.build },
        }
      : otherLine(name, copy, contact, heard_at),
  );
  return lines.sort((a, b) => Number(b.own) - Number(a.own) || (a.host < b.host ? -1 : 1));
}

/** How another host stands. Of one that was fresh nothing more is known since the host that answers was heard last. */
export function otherLine(
  host: string,
  { state, last_ok_at, error, build }: HostCopy,
  contact: Contact,
  heard_at: number | null,
): HostLine {
  const line = { host, own: false, error: error?.message ?? null, build };
  if (state === 'no_answer') return { ...line, tick: 'none', as_of: last_ok_at };
  if (state === 'stale') return { ...line, tick: 'stale', as_of: last_ok_at };
  return isHeard(contact)
    ? { ...line, tick: 'fresh', as_of: last_ok_at }
    : { ...line, tick: 'stale', as_of: heard_at };
}

function ownTick({ kind }: Contact): Tick {
  if (kind === 'live') return 'fresh';
  return kind === 'gone' ? 'none' : 'stale';
}

function ownError(contact: Contact): string | null {
  return contact.kind === 'refused' ? contact.message : silenceOf(contact, null);
}

/** The hosts other than the one that answers that are not fresh by what it said last, what is wrong first. */
export function notFresh(copy: Pick<FeedCopy, 'host' | 'hosts'>): HostLine[] {
  return byUrgency(hostLines(copy, { kind: 'live' }, null).filter(({ tick }) => tick !== 'fresh'));
}

const URGENCY: Readonly<Record<Tick, number>> = { none: 0, stale: 1, fresh: 2 };

/** What is wrong first. */
export function byUrgency(lines: readonly HostLine[]): HostLine[] {
  return [...lines].sort((a, b) => URGENCY[a.tick] - URGENCY[b.tick]);
}

/** What the top bar says of all hosts, of a single one how fresh it is; `name` stands out. */
export function hostsText(
  lines: readonly HostLine[],
  contact: Contact,
  now: number,
): { name: string; says: string } {
  const [own] = lines;
  if (own !== undefined && lines.length === 1)
    return { name: own.host, says: freshness(contact, own.as_of === null ? null : now - own.as_of) };
  const fresh = lines.filter(({ tick }) => tick === 'fresh').length;
  return { name: String(fresh), says: `of ${lines.length} hosts fresh` };
}

/** How old what is known of a host is, as briefly as on a chip: `38 min old`, `no answer`. */
export function agedText({ tick, as_of }: Pick<HostLine, 'tick' | 'as_of'>, now: number): string {
  return tick === 'none' || as_of === null ? 'no answer' : `${lasting(now - as_of)} old`;
}

/** How a host stands, in words. */
export function standingText({ own, tick, as_of }: HostLine, contact: Contact, now: number): string {
  const age = as_of === null ? null : now - as_of;
  if (own) return `this host, ${freshness(contact, age)}`;
  if (tick === 'fresh') return 'fresh';
  if (tick === 'none') return age === null ? 'no answer so far' : `no answer for ${lasting(age)}`;
  return age === null ? 'stale' : `stale: its last good answer is ${lasting(age)} old`;
}

/** Whether a host runs another build than the one that answers; false where either is not known. */
export function isSkewed({ build }: HostLine, lines: readonly HostLine[]): boolean {
  const own = lines.find((one) => one.own)?.build ?? null;
  return build !== null && own !== null && build !== own;
}

/** How many fibers a host has, and how many of them have a worker. */
export type HostCounts = { fibers: number; workers: number };

export function countsByHost(rows: Iterable<FiberRow>): ReadonlyMap<string, HostCounts> {
  const counts = new Map<string, HostCounts>();
  for (const { origin, runtime } of rows) {
    const known = counts.get(origin) ?? { fibers: 0, workers: 0 };
    known.fibers += 1;
    if (runtime !== undefined) known.workers += 1;
    counts.set(origin, known);
  }
  return counts;
}

export function countsText({ fibers, workers }: HostCounts): string {
  const shown = fibers === 1 ? '1 fiber' : `${fibers} fibers`;
  return workers === 0 ? shown : `${shown}, ${workers === 1 ? '1 worker' : `${workers} workers`}`;
}

/** How old what the copy has of a fiber’s host is; null where it is fresh. Of the host that answers its contact tells that. */
export function agedOf(
  { host, hosts }: Pick<FeedCopy, 'host' | 'hosts'>,
  { origin }: Pick<FiberRow, 'origin'>,
): Aged | null {
  const copy = hosts.get(origin);
  if (origin === host || copy === undefined || copy.state === 'fresh') return null;
  return { host: origin, at: copy.last_ok_at };
}
