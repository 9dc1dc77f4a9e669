import { join } from 'node:path';
import { CodedError, isCoded } from '../../base/errors.ts';
import { readStores } from '../../config/path-lists.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import { openStore } from '../../fibers/store.ts';
import { packageRoot } from '../../platform/package-root.ts';
import { createRunner } from '../../platform/process.ts';
import { count, option } from '../command-line/options.ts';
import { type CliContext, defineVerb, EXIT, type ExitCode } from '../command-line/verb.ts';
import { findDaemon } from '../daemon-client/daemon-file.ts';
import { runForeground } from './daemon/run.ts';
import { stopDaemon } from './daemon/stop.ts';
import { demoContext, demoRoot, demoSocket } from './demo/environment.ts';
import { ownCommand } from './demo/own-command.ts';
import { prepareDemo, requireDemoTools } from './demo/prepare.ts';
import { ownFibers, removeDemo } from './demo/remove.ts';
import { demoFolders, isPlayedOut } from './demo/store.ts';
import { configuredWelcome, demoWelcome } from './demo/welcome.ts';

/** How long the end of the demo's daemon is waited for before anything is removed, in seconds. */
const STOP_S = 10;

/**
 * `svc demo`: a store with eight fibers, an agent without a model, and a daemon in the foreground, all in one folder
 * and separate from the user's configuration. A verb after `demo` runs against the demo.
 */
export const verb = defineVerb({
  summary: 'Try everything with an agent that costs nothing',
  usage: '[--dir <dir>] [options] | [--dir <dir>] <verb> …',
  options: {
    dir: option('--dir <dir>', 'folder for everything the demo makes'),
    unless_configured: option(
      '--unless-configured',
      'run the daemon on the configured stores when there are any',
    ),
    remove: option('--remove', 'end what the demo runs and remove all it made'),
    force: option('--force', 'remove the fibers you added to it too'),
    pace_ms: count('--pace-ms <ms>', 'milliseconds between two steps of the demo agent', 8000),
  },
  note: 'A verb after it works on the demo instead of your own setup: svc demo status, svc demo attach loader.',
  examples: [
    ['svc demo', 'runs the demo in this terminal'],
    ['svc demo status', 'runs a verb on the demo instead of your own setup'],
    ['svc demo --remove', 'removes everything that the demo made'],
  ],
  no_json: 'it runs in the terminal until it is told to stop',
  run: runDemo,
});

async function runDemo(
  context: CliContext,
  options: {
    dir: string | undefined;
    unless_configured: boolean | undefined;
    remove: boolean | undefined;
    force: boolean | undefined;
    pace_ms: number;
  },
): Promise<ExitCode> {
  const own = readSettings(context.env);
  if (own.demo)
    throw new CodedError(
      'invalid_request',
      'this is a command of the demo already, and a demo has none of its own; outside of it, svc demo runs the demo and svc demo <verb> works on it',
    );
  if (options.unless_configured === true && readStores(own).paths.length > 0)
    return runConfigured(context, own);
  const root = demoRoot(context, options.dir);
  const inside = demoContext(context, options.dir);
  const settings = readSettings(inside.env);
  if (options.remove === true) return remove(context, root, settings, options.force === true);
  await refuseWhileRunning(settings);
  await requireDemoTools(context.env.PATH ?? '');
  await prepareDemo(demoFolders(root), {
    runner: createRunner(),
    pace_ms: options.pace_ms,
    socket: demoSocket(root),
  });
  // The tmux server and its workers inherit the environment of this process.
  Object.assign(process.env, inside.env);
  const dir = options.dir === undefined ? null : root;
  const played_out = isPlayedOut(
    openStore(demoFolders(root).store, { clock: context.clock }).list().documents,
  );
  const svc = await typed(context);
  return withFreePortHint(() =>
    runForeground(inside, settings, (listen) =>
      context.err(demoWelcome({ listen, svc, dir, root, played_out })),
    ),
  );
}

async function runConfigured(context: CliContext, settings: Settings): Promise<ExitCode> {
  const stores = readStores(settings).paths;
  const svc = await typed(context);
  return withFreePortHint(() =>
    runForeground(context, settings, (listen) => context.err(configuredWelcome({ listen, svc, stores }))),
  );
}

function typed(context: CliContext): Promise<string> {
  const launcher = join(packageRoot(), 'src', 'cli', 'svc.cjs');
  return ownCommand({ path: context.env.PATH ?? '', cwd: context.cwd, launcher });
}

async function refuseWhileRunning(settings: Settings): Promise<void> {
  const found = await findDaemon(settings);
  if (found.kind !== 'running') return;
  const { pid, listen } = found.daemon;
  throw new CodedError(
    'daemon_running',
    `the demo runs already (pid ${pid}, at ${listen.join(' and ')}); stop it with Ctrl-C in its terminal or svc demo daemon stop`,
  );
}

/** Adds how to choose another port, as typed by the user of `npm start`. */
async function withFreePortHint(run: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await run();
  } catch (error) {
    if (!isCoded(error, 'address_in_use')) throw error;
    const again = process.env.npm_lifecycle_event === 'start' ? 'npm start' : 'svc demo';
    throw new CodedError('address_in_use', `${error.message}: SVC_LISTEN=127.0.0.1:0 ${again}`, {
      details: error.details,
    });
  }
}

async function remove(
  context: CliContext,
  root: string,
  settings: Settings,
  force: boolean,
): Promise<ExitCode> {
  const own = ownFibers(root, context.clock);
  if (own.length > 0 && !force)
    throw new CodedError(
      'invalid_request',
      `the demo's store ${demoFolders(root).store} holds ${own.length === 1 ? 'a fiber' : 'fibers'} of yours (${own.join(', ')}); move what you want to keep, then add --force`,
    );
  await stopDaemon(context, settings, STOP_S);
  const removed = await removeDemo(root, { runner: createRunner(), clock: context.clock });
  const ended = removed.sessions === 0 ? '' : ` and ended ${removed.sessions} of its tmux sessions`;
  context.show(removed.existed ? `Removed ${root}${ended}.\n` : `There is no demo in ${root}.\n`);
  return EXIT.ok;
}
