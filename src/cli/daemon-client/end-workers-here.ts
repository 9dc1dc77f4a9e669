import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import type { Settings } from '../../config/settings.ts';
import { SURFACE_RULES, surfaceSchema } from '../../contract/surface.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { folderNames } from '../../platform/folder-names.ts';
import { createRunner } from '../../platform/process.ts';
import { createProcessFacts, judgeLife } from '../../platform/process-facts.ts';
import { endProcessTree } from '../../platform/process-tree.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularTextSync } from '../../platform/regular-file.ts';
import type { CliContext } from '../command-line/verb.ts';

export type EndedHere = { ended: string[]; not_ended: { fiber_id: string; message: string }[] };

const stateSchema = z.enum(['claimed', 'spawned', 'ended']);
const runSchema = z
  .object({ fiber: z.string(), state: stateSchema, surface: surfaceSchema })
  .transform(({ fiber, state, surface }) => ({
    name: fiber,
    state,
    in_terminal: SURFACE_RULES[surface].in_terminal,
  }));
/** A capture without a fiber. */
const captureSchema = z
  .object({ mux_session: z.string(), state: stateSchema, app: z.unknown().optional() })
  .transform(({ mux_session, state, app }) => ({ name: mux_session, state, in_terminal: app === undefined }));
const agentSchema = z.object({ pid: z.int().min(2), start_time: z.string().min(1) });

/**
 * Ends the workers of this data folder without a daemon, by the files of their runs: each is marked as killed, so that the
 * daemon holds its fiber once it sees the end, and its processes are ended.
 */
export async function endWorkersHere({ clock }: CliContext, settings: Settings): Promise<EndedHere> {
  const runs = join(settings.data_dir, 'runs');
  const facts = createProcessFacts({ platform: process.platform, runner: createRunner() });
  const ended: EndedHere = { ended: [], not_ended: [] };
  const end = async (dir: string, worker: string): Promise<string | null> => {
    // A script that has not become its agent yet looks for this file first.
    const killed = { reason: 'kill', at: clock.now() };
    writeFileAtomic(join(dir, 'end.json'), `${JSON.stringify(killed)}\n`, { mode: 0o600 });
    const agent = readAs(agentSchema, join(dir, 'agent.pid'));
    if (agent === null) return null;
    const { kind } = await endProcessTree(agent, { grace_ms: settings.kill_grace_ms, facts, clock });
    return kind === 'ended' ? null : `whether the processes of ${worker} have ended is not known`;
  };
  await Promise.all(
    folderNames(runs).map(async (name) => {
      const dir = join(runs, name);
      const run =
        readAs(runSchema, join(dir, 'run.json')) ?? readAs(captureSchema, join(dir, 'capture.json'));
      if (run === null || run.state === 'ended' || existsSync(join(dir, 'exit.json'))) return;
      const agent = readAs(agentSchema, join(dir, 'agent.pid'));
      // How it ended, as with its machine, is for the daemon to find out.
      if (agent !== null && judgeLife(agent, await facts.lookUp(agent.pid)) === 'gone') return;
      const fault = run.in_terminal
        ? await end(dir, run.name).catch(messageOf)
        : 'it is a conversation of the app, which only the daemon can end';
      if (fault === null) ended.ended.push(run.name);
      else ended.not_ended.push({ fiber_id: run.name, message: fault });
    }),
  );
  return ended;
}

function readAs<T>(schema: z.ZodType<T>, path: string): T | null {
  try {
    return schema.parse(JSON.parse(readRegularTextSync(path, READ_LIMITS.run_file)));
  } catch {
    return null;
  }
}
