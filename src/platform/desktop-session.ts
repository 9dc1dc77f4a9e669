import type { ProcessRunner } from './process.ts';

const ASK_MS = 2_000;

/**
 * True if this process belongs to a macOS desktop where a person is logged in (REC-8): launchd then manages it in the
 * `Aqua` session. False on other systems, and if launchd does not answer.
 */
export async function hasMacDesktop(options: {
  platform: NodeJS.Platform;
  runner: Pick<ProcessRunner, 'run'>;
}): Promise<boolean> {
  if (options.platform !== 'darwin') return false;
  const answer = await options.runner.run({
    file: '/bin/launchctl',
    args: ['managername'],
    timeout_ms: ASK_MS,
    max_output_bytes: 4_096,
  });
  return answer.kind === 'exited' && answer.code === 0 && answer.stdout.trim() === 'Aqua';
}
