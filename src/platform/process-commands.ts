import { readFileSync } from 'node:fs';
import type { ProcessRunner } from './process.ts';
import { descendantsIn, type ProcessFacts, type ProcessIdentity } from './process-facts.ts';

/** A process and its command line as words; empty where the kernel does not report it. */
export type ProcessCommand = ProcessIdentity & { argv: string[] };

/** The process and its descendants, nearest first; null if the kernel did not answer. */
export async function commandsFrom(
  pid: number,
  options: { facts: ProcessFacts; platform: NodeJS.Platform; runner: ProcessRunner },
): Promise<ProcessCommand[] | null> {
  const table = await options.facts.table();
  if (table === null) return null;
  const top = table.find((row) => row.pid === pid);
  if (top === undefined) return [];
  const rows = [top, ...descendantsIn(table, pid)];
  const argvOf =
    options.platform === 'linux'
      ? procCommandLine
      : await psCommandLines(
          options.runner,
          rows.map((row) => row.pid),
        );
  return rows.map((row) => ({ pid: row.pid, start_time: row.start_time, argv: argvOf(row.pid) }));
}

function procCommandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      .split('\0')
      .filter((word) => word !== '');
  } catch {
    return [];
  }
}

/** `ps` prints a command line as one string, so arguments with spaces are split. */
async function psCommandLines(
  runner: ProcessRunner,
  pids: readonly number[],
): Promise<(pid: number) => string[]> {
  const answer = await runner.run({
    file: '/bin/ps',
    args: ['-p', pids.join(','), '-o', 'pid=,command='],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    timeout_ms: 3_000,
    max_output_bytes: 4 * 1024 * 1024,
  });
  const known = answer.kind === 'exited' ? parsePsCommands(answer.stdout) : new Map<number, string[]>();
  return (pid) => known.get(pid) ?? [];
}

export function parsePsCommands(text: string): Map<number, string[]> {
  const commands = new Map<number, string[]>();
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(.+)$/.exec(line);
    if (match !== null) commands.set(Number(match[1]), match[2]!.trim().split(/\s+/));
  }
  return commands;
}
