import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import { type ResumedSession, resumedSessionSchema, type SshTarget } from '../contract/http/attach.ts';
import type { HostAnswer } from '../contract/threads/fleet.ts';
import { askRemote } from './ask-remote.ts';
import { type Place, refusalIn, unreachable, unreadable } from './read-remote.ts';
import { addressOf, type ReachedAs, reachOf, unknownHost } from './remote-address.ts';
import type { RemoteEntry } from './remotes-file.ts';

/** A start of a worker takes as long as it does there, in milliseconds (LIM-6). */
const WRITE_MS = 120_000;

/** How the remotes of the operator file are reached. */
export function createRemoteReach(options: {
  /** The id of this host. */
  host: string;
  /** What the file says of each remote; what it throws is passed on. */
  entriesNow(): Promise<readonly RemoteEntry[]>;
  reachedAs: ReachedAs;
  /** Throws for a remote that answers nobody now; `writes` for what may have an effect. */
  refuseSilent(host: string, writes: boolean): void;
}): {
  sshTarget(host: string): Promise<SshTarget>;
  resumeSession(host: string, session: string): Promise<ResumedSession>;
  /** The alias of a remote, null where it has none; `known` is false for a host that is no remote. */
  sshAlias(host: string): Promise<{ known: boolean; alias: string | null }>;
  /** Sends a write of this host to a remote, once; throws `remote_unreachable`, which says whether it may have been carried out. */
  writeTo(host: string, path: string, body: unknown): Promise<HostAnswer>;
  /** A remote to read from; throws `unknown_host`, `invalid_config`, and at once for one that answers nobody now. */
  remoteAt(host: string): Promise<Place>;
} {
  const entryIn = async (host: string): Promise<RemoteEntry | undefined> =>
    (await options.entriesNow()).find((one) => one.name === host);
  const entryOf = async (host: string): Promise<RemoteEntry> => {
    const entry = await entryIn(host);
    if (entry !== undefined) return entry;
    throw unknownHost(host);
  };
  const remoteAt = async (host: string, writes: boolean): Promise<Place> => {
    const address = options.reachedAs(addressOf(await entryOf(host)));
    options.refuseSilent(host, writes);
    return { name: host, address };
  };
  return {
    remoteAt: (host) => remoteAt(host, false),
    async sshTarget(host) {
      const { ssh, ssh_flags } = reachOf(await entryOf(host));
      if (ssh === undefined)
        throw new CodedError('invalid_config', `the entry of ${host} in remotes.json names no "ssh" alias`);
      if (ssh.startsWith('-'))
        throw new CodedError('invalid_config', `"ssh" of ${host} in remotes.json may not begin with a dash`);
      return { alias: ssh, flags: ssh_flags ?? [] };
    },
    async sshAlias(host) {
      const entry = await entryIn(host);
      if (entry === undefined) return { known: false, alias: null };
      return { known: true, alias: reachOf(entry).ssh ?? null };
    },
    async writeTo(host, path, body) {
      const to = await remoteAt(host, true);
      const asked = askRemote(to, {
        ...{ method: 'POST', path, body },
        ...{ hops: [options.host], deadline_ms: WRITE_MS },
      });
      const { status, body: answer } = await asked.catch((error: unknown) => {
        throw failed(to, error, '; it may have taken effect, so check there before you send it again');
      });
      return { status, body: answer };
    },
    async resumeSession(host, session) {
      const to = await remoteAt(host, true);
      const asked = askRemote(to, {
        ...{ method: 'POST', path: '/sessions/resume', body: { session } },
        ...{ hops: [options.host], names_host: false },
      });
      const { status, body } = await asked.catch((error: unknown) => {
        throw failed(to, error);
      });
      const resumed = resumedSessionSchema.safeParse(body);
      if (status === 200 && resumed.success) return resumed.data;
      if (status === 200) throw unreadable(to, `its answer (${status}) is not an answer of this API`);
      throw refusalIn(to, status, body);
    },
  };
}

/** An error with a code says by itself that the remote was not asked. */
function failed(to: Place, error: unknown, more = ''): CodedError {
  return isCoded(error) ? error : unreachable(to, `${messageOf(error)}${more}`);
}
