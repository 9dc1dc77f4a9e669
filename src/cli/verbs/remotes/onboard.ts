import { join } from 'node:path';
import { z } from 'zod';
import { CodedError } from '../../../base/errors.ts';
import { shellLine } from '../../../base/shell-word.ts';
import { versionSchema } from '../../../contract/http/version.ts';
import { type Remote, remoteSchema } from '../../../contract/operator-files.ts';
import { type Finding, fail } from '../doctor/check.ts';
import { askSsh, type CheckSurroundings, requireKnownBuild } from './check-remote.ts';

const statusSchema = z.union([
  z.object({ running: z.literal(true), answer: versionSchema.nullable() }),
  z.object({ running: z.literal(false) }),
]);

/** A host that SSH leads to, as it is asked for: `user@host`, or an alias with an @ in it; `pins`: only with its present build. */
export type Newcomer = { alias: string; flags: readonly string[]; pins: boolean };

/**
 * Finds the daemon of a host through SSH, and answers the entry that leads to it by a tunnel: from a socket in `folder` to
 * the socket of that daemon, or its port. Throws `remote_unreachable`, with what fixes the step that failed.
 */
export async function entryOf(
  { alias, flags, pins }: Newcomer,
  folder: string,
  surroundings: CheckSurroundings,
): Promise<Remote> {
  const by_hand = (command: string) => shellLine(['ssh', ...flags, '--', alias, command]);
  const asked = await askSsh({ alias, flags }, 'svc daemon status --json', surroundings);
  if ('fault' in asked) throw refused(asked.fault);
  const { code, stdout } = asked;
  if (code === 126 || code === 127)
    throw refused(
      fail(
        'svc',
        `${alias} has no svc on the PATH of its shells`,
        `install it there, or link it into a folder that this shows: ${by_hand('echo $PATH')}`,
      ),
    );
  const status = statusSchema.safeParse(parsed(stdout));
  if (!status.success)
    throw refused(
      fail(
        'daemon',
        `svc of ${alias} did not say how its daemon is`,
        `see what it says: ${by_hand('svc daemon status')}`,
      ),
    );
  if (!status.data.running || status.data.answer === null)
    throw refused(
      fail('daemon', `no daemon answers on ${alias}`, `start it: ${by_hand('svc daemon start')}`),
    );
  const { host, listen, git_short_sha } = status.data.answer;
  const far = farEnd(listen);
  const entry = remoteSchema.safeParse({
    name: host,
    ssh: alias,
    ...(flags.length > 0 && { ssh_flags: flags }),
    socket: join(folder, `${host}.sock`),
    ...far,
    ...(pins && { build: requireKnownBuild(host, git_short_sha) }),
  });
  if (entry.success && far !== null) return entry.data;
  throw refused(
    fail(
      'address',
      `the daemon of ${alias} calls itself "${host}" and listens at ${listen.join(', ')}, where no tunnel can lead`,
      `write its entry by hand: svc remotes add <name> --ssh ${alias} --socket <path>`,
    ),
  );
}

/** The socket of a daemon, which no other user can open there, else its port. */
function farEnd(listen: readonly string[]): Pick<Remote, 'remote_socket' | 'remote_port'> | null {
  const socket = listen.find((one) => one.startsWith('unix:/'));
  if (socket !== undefined) return { remote_socket: socket.slice('unix:'.length) };
  const port = listen.map((one) => /^127\.0\.0\.1:(\d+)$/.exec(one)?.[1]).find((one) => one !== undefined);
  return port === undefined ? null : { remote_port: Number(port) };
}

function refused({ what, mend }: Finding): CodedError {
  return new CodedError('remote_unreachable', `${what}; ${mend}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
