import { type Clock, sleep } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { shellLine } from '../base/shell-word.ts';
import { failureWords } from '../platform/failure-words.ts';
import { findExecutable } from '../platform/find-executable.ts';
import type { ProcessRunner } from '../platform/process.ts';
import { socketArgv } from '../platform/tmux-command.ts';
import { commandArgv, showExitUnattached, type TmuxCommand } from './command.ts';
import { planServerStart, scopeArgv, serverEnvironment } from './server-start.ts';

export type ServerStarted = { kind: 'started' } | { kind: 'failed'; detail: string };

export type StartServerOptions = {
  tmux: string;
  socket: string | null;
  env: Record<string, string | undefined>;
  runner: ProcessRunner;
  clock: Clock;
  logger: Logger;
  scope?: 'auto' | 'never';
  platform: NodeJS.Platform;
  deadline_ms: number;
  /** Makes the first session, without which a server would end at once. */
  anchor: readonly TmuxCommand[];
};

const RETRY_MS = 300;

/** Starts the multiplexer server with its anchor session; called when `list` found none. */
export async function startServer(options: StartServerOptions): Promise<ServerStarted> {
  const { env, socket, clock, logger } = options;
  const systemdRun = await findUserManager(options);
  const plan = planServerStart({
    platform: options.platform,
    socket,
    inside_unit: env.INVOCATION_ID !== undefined,
    user_manager: systemdRun !== null,
  });
  if (plan.kind === 'refused') return { kind: 'failed', detail: plan.reason };

  // A private server must not depend on the user's tmux configuration.
  const ours = socket === null ? [] : ['-f', '/dev/null', '-S', socket];
  const start = [options.tmux, '-u', ...ours, ...commandArgv(...options.anchor, showExitUnattached())];
  if (plan.kind === 'scope' && systemdRun !== null) {
    const words = await run(options, [systemdRun, ...scopeArgv(socket, clock.now(), start)]);
    if (words === null || words === EXITS_UNATTACHED) return startedOf(words, socket);
    logger.warn({ detail: words }, 'systemd-run could not start the tmux server; starting it directly');
  }
  let words = await run(options, start);
  if (words?.startsWith('server exited')) {
    // A server that is shutting down refuses the first connection, so try twice.
    await sleep(clock, RETRY_MS);
    words = await run(options, start);
  }
  return startedOf(words?.startsWith('duplicate session') ? null : words, socket);
}

const EXITS_UNATTACHED = 'exit-unattached is on';

function startedOf(words: string | null, socket: string | null): ServerStarted {
  if (words === null) return { kind: 'started' };
  if (words === EXITS_UNATTACHED) return { kind: 'failed', detail: exitsUnattached(socket) };
  return { kind: 'failed', detail: `The tmux server could not be started: ${words}.` };
}

/** Why no worker may run on a server that ends with its last client, and the fix. */
export function exitsUnattached(socket: string | null): string {
  const command = shellLine(['tmux', ...socketArgv(socket), 'set-option', '-s', 'exit-unattached', 'off']);
  return `the tmux option exit-unattached is on, so that tmux and every worker in it would end with its last client; remove it from tmux.conf, and turn it off with: ${command}`;
}

/** Null on success, else the reason. */
async function run(options: StartServerOptions, argv: readonly string[]): Promise<string | null> {
  const [file = '', ...args] = argv;
  const result = await options.runner.run({
    file,
    args,
    cwd: '/',
    env: serverEnvironment(options.env),
    timeout_ms: options.deadline_ms,
    max_output_bytes: 64 * 1024,
  });
  if (result.kind === 'exited' && result.code === 0)
    return /\n1\n$/.test(result.stdout) ? EXITS_UNATTACHED : null;
  return failureWords(result);
}

/** Path of `systemd-run` when we run as a unit and the user's service manager answers; null otherwise. */
async function findUserManager(options: StartServerOptions): Promise<string | null> {
  const { env, runner, scope = 'auto' } = options;
  if (scope === 'never' || options.platform !== 'linux' || env.INVOCATION_ID === undefined) return null;
  const systemctl = await findExecutable('systemctl', env.PATH ?? '');
  const systemdRun = await findExecutable('systemd-run', env.PATH ?? '');
  if (systemctl === null || systemdRun === null) return null;
  const answer = await runner.run({
    file: systemctl,
    args: ['--user', 'show-environment'],
    env,
    timeout_ms: 2_000,
    max_output_bytes: 256 * 1024,
  });
  return answer.kind === 'exited' && answer.code === 0 ? systemdRun : null;
}
