import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, systemCode } from '../../base/errors.ts';
import { readProcessStart } from '../../platform/file-lock.ts';

/** Milliseconds the agent has to end after a hang-up, and then after a request to terminate. */
export type EndPatience = { hangUpMs: number; terminateMs: number };

const LOOK_EVERY_MS = 20;

/**
 * Ends the agent process that `<run dir>/agent.pid` (`{"pid", "start_time"}`) names: hang-up, terminate, kill,
 * each only while the process with that very start time lives. Answers `ended`, or one sentence why nothing was
 * signalled. This process ignores the hang-up that comes back when its terminal goes away.
 */
export async function endSession(runDir: string, patience: EndPatience): Promise<string> {
  const agent = readAgent(join(runDir, 'agent.pid'));
  if (typeof agent === 'string') return agent;
  const ignore = () => {};
  process.on('SIGHUP', ignore);
  try {
    for (const [signal, wait] of [
      ['SIGHUP', patience.hangUpMs],
      ['SIGTERM', patience.terminateMs],
      ['SIGKILL', patience.terminateMs],
    ] as const) {
      if (!isSame(agent)) return 'ended';
      try {
        process.kill(agent.pid, signal);
      } catch (error) {
        if (systemCode(error) === 'ESRCH') return 'ended';
        return `process ${agent.pid} cannot be signalled: ${messageOf(error)}`;
      }
      for (let waited = 0; waited < wait && isSame(agent); waited += LOOK_EVERY_MS)
        await delay(LOOK_EVERY_MS);
    }
    return isSame(agent) ? `process ${agent.pid} is still there after SIGKILL` : 'ended';
  } finally {
    process.off('SIGHUP', ignore);
  }
}

type Agent = { pid: number; start_time: string };

function readAgent(path: string): Agent | string {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return `${path} cannot be read: ${messageOf(error)}`;
  }
  const { pid, start_time } = (value ?? {}) as Partial<Agent>;
  if (!Number.isSafeInteger(pid) || typeof start_time !== 'string') return `${path} names no process`;
  if (pid! <= 1 || pid === process.pid) return `${path} names process ${pid}, which is never ended`;
  const agent = { pid: pid!, start_time };
  return isSame(agent) ? agent : `process ${pid} is not the one that ${path} names any more`;
}

/** A zombie has ended: it only waits for its parent. */
function isSame(agent: Agent): boolean {
  return readProcessStart(agent.pid) === agent.start_time;
}
