import { statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Clock, sleep } from '../../../base/clock.ts';
import { CodedError } from '../../../base/errors.ts';
import { makeDataDir } from '../../../config/data-dir.ts';
import { svcOf } from '../../../config/own-command.ts';
import { readSettings, type Settings } from '../../../config/settings.ts';
import { stateSchema } from '../../../contract/http/state.ts';
import { type Version, versionSchema } from '../../../contract/http/version.ts';
import { startDetached } from '../../../platform/detached-process.ts';
import { requireAnswer } from '../../../platform/foreign-paths.ts';
import { packageRoot } from '../../../platform/package-root.ts';
import { count } from '../../command-line/options.ts';
import { formatMoment } from '../../command-line/output.ts';
import { whileTelling } from '../../command-line/spinner.ts';
import { type Answer, type CliContext, defineVerb } from '../../command-line/verb.ts';
import { connectDaemon, createDaemonClient } from '../../daemon-client/client.ts';
import { findDaemon, requireSeen } from '../../daemon-client/daemon-file.ts';
import { nameProcess, processLife } from '../../daemon-client/daemon-process.ts';
import { lastLines, logPath, readableLine, rotateLog } from './log-file.ts';

/** How many log lines are shown if the daemon ended while starting. */
const LAST_WORDS = 15;

/** How often a slow daemon is polled (LIM-19), in milliseconds; most are ready before the first poll. */
const POLL_MS = 5_000;
const FIRST_POLL_MS = 50;

/** What is started: argv of a program that becomes the daemon. */
export type Program = { file: string; args: readonly string[] };

function ownDaemon(): Program {
  const launcher = join(packageRoot(), 'src', 'cli', 'launcher.mjs');
  return { file: process.execPath, args: [launcher, 'daemon', 'run'] };
}

/** What of `GET /state` says whether starts are held back. */
const holdsSchema = stateSchema.pick({ boot_quarantine: true });

const address = { pid: z.number(), booted_at: z.string(), listen: z.array(z.string()) };

export const startedSchema = z.object({
  started: z.literal(true),
  already_running: z.literal(false),
  version: z.string(),
  ...address,
});

export function timeout(description: string) {
  return count('--timeout <seconds>', description, 30);
}

/** `svc daemon start`: starts the daemon in the background, or reports the one that runs already. */
export const verb = defineVerb({
  summary: 'Start the daemon in the background and wait until it is ready',
  options: { timeout: timeout('seconds without an answer after which to give up') },
  examples: [['svc daemon start', 'returns when the daemon is ready']],
  page: 'daemon.md',
  json: z.union([
    startedSchema,
    z.object({ started: z.literal(false), already_running: z.literal(true), ...address }),
  ]),
  run: (context, given) => startDaemon(context, readSettings(context.env), given.timeout),
});

/** Starts the daemon and waits until it is ready; gives up after `silence` seconds without an answer. */
export async function startDaemon(
  context: CliContext,
  settings: Settings,
  silence: number,
  program: Program = ownDaemon(),
): Promise<Answer> {
  const found = await findDaemon(settings);
  requireSeen(found);
  if (found.kind === 'running') {
    const { pid, booted_at, listen } = found.daemon;
    // A process that is stuck has the pid and the file of a daemon too.
    await createDaemonClient(found.daemon).request('GET', '/version');
    return {
      json: { started: false, already_running: true, pid, booted_at, listen },
      text: `The daemon runs already, since ${formatMoment(Date.parse(booted_at), context.clock.now())}, at ${listen.join(', ')}\n`,
    };
  }
  makeDataDir(settings);
  const log_path = logPath(settings);
  await requireAnswer(log_path);
  rotateLog(log_path);
  const from = statSync(log_path, { throwIfNoEntry: false })?.size ?? 0;
  const { pid } = await startDetached({
    ...program,
    env: context.env,
    cwd: settings.data_dir,
    log_path,
  });
  const child = await nameProcess(pid);
  const outcome = await whileTelling(context, 'The daemon starts', () =>
    untilReady(context.clock, silence * 1000, {
      ended: async () => (await processLife(child)) === 'gone',
      version: () => askVersion(settings, pid),
    }),
  );
  if (outcome === 'ended') throw startFailed(log_path, from);
  if (outcome === 'silent')
    throw new CodedError(
      'deadline_exceeded',
      `the daemon (pid ${pid}) has not answered for ${silence} s and goes on starting; watch it with: svc daemon logs -f; ${lastWords(log_path, from).said}`,
      { details: { pid } },
    );
  const { listen, version, booted_at } = outcome;
  const holds = await holdsStarts(settings);
  return {
    json: { started: true, already_running: false, pid, booted_at, version, listen },
    text:
      `The daemon runs: version ${version}, at ${listen.join(', ')}\n` +
      (holds
        ? `What waits for a worker is held back after a restart; let it begin with: ${svcOf(settings)} daemon release\n`
        : ''),
  };
}

/** Waits for as long as the daemon reports that it is booting; `silent` after `silent_ms` without an answer. */
async function untilReady(
  clock: Clock,
  silent_ms: number,
  daemon: { ended(): Promise<boolean>; version(): Promise<Version | undefined> },
): Promise<Version | 'ended' | 'silent'> {
  const began = clock.now();
  let heard_at = began;
  for (;;) {
    if (await daemon.ended()) return 'ended';
    const version = await daemon.version();
    if (version?.ready === true) return version;
    const now = clock.now();
    if (version !== undefined) heard_at = now;
    else if (now - heard_at >= silent_ms) return 'silent';
    await sleep(clock, now - began < POLL_MS ? FIRST_POLL_MS : POLL_MS);
  }
}

/** The new daemon's `GET /version`; undefined while it does not answer yet. */
async function askVersion(settings: Settings, pid: number): Promise<Version | undefined> {
  const found = await findDaemon(settings);
  if (found.kind !== 'running' || found.daemon.pid !== pid) return undefined;
  try {
    return await createDaemonClient(found.daemon).get('/version', versionSchema);
  } catch {
    return undefined;
  }
}

/** Whether a person has to let starts begin, which the first start of all needs not. */
async function holdsStarts(settings: Settings): Promise<boolean> {
  try {
    const state = await (await connectDaemon(settings)).get('/state', holdsSchema);
    return state.boot_quarantine.active;
  } catch (error) {
    if (error instanceof CodedError) return true;
    throw error;
  }
}

function startFailed(log_path: string, from: number): CodedError {
  const { lines, said } = lastWords(log_path, from);
  return new CodedError('launch_failed', `the daemon ended while it started; ${said}`, {
    details: { log: log_path, lines },
  });
}

function lastWords(log_path: string, from: number): { lines: string[]; said: string } {
  const lines = lastLines(log_path, LAST_WORDS, from).map(readableLine);
  const said =
    lines.length === 0 ? 'it wrote nothing to its log' : `the end of its log:\n${lines.join('\n')}`;
  return { lines, said };
}
