import { dirname } from 'node:path';
import { backoffDelay } from '../../../base/backoff.ts';
import type { Clock } from '../../../base/clock.ts';
import { shellLine } from '../../../base/shell-word.ts';
import type { Tunnel } from '../../../config/tunnels.ts';
import { makeFolder } from '../../../platform/make-folder.ts';
import type { PipedProcess } from '../../../platform/piped-process.ts';
import type { ProcessRunner } from '../../../platform/process.ts';
import { sshFault } from '../../../platform/ssh-fault.ts';
import { tethered } from '../../../platform/tethered-process.ts';

const PAUSE = { first: 1_000, most: 30_000 };
/** A tunnel that was up for so long is restarted as if it had never failed, in milliseconds. */
const STEADY_MS = 60_000;

/**
 * Keeps a tunnel up until `signal` is aborted: `ssh` is restarted whenever it ends, after a pause that grows while it
 * fails at once. It ends with this process, however that ends.
 */
export async function keepUp(options: {
  tunnel: Tunnel;
  /** The path of `ssh`. */
  ssh: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  runner: Pick<ProcessRunner, 'spawnPiped'>;
  say(sentence: string): void;
  signal: AbortSignal;
}): Promise<void> {
  const { tunnel, ssh, env, clock, runner, say, signal } = options;
  const { near, remote, alias, flags, args } = tunnel;
  if ('socket' in near) makeFolder(dirname(near.socket));
  const begins = 'socket' in near ? near.socket : `127.0.0.1:${near.port}`;
  say(`keeping a tunnel to ${remote} up, which begins at ${begins}; end it with Ctrl-C`);
  let failures = 0;
  while (!signal.aborted) {
    const from = clock.now();
    const said = await ended(runner.spawnPiped({ ...tethered([ssh, ...args]), cwd: '/', env }), signal);
    if (signal.aborted) return;
    failures = clock.now() - from >= STEADY_MS ? 1 : failures + 1;
    const pause = backoffDelay(PAUSE, failures);
    const { why, mend } = sshFault(said, alias, shellLine(['ssh', ...flags, '--', alias]));
    say(
      `the tunnel to ${remote} ended: ${why}; ${mend} (it is tried again in ${Math.round(pause / 1_000)} s)`,
    );
    await wait(clock, pause, signal);
  }
}

/** Resolves with what the program said at its end; an abort ends it. */
function ended(program: PipedProcess, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const end = () => program.end();
    signal.addEventListener('abort', end, { once: true });
    program.onStdout(() => undefined);
    program.onExit((detail) => {
      signal.removeEventListener('abort', end);
      resolve(detail);
    });
    if (signal.aborted) end();
  });
}

function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
