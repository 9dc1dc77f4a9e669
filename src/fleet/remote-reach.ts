import { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import { type ResumedSession, resumedSessionSchema, type SshTarget } from '../contract/http/attach.ts';
import { HOPS_HEADER } from '../contract/http/forwarding.ts';
import { placeOf, type RemoteAddress } from '../contract/remote-address.ts';
import type { HostAnswer } from '../contract/threads/fleet.ts';
import { askRemote } from './ask-remote.ts';
import { addressOf, type ReachedAs, reachOf, unknownHost } from './remote-address.ts';
import { type RemoteEntry, readRemotesFile } from './remotes-file.ts';

/** A start of a worker takes as long as it does there, in milliseconds (LIM-6). */
const WRITE_MS = 120_000;

/** How the remotes of the operator file are reached; the file is read again each time. */
export function createRemoteReach(options: {
  /** The id of this host. */
  host: string;
  remotes_file: string;
  reachedAs: ReachedAs;
}): {
  sshTarget(host: string): SshTarget;
  resumeSession(host: string, session: string): Promise<ResumedSession>;
  /** The alias of a remote, null where it has none; `known` is false for a host that is no remote. */
  sshAlias(host: string): { known: boolean; alias: string | null };
  /** Sends a write of this host to a remote, once; throws `remote_unreachable`, after which it may have been carried out. */
  writeTo(host: string, path: string, body: unknown): Promise<HostAnswer>;
  /** Where the API of a remote answers; throws `unknown_host` or `invalid_config`. */
  addressOf(host: string): RemoteAddress;
} {
  const entryOf = (host: string): RemoteEntry => {
    const entry = readRemotesFile(options.remotes_file).entries.find((one) => one.name === host);
    if (entry !== undefined) return entry;
    throw unknownHost(host);
  };
  const addressOfHost = (host: string): RemoteAddress => options.reachedAs(addressOf(entryOf(host)));
  return {
    addressOf: addressOfHost,
    sshTarget(host) {
      const { ssh, ssh_flags } = reachOf(entryOf(host));
      if (ssh === undefined)
        throw new CodedError('invalid_config', `the entry of ${host} in remotes.json names no "ssh" alias`);
      if (ssh.startsWith('-'))
        throw new CodedError('invalid_config', `"ssh" of ${host} in remotes.json may not begin with a dash`);
      return { alias: ssh, flags: ssh_flags ?? [] };
    },
    sshAlias(host) {
      const entry = readRemotesFile(options.remotes_file).entries.find((one) => one.name === host);
      if (entry === undefined) return { known: false, alias: null };
      return { known: true, alias: reachOf(entry).ssh ?? null };
    },
    async writeTo(host, path, body) {
      const address = addressOfHost(host);
      // A daemon that is another one than the entry means refuses what another host passes on.
      const headers = { [HOPS_HEADER]: options.host };
      const asked = askRemote(address, 'POST', path, body, { deadline_ms: WRITE_MS, headers });
      const { status, body: answer } = await asked.catch((error: Error) => {
        throw new CodedError(
          'remote_unreachable',
          `${host} did not answer at ${placeOf(address)}: ${error.message}; it may have taken effect, so check there before you send it again`,
          { details: { origin: host } },
        );
      });
      return { status, body: answer };
    },
    async resumeSession(host, session) {
      const address = addressOfHost(host);
      const unreachable = (why: string) =>
        new CodedError(
          'remote_unreachable',
          `${host} does not answer at ${placeOf(address)}: ${why}; check that its tunnel is running`,
        );
      const asked = askRemote(address, 'POST', '/sessions/resume', { session });
      const { status, body } = await asked.catch((error: Error) => {
        throw unreachable(error.message);
      });
      const resumed = resumedSessionSchema.safeParse(body);
      if (status === 200 && resumed.success) return resumed.data;
      const refused = z.object({ error: z.string(), message: z.string() }).safeParse(body);
      if (!refused.success) throw unreachable(`its answer (${status}) is not an answer of this API`);
      throw new CodedError(refused.data.error, refused.data.message);
    },
  };
}
