import { isAdopter, type ProcessFacts } from '../platform/process-facts.ts';

/** Pids of the clients in control mode, in the answer to `sessionClients`. */
export function controlPids(lines: readonly string[]): number[] {
  return lines.flatMap((line) => /^1 (\d{1,10})$/.exec(line)?.[1] ?? []).map(Number);
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
