import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, sleep } from '../../../base/clock.ts';
import { CodedError } from '../../../base/errors.ts';
import { makeDataDir } from '../../../config/data-dir.ts';
import type { Settings } from '../../../config/settings.ts';
import { type Version, versionSchema } from '../../../contract/http/version.ts';
import { startDetached } from '../../../platform/detached-process.ts';
import { packageRoot } from '../../../platform/package-root.ts';
import { printJson } from '../../command-line/output.ts';
import { type CliContext, EXIT, type ExitCode } from '../../command-line/verb.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { findDaemon } from '../../daemon-client/daemon-file.ts';
import { nameProcess, processLife } from '../../daemon-client/daemon-process.ts';
import { lastLines, logPath, readableLine, rotateLog } from './log-file.ts';

/** Lines of the log shown where the daemon ended while it started. */
const LAST_WORDS = 15;

/** How often a daemon that takes long is asked (LIM-19); most are ready before the first of these. */
const POLL_MS = 5_000;
const FIRST_POLL_MS = 50;

/** What is started: argv of a program that becomes the daemon. */
export type Program = { file: string; args: readonly string[] };

function ownDaemon(): Program {
  const launcher = join(packageRoot(), 'src', 'cli', 'launcher.mjs');
  return { file: process.execPath, args: [launcher, 'daemon', 'run'] };
}

/** Starts the daemon in the background and waits until it is ready; says who runs where one does already. */
export async function runStart(
  context: CliContext,
  settings: Settings,
  options: { timeout: number; json?: boolean },
  program: Program = ownDaemon(),
): Promise<ExitCode> {
  const found = await findDaemon(settings);
  if (found.kind === 'running') {
    const { pid, booted_at, listen } = found.daemon;
    if (options.json) printJson(context, { started: false, already_running: true, pid, booted_at, listen });
    else context.out(`The daemon runs already: pid ${pid}, since ${booted_at}, at ${listen.join(', ')}\n`);
    return EXIT.ok;
  }
  makeDataDir(settings);
  const log_path = logPath(settings);
  rotateLog(log_path);
  const from = statSync(log_path, { throwIfNoEntry: false })?.size ?? 0;
  const { pid } = await startDetached({
    ...program,
    env: context.env,
    cwd: settings.data_dir,
    log_path,
  });
  const child = await nameProcess(pid);
  const outcome = await untilReady(context.clock, options.timeout * 1000, {
    ended: async () => (await processLife(child)) === 'gone',
    version: () => askVersion(settings, pid),
  });
  if (outcome === 'ended') throw startFailed(log_path, from);
  if (outcome === 'silent')
    throw new CodedError(
      'deadline_exceeded',
      `the daemon (pid ${pid}) has not answered for ${options.timeout} s and goes on starting; watch it with: svc daemon logs -f`,
      { details: { pid } },
    );
  const { listen, version, booted_at } = outcome;
  if (options.json)
    printJson(context, { started: true, already_running: false, pid, booted_at, version, listen });
  else {
    context.out(`The daemon runs: pid ${pid}, version ${version}, at ${listen.join(', ')}\n`);
    context.out(
      'What waits for a worker is held back after a start; let it begin with: svc daemon release\n',
    );
  }
  return EXIT.ok;
}

/** Waits while the daemon says that it boots, however long that takes; `silent` after `silent_ms` without a word. */
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

/** What the new daemon says of itself; undefined while it cannot be asked yet. */
async function askVersion(settings: Settings, pid: number): Promise<Version | undefined> {
  const found = await findDaemon(settings);
  if (found.kind !== 'running' || found.daemon.pid !== pid) return undefined;
  try {
    return await createDaemonClient(found.daemon).get('/version', versionSchema);
  } catch {
    return undefined;
  }
}

function startFailed(log_path: string, from: number): CodedError {
  const lines = lastLines(log_path, LAST_WORDS, from);
  const said =
    lines.length === 0 ? 'it said nothing' : `its last words:\n${lines.map(readableLine).join('\n')}`;
  return new CodedError('launch_failed', `the daemon ended while it started; ${said}`, {
    details: { log: log_path, lines },
  });
}
