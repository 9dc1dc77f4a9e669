import { readFileSync } from 'node:fs';
import type { ProcessRunner } from './process.ts';

/**
 * Who started the multiplexer server [MUX-4]. A `daemon_born` server would stop with this daemon's service, or lacks
 * permissions that only a person's terminal gets. `user_born` is any other, with its name.
 */
export type MuxOwner =
  | { kind: 'daemon_born'; name: string }
  | { kind: 'user_born'; name: string }
  | { kind: 'unknown'; name: null }
  | { kind: 'absent'; name: null };

const UNKNOWN: MuxOwner = { kind: 'unknown', name: null };

/** Parses the output of `launchctl print pid/<pid>` or `launchctl procinfo <pid>`; `label` is our own launchd label. */
export function ownerFromLaunchctl(text: string, label: string | null): MuxOwner {
  const block = /resource coalition = \{([^}]*)\}/.exec(text)?.[1];
  const name = block === undefined ? undefined : /^\s*name = (.+?)\s*$/m.exec(block)?.[1];
  if (name === undefined) return UNKNOWN;
  return { kind: name === label ? 'daemon_born' : 'user_born', name };
}

/** From two `/proc/<pid>/cgroup`: a server in the unit of our own service ends when that unit is stopped. */
export function ownerFromCgroups(server: string, own: string): MuxOwner {
  const theirs = unitPath(server);
  const ours = unitPath(own);
  if (theirs === null || ours === null) return UNKNOWN;
  const inOurService = ours.endsWith('.service') && (theirs === ours || theirs.startsWith(`${ours}/`));
  return { kind: inOurService ? 'daemon_born' : 'user_born', name: theirs };
}

/** The path in the unified hierarchy, else in the hierarchy of systemd. */
function unitPath(text: string): string | null {
  const lines = text.split('\n');
  const path = (start: string) => lines.find((line) => line.startsWith(start))?.slice(start.length);
  const found = path('0::') ?? lines.map((line) => /^\d+:name=systemd:(.*)$/.exec(line)?.[1]).find(Boolean);
  return found === undefined || !found.startsWith('/') ? null : found;
}

const LAUNCHCTL_MS = 2_000;

/** Classifies the server with this pid; null for none, `unknown` on a failure. */
export async function findMuxOwner(
  pid: number | null,
  options: { platform: NodeJS.Platform; runner: ProcessRunner; env: Record<string, string | undefined> },
): Promise<MuxOwner> {
  if (pid === null) return { kind: 'absent', name: null };
  if (options.platform === 'linux') return ownerFromCgroups(cgroupOf(pid), cgroupOf('self'));
  if (options.platform !== 'darwin') return UNKNOWN;
  const label = launchdLabel(options.env);
  for (const args of [
    ['print', `pid/${pid}`],
    ['procinfo', String(pid)],
  ]) {
    const answer = await options.runner.run({
      file: '/bin/launchctl',
      args,
      timeout_ms: LAUNCHCTL_MS,
      max_output_bytes: 1024 * 1024,
    });
    const owner =
      answer.kind === 'exited' && answer.code === 0 ? ownerFromLaunchctl(answer.stdout, label) : UNKNOWN;
    if (owner.kind !== 'unknown') return owner;
  }
  return UNKNOWN;
}

/** The launchd label of the job that this process belongs to; null outside a job. */
function launchdLabel(env: Record<string, string | undefined>): string | null {
  const name = env.XPC_SERVICE_NAME;
  return name === undefined || name === '' || name === '0' ? null : name;
}

function cgroupOf(pid: number | 'self'): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return '';
  }
}
