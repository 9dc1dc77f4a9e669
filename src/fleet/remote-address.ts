import { z } from 'zod';
import { CodedError, messageOf } from '../base/errors.ts';
import { remoteAddress } from '../config/remotes.ts';
import type { RemoteAddress } from '../contract/remote-address.ts';
import type { Remote } from '../contract/threads/fleet.ts';
import { type RemoteEntry, type RemotesFile, type Timing, timingOf } from './remotes-file.ts';

/** What of a remote's entry says how it is reached. */
const reachSchema = z.looseObject({
  ssh: z.string().min(1).optional(),
  ssh_flags: z.array(z.string()).optional(),
  socket: z.string().optional(),
  url: z.string().optional(),
  port: z.int().min(1).max(65_535).optional(),
  build: z.string().min(1).optional(),
});
export type Reach = z.infer<typeof reachSchema>;

/** How the remote of an entry is reached; throws `invalid_config`. */
export function reachOf(entry: RemoteEntry): Reach {
  const reach = reachSchema.safeParse(entry);
  if (reach.success) return reach.data;
  const where = reach.error.issues.map((issue) => issue.path.join('.')).join(', ');
  throw invalid(entry, `is not well-formed at ${where}`);
}

/** Where the API of the remote of an entry answers; throws `invalid_config`. */
export function addressOf(entry: RemoteEntry): RemoteAddress {
  const address = remoteAddress(reachOf(entry));
  if (address === null) throw invalid(entry, 'names neither a url nor a port nor a socket');
  if ('socket' in address && !address.socket.startsWith('/'))
    throw invalid(entry, 'has a socket that is not an absolute path');
  if ('url' in address && !/^https?:$/.test(URL.parse(address.url)?.protocol ?? ''))
    throw invalid(entry, 'has a url that does not begin with http:// or https://');
  return address;
}

/** A remote whose feed is followed. `build` is the only one that its daemon may be of; null where any will do. */
export type FollowedRemote = Remote & { timing: Timing; build: string | null };

/** How this machine reaches an address. */
export type ReachedAs = (address: RemoteAddress) => RemoteAddress;

/** The remotes of a file. One that only SSH leads to is one like any other; its problem is told to whoever asks it. */
export function remotesOf({ entries, defaults }: RemotesFile, reachedAs: ReachedAs): FollowedRemote[] {
  return entries.map((entry) => {
    const { name } = entry;
    const timing = timingOf(entry, defaults);
    try {
      const { build = null } = reachOf(entry);
      return { name, address: reachedAs(addressOf(entry)), problem: null, timing, build };
    } catch (error) {
      return { name, address: null, problem: messageOf(error), timing, build: null };
    }
  });
}

export function unknownHost(host: string): CodedError {
  return new CodedError('unknown_host', `No host "${host}" is known here; remotes.json names the others.`, {
    details: { origin: host },
  });
}

function invalid({ name }: RemoteEntry, what: string): CodedError {
  return new CodedError('invalid_config', `the entry of ${name} in remotes.json ${what}`, {
    details: { origin: name },
  });
}
