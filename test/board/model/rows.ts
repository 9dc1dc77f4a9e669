import { type FeedCopy, keyOf } from '../../../board/src/model/feed-copy.ts';
import type { FiberRow, FibersComposite, FibersDelta, FibersWhole } from '../../../board/src/model/wire.ts';

/** A draft of host-a, with what a test says of it. */
export function row(of: Partial<FiberRow> = {}): FiberRow {
  const id = of.id ?? 'one';
  return {
    id,
    uid: null,
    leaf: id,
    store: '/store',
    path: `/store/.fibers/${id}/${id}.md`,
    name: `Name of ${id}`,
    status: 'open',
    tags: [],
    // Another document has another digest.
    digest: `of ${of.name}`,
    origin: 'host-a',
    ...of,
  };
}

/** A worker that works. */
export function live(of: Partial<NonNullable<FiberRow['runtime']>> = {}): NonNullable<FiberRow['runtime']> {
  return {
    mux_session: 'one-svc',
    surface: 'cli',
    agent: 'atlas',
    harness: 'claude',
    session_uuid: null,
    state: 'running',
    phase: 'working',
    phase_since: 1,
    phase_source: 'hook',
    said: null,
    run_id: 'run',
    started_at: 1,
    last_activity_at: null,
    ...of,
  };
}

/** What a row has that may be started. */
export const armed: Partial<FiberRow> = { status: 'active', svc: { agent: 'atlas' } };
/** A refusal that another folder fixes. */
export const blocked = {
  reason: 'project_dir_missing',
  message: 'no folder',
  attempts: 1,
  first_attempted_at: 1,
  attempted_at: 1,
  retry_at: null,
};

const STANDING = { state: 'fresh', last_ok_at: null, error: null, build: 'abc1234' } as const;

/** How the feed of host-a is answered that is whole. */
export function whole(
  fibers: readonly FiberRow[],
  of: Partial<FibersWhole & { of: number }> = {},
): FibersComposite {
  const read: FibersWhole = {
    host: 'host-a',
    state: 'fresh',
    generated_at: 1,
    tag: 't-1',
    whole: true,
    fibers: fibers.map(told),
    ...of,
  };
  return compositeOf({ [read.host]: read }, read.tag);
}

/** What changed in the feed of host-a. */
export function delta(rows: readonly FiberRow[], removed: string[], tag = 't-2'): FibersDelta {
  return { host: 'host-a', state: 'fresh', generated_at: 2, tag, rows: rows.map(told), removed };
}

/** The reads of hosts, of which host-a answers; null of one that does not. */
export function compositeOf(
  reads: Readonly<Record<string, FibersWhole | FibersDelta | null>>,
  tag: string | null,
): FibersComposite {
  const origins = Object.entries(reads).map(([host, read]) => [
    host,
    read === null
      ? { ...STANDING, state: 'no_answer', error: { code: 'no_answer', message: `${host} is down.` }, read }
      : { ...STANDING, read },
  ]);
  return { host: Object.keys(reads)[0] ?? 'host-a', tag, origins: Object.fromEntries(origins) };
}

/** As a daemon tells it: without its host. */
function told({ origin: _, ...of }: FiberRow): Omit<FiberRow, 'origin'> {
  return of;
}

/** A copy of these very rows, of host-a. */
export function copyOf(rows: readonly FiberRow[]): FeedCopy {
  return {
    host: 'host-a',
    state: 'fresh',
    tag: 't-1',
    rows: new Map(rows.map((one) => [keyOf(one), one])),
    hosts: new Map([['host-a', { ...STANDING, feed: 'fresh', tag: 't-1' }]]),
  };
}
