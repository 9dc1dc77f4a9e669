import { isAdopter, type ProcessFacts } from '../platform/process-facts.ts';

/** What a daemon attaches its control client with. A person’s client takes output, or has no use. */
export const CONTROL_FLAGS = ['no-output', 'ignore-size'];

/** Pids of the control clients of daemons, in the answer to `listClients`. */
export function daemonClientPids(lines: readonly string[]): number[] {
  return lines.flatMap((line) => {
    const [, pid, flags = ''] = /^(\d{1,10}) (.*)$/.exec(line) ?? [];
    const has = new Set(flags.split(','));
    return pid !== undefined && ['control-mode', ...CONTROL_FLAGS].every((flag) => has.has(flag))
      ? [Number(pid)]
      : [];
  });
}

/**
 * Ends the control clients of daemons that were killed. tmux (seen with 3.3a) keeps such a client for good if an answer to
 * it was under way, since nobody reads that any more, and a server with a client never ends.
 */
export async function endOrphans(
  pids: readonly number[],
  facts: Pick<ProcessFacts, 'lookUp'>,
  end: (pid: number) => void,
): Promise<void> {
  for (const pid of pids) {
    const found = await facts.lookUp(pid);
    if (found.kind === 'found' && isAdopter(found.row.parent)) end(pid);
  }
}
