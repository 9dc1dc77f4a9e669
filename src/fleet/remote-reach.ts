import { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import { type ResumedSession, resumedSessionSchema, type SshTarget } from '../contract/http/attach.ts';
import { placeOf, type RemoteAddress } from '../contract/remote-address.ts';
import { askRemote } from './ask-remote.ts';
import { addressOf, type ReachedAs, reachOf, unknownHost } from './remote-address.ts';
import { type RemoteEntry, readRemotesFile } from './remotes-file.ts';

/** How the remotes of the operator file are reached; the file is read anew each time. */
export function createRemoteReach(options: { remotes_file: string; reachedAs: ReachedAs }): {
  sshTarget(host: string): SshTarget;
  resumeSession(host: string, session: string): Promise<ResumedSession>;
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
    async resumeSession(host, session) {
      const address = addressOfHost(host);
      const unreachable = (why: string) =>
        new CodedError(
          'remote_unreachable',
          `${host} does not answer at ${placeOf(address)}: ${why}; is its tunnel up?`,
        );
      const asked = askRemote(address, 'POST', '/sessions/resume', { session });
      const { status, body } = await asked.catch((error: Error) => {
        throw unreachable(error.message);
      });
      const resumed = resumedSessionSchema.safeParse(body);
      if (status === 200 && resumed.success) return resumed.data;
      const refused = z.object({ error: z.string(), message: z.string() }).safeParse(body);
      if (!refused.success) throw unreachable(`its answer (${status}) is none of this API`);
      throw new CodedError(refused.data.error, refused.data.message);
    },
  };
}
