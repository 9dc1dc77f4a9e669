import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isCoded, messageOf } from '../../base/errors.ts';
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

/** A worker of this data folder that may run, by the files of its run; a capture is called as its session. */
export type WorkerHere = {
  id: string;
  uid: string | null;
  mux_session: string | null;
  in_terminal: boolean;
  dir: string;
};

/** How long a daemon has to answer before its workers are ended without it, in milliseconds. */
export const SOON_MS = 1_000;
/** Codes of a daemon that has not said what it did. */
const SILENT = ['daemon_unreachable', 'booting', 'component_unavailable', 'outcome_unknown', 'queue_full'];

export function isSilent(error: unknown): boolean {
  return SILENT.some((code) => isCoded(error, code));
}

const stateSchema = z.enum(['claimed', 'spawned', 'ended']);
const runSchema = z
  .object({
    fiber: z.string(),
    uid: z.string().nullish(),
    mux_session: z.string().nullish(),
    state: stateSchema,
    surface: surfaceSchema,
  })
  .transform(({ fiber, surface, ...rest }) => ({
    ...rest,
    id: fiber,
    in_terminal: SURFACE_RULES[surface].in_terminal,
  }));
/** A capture without a fiber. */
const captureSchema = z
  .object({ mux_session: z.string(), state: stateSchema, app: z.unknown().optional() })
  .transform(({ app, ...rest }) => ({
    ...rest,
    id: rest.mux_session,
    uid: null,
    in_terminal: app === undefined,
  }));
const agentSchema = z.object({ pid: z.int().min(2), start_time: z.string().min(1) });

/** What may run of this data folder: not what has ended, nor what is gone, as with its machine. */
export async function workersHere(settings: Settings): Promise<WorkerHere[]> {
  const runs = join(settings.data_dir, 'runs');
  const facts = processFacts();
  const found = await Promise.all(
    folderNames(runs).map(async (name): Promise<WorkerHere[]> => {
      const dir = join(runs, name);
      const run =
        readAs(runSchema, join(dir, 'run.json')) ?? readAs(captureSchema, join(dir, 'capture.json'));
      if (run === null || run.state === 'ended' || existsSync(join(dir, 'exit.json'))) return [];
      const agent = readAs(agentSchema, join(dir, 'agent.pid'));
      // How it ended is for the daemon to find out.
      if (agent !== null && judgeLife(agent, await facts.lookUp(agent.pid)) === 'gone') return [];
      const { id, uid = null, mux_session = null, in_terminal } = run;
      return [{ id, uid, mux_session, in_terminal, dir }];
    }),
  );
  return found.flat();
}

/**
 * Ends these workers without a daemon: each is marked as killed, so that the daemon holds its fiber once it sees the end,
 * and its processes are ended.
 */
export async function endWorkersHere(
  { clock }: CliContext,
  settings: Settings,
  workers: readonly WorkerHere[],
): Promise<EndedHere> {
  const facts = processFacts();
  const ended: EndedHere = { ended: [], not_ended: [] };
  const end = async ({ dir, id }: WorkerHere): Promise<string | null> => {
    // A script that has not become its agent yet looks for this file first.
    const killed = { reason: 'kill', at: clock.now() };
    writeFileAtomic(join(dir, 'end.json'), `${JSON.stringify(killed)}\n`, { mode: 0o600 });
    const agent = readAs(agentSchema, join(dir, 'agent.pid'));
    if (agent === null) return null;
    const { kind } = await endProcessTree(agent, { grace_ms: settings.kill_grace_ms, facts, clock });
    return kind === 'ended' ? null : `whether the processes of ${id} have ended is not known`;
  };
  await Promise.all(
    workers.map(async (worker) => {
      const fault = worker.in_terminal
        ? await end(worker).catch(messageOf)
        : 'it is a conversation of the app, which only the daemon can end';
      if (fault === null) ended.ended.push(worker.id);
      else ended.not_ended.push({ fiber_id: worker.id, message: fault });
    }),
  );
  return ended;
}

function processFacts() {
  return createProcessFacts({ platform: process.platform, runner: createRunner() });
}

function readAs<T>(schema: z.ZodType<T>, path: string): T | null {
  try {
    return schema.parse(JSON.parse(readRegularTextSync(path, READ_LIMITS.run_file)));
  } catch {
    return null;
  }
}
