import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, systemCode } from '../../../base/errors.ts';
import { readProcessStart } from '../../../platform/file-lock.ts';
import { createRunner } from '../../../platform/process.ts';
import { createProcessFacts } from '../../../platform/process-facts.ts';
import { treeOf } from '../../../platform/process-tree.ts';
import { READ_LIMITS } from '../../../platform/read-limits.ts';
import { readRegularTextSync } from '../../../platform/regular-file.ts';

/** Milliseconds that the agent has to end after SIGHUP, and then after SIGTERM. */
export type EndPatience = { hangUpMs: number; terminateMs: number };

const LOOK_EVERY_MS = 20;

/**
 * Ends the agent process that `<run dir>/agent.pid` (`{"pid", "start_time"}`) names, and the commands below it. The
 * commands are signalled first; the agent gets SIGHUP, SIGTERM, then SIGKILL, each only while its start time is
 * unchanged. Returns `ended`, or a sentence that says why nothing was signalled. This process runs below the agent, so
 * it ignores the signals of its terminal and shell.
 */
export async function endSession(runDir: string, patience: EndPatience): Promise<string> {
  const agent = readAgent(join(runDir, 'agent.pid'));
  if (typeof agent === 'string') return agent;
  const ignore = () => {};
  for (const signal of IGNORED) process.on(signal, ignore);
  try {
    const commands = await commandsOf(agent);
    for (const command of commands) send(command, 'SIGTERM');
    for (const [signal, wait] of [
      ['SIGHUP', patience.hangUpMs],
      ['SIGTERM', patience.terminateMs],
      ['SIGKILL', patience.terminateMs],
    ] as const) {
      if (!isSame(agent)) break;
      const refused = send(agent, signal);
      if (refused !== null) return refused;
      for (let waited = 0; waited < wait && isSame(agent); waited += LOOK_EVERY_MS)
        await delay(LOOK_EVERY_MS);
    }
    for (const command of commands) send(command, 'SIGKILL');
    return isSame(agent) ? `process ${agent.pid} is still there after SIGKILL` : 'ended';
  } finally {
    for (const signal of IGNORED) process.off(signal, ignore);
  }
}

const IGNORED = ['SIGHUP', 'SIGTERM'] as const;

/** The processes below the agent, without this process and its ancestors, which end without a signal. */
async function commandsOf(agent: Agent): Promise<Agent[]> {
  const facts = createProcessFacts({ platform: process.platform, runner: createRunner() });
  const table = await facts.table();
  if (table === null) return [];
  const callers = new Set<number>();
  for (let pid: number | undefined = process.pid; pid !== undefined && !callers.has(pid); ) {
    callers.add(pid);
    pid = table.find((row) => row.pid === pid)?.parent;
  }
  return treeOf(table, agent).filter((row) => row.pid !== agent.pid && !callers.has(row.pid));
}

/** Null if the signal was sent or the process has ended, else the error. */
function send(target: Agent, signal: NodeJS.Signals): string | null {
  if (!isSame(target)) return null;
  try {
    process.kill(target.pid, signal);
    return null;
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return null;
    return `process ${target.pid} cannot be signalled: ${messageOf(error)}`;
  }
}

type Agent = { pid: number; start_time: string };

function readAgent(path: string): Agent | string {
  let value: unknown;
  try {
    value = JSON.parse(readRegularTextSync(path, READ_LIMITS.run_file));
  } catch (error) {
    return `${path} cannot be read: ${messageOf(error)}`;
  }
  const { pid, start_time } = (value ?? {}) as Partial<Agent>;
  if (!Number.isSafeInteger(pid) || typeof start_time !== 'string') return `${path} names no process`;
  if (pid! <= 1 || pid === process.pid) return `${path} names process ${pid}, which is never ended`;
  const agent = { pid: pid!, start_time };
  return isSame(agent) ? agent : `process ${pid} is not the one that ${path} names any more`;
}

/** A zombie has ended; it only waits for its parent. */
function isSame(agent: Agent): boolean {
  return readProcessStart(agent.pid) === agent.start_time;
}
