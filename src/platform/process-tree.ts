import { type Clock, sleep } from '../base/clock.ts';
import { systemCode } from '../base/errors.ts';
import {
  descendantsIn,
  isRealPid,
  judgeLife,
  type ProcessFacts,
  type ProcessIdentity,
  type ProcessRow,
} from './process-facts.ts';

export type EndedTree = {
  /** Whether the whole tree has ended; `unknown` if the kernel did not answer. */
  kind: 'ended' | 'survived' | 'unknown';
  /** Processes that still run, or may. */
  survivors: ProcessIdentity[];
};

/** How long to wait for the end of SIGKILLed processes, in milliseconds. */
const KILL_WAIT_MS = 2_000;
const LOOK_EVERY_MS = 15;

/**
 * The processes that belong to `root`: itself, its descendants and, if it leads a session, everything in that session.
 * (An orphan becomes a child of init, but keeps its session.)
 */
export function treeOf(table: readonly ProcessRow[], root: ProcessIdentity): ProcessRow[] {
  const top = table.find((row) => row.pid === root.pid);
  if (top === undefined || top.start_time !== root.start_time) return [];
  const members = new Map<number, ProcessRow>([[top.pid, top]]);
  for (const row of descendantsIn(table, top.pid)) members.set(row.pid, row);
  if (top.session === top.pid) {
    for (const row of table) if (row.session === top.pid) members.set(row.pid, row);
  }
  return [...members.values()].filter((row) => isRealPid(row.pid) && row.pid !== process.pid);
}

/**
 * Ends a process and everything that belongs to it: SIGHUP and SIGTERM, then SIGKILL after `grace_ms`. Each signal goes
 * to a pid only while its start time is unchanged, and never to a pid of 1 or less. Idempotent: a root that is already
 * gone gives `ended` (its orphans are then unknown).
 */
export async function endProcessTree(
  root: ProcessIdentity,
  options: { grace_ms: number; facts: ProcessFacts; clock: Clock },
): Promise<EndedTree> {
  const { facts, clock } = options;
  if (!isRealPid(root.pid)) return { kind: 'ended', survivors: [] };
  const table = await facts.table();
  if (table === null) return { kind: 'unknown', survivors: [root] };

  let members: ProcessIdentity[] = treeOf(table, root);
  for (const member of members) await signal(facts, member, ['SIGHUP', 'SIGTERM']);
  members = await waitUntilGone(members, options.grace_ms, facts, clock);

  if (members.length > 0) {
    // A process started meanwhile is a descendant of a live member, or does not belong to the tree.
    const now = await facts.table();
    if (now !== null) members = withNewcomers(now, members);
    for (const member of members) await signal(facts, member, ['SIGKILL']);
    members = await waitUntilGone(members, KILL_WAIT_MS, facts, clock);
  }
  return { kind: members.length === 0 ? 'ended' : 'survived', survivors: members };
}

function withNewcomers(table: readonly ProcessRow[], members: readonly ProcessIdentity[]): ProcessIdentity[] {
  const all = new Map<number, ProcessIdentity>(members.map((member) => [member.pid, member]));
  for (const member of members) {
    for (const row of treeOf(table, member)) if (!all.has(row.pid)) all.set(row.pid, row);
  }
  return [...all.values()];
}

async function waitUntilGone(
  members: readonly ProcessIdentity[],
  most_ms: number,
  facts: ProcessFacts,
  clock: Clock,
): Promise<ProcessIdentity[]> {
  const end = clock.monotonic() + most_ms;
  for (;;) {
    const left: ProcessIdentity[] = [];
    for (const member of members) {
      if (judgeLife(member, await facts.lookUp(member.pid)) !== 'gone') left.push(member);
    }
    if (left.length === 0 || clock.monotonic() >= end) return left;
    await sleep(clock, Math.min(LOOK_EVERY_MS, Math.max(1, end - clock.monotonic())));
  }
}

async function signal(
  facts: ProcessFacts,
  member: ProcessIdentity,
  names: readonly NodeJS.Signals[],
): Promise<void> {
  for (const name of names) {
    if (!isRealPid(member.pid)) return;
    if (judgeLife(member, await facts.lookUp(member.pid)) !== 'alive') return;
    try {
      process.kill(member.pid, name);
    } catch (error) {
      if (systemCode(error) === 'ESRCH') return;
      if (systemCode(error) !== 'EPERM') throw error;
    }
  }
}
