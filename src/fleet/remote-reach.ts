import { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import { type ResumedSession, resumedSessionSchema, type SshTarget } from '../contract/http/attach.ts';
import { askRemote } from './ask-remote.ts';
import { readRemoteEntries } from './remotes-file.ts';

/** What of a remote's entry says how it is reached. */
const reachSchema = z.looseObject({
  name: z.string(),
  ssh: z.string().min(1).optional(),
  ssh_flags: z.array(z.string()).optional(),
  url: z.string().optional(),
  port: z.int().optional(),
});
type Reach = z.infer<typeof reachSchema>;

/** How the remotes of the operator file are reached; the file is read anew each time. */
export function createRemoteReach(options: { remotes_file: string }): {
  sshTarget(host: string): SshTarget;
  resumeSession(host: string, session: string): Promise<ResumedSession>;
  /** Where the API of a remote answers, without `/api/v1`; throws `unknown_host` or `invalid_config`. */
  baseUrl(host: string): string;
} {
  const reachOf = (host: string): Reach => {
    const entry = readRemoteEntries(options.remotes_file).find((one) => one.name === host);
    if (entry === undefined)
      throw new CodedError(
        'unknown_host',
        `No host "${host}" is known here; remotes.json names the others.`,
        {
          details: { origin: host },
        },
      );
    const reach = reachSchema.safeParse(entry);
    if (reach.success) return reach.data;
    const where = reach.error.issues.map((issue) => issue.path.join('.')).join(', ');
    throw new CodedError(
      'invalid_config',
      `the entry of ${host} in remotes.json is not well-formed at ${where}`,
    );
  };
  const baseUrl = (host: string): string => {
    const { url, port } = reachOf(host);
    if (url === undefined && port === undefined)
      throw new CodedError(
        'invalid_config',
        `the entry of ${host} in remotes.json names neither a url nor a port`,
      );
    return (url ?? `http://127.0.0.1:${port}`).replace(/\/$/, '');
  };
  return {
    baseUrl,
    sshTarget(host) {
      const { ssh, ssh_flags } = reachOf(host);
      if (ssh === undefined)
        throw new CodedError('invalid_config', `the entry of ${host} in remotes.json names no "ssh" alias`);
      if (ssh.startsWith('-'))
        throw new CodedError('invalid_config', `"ssh" of ${host} in remotes.json may not begin with a dash`);
      return { alias: ssh, flags: ssh_flags ?? [] };
    },
    async resumeSession(host, session) {
      const base = baseUrl(host);
      const unreachable = (why: string) =>
        new CodedError('remote_unreachable', `${host} does not answer at ${base}: ${why}; is its tunnel up?`);
      const asked = askRemote(base, 'POST', '/sessions/resume', { session });
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
