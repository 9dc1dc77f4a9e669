import { readFileSync } from 'node:fs';
import type { ProcessRunner } from './process.ts';

/** An id of this boot of the machine. A different value means that every earlier process is gone. Null: unknown. */
export async function readBootId(options: {
  platform: NodeJS.Platform;
  runner: ProcessRunner;
}): Promise<string | null> {
  if (options.platform === 'linux') {
    try {
      return asBootId(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
    } catch {
      return null;
    }
  }
  const answer = await options.runner.run({
    file: '/usr/sbin/sysctl',
    args: ['-n', 'kern.bootsessionuuid'],
    timeout_ms: 2_000,
    max_output_bytes: 1_024,
  });
  return answer.kind === 'exited' && answer.code === 0 ? asBootId(answer.stdout) : null;
}

function asBootId(text: string): string | null {
  const id = text.trim().toLowerCase();
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id) ? id : null;
}
