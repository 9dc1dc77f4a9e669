import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { FleetState } from '../contract/http/state.ts';
import type { Remote } from '../contract/threads/fleet.ts';
import { stampOf } from '../platform/file-stamp.ts';
import type { FleetFeeds } from './fleet-feeds.ts';
import { type FollowedRemote, type ReachedAs, remotesOf } from './remote-address.ts';
import { type RemoteEntry, readRemotesFile } from './remotes-file.ts';

/** How often the remotes file is looked at for a change, in milliseconds. */
const LOOK_MS = 500;

export type FleetService = {
  /** The configured remotes as of now, and how fresh the copies of their feeds are. */
  state(): FleetState;
  /** The configured remotes as they were published last. */
  remotes(): readonly Remote[];
  /** What the file says of each of them. */
  entries(): readonly RemoteEntry[];
  /** Reads the file again, and follows its remotes as they are reached now. */
  refresh(): void;
  stop(): void;
};

/**
 * What this host knows of other hosts. `publish` gets the remotes as soon as their file has been read, and after each
 * change; `feeds` follow them. While the file cannot be read, the remotes read last stay listed.
 */
export function createFleetService(options: {
  remotes_file: string;
  reachedAs: ReachedAs;
  publish(remotes: Remote[]): void;
  feeds: Pick<FleetFeeds, 'follow' | 'standings'>;
  clock: Clock;
  logger: Logger;
}): FleetService {
  const { remotes_file, reachedAs, publish, feeds, clock, logger } = options;
  let remotes: FollowedRemote[] | null = null;
  let entries: RemoteEntry[] = [];
  let told = '';
  let seen = '';
  const tell = (problems: string[]): void => {
    const text = problems.join('\n');
    if (text !== told && text !== '') logger.warn({ problems }, 'the remotes file needs fixing');
    told = text;
  };
  const refresh = (): void => {
    // Taken before the file is read: a write in between is seen at the next look.
    seen = stampText(remotes_file);
    try {
      const file = readRemotesFile(remotes_file);
      const read = remotesOf(file, reachedAs);
      const before = remotes;
      remotes = read;
      entries = file.entries;
      if (!isDeepStrictEqual(before?.map(publicOf), read.map(publicOf))) publish(read.map(publicOf));
      if (!isDeepStrictEqual(before, read)) feeds.follow(read);
      tell(file.problems);
    } catch (error) {
      tell([messageOf(error)]);
    }
  };
  refresh();
  const stop = clock.every(LOOK_MS, () => {
    if (stampText(remotes_file) !== seen) refresh();
  });
  return {
    state() {
      refresh();
      return { remotes: feeds.standings() };
    },
    remotes: () => remotes ?? [],
    entries: () => entries,
    refresh,
    stop,
  };
}

function publicOf({ name, address, problem }: FollowedRemote): Remote {
  return { name, address, problem };
}

/** Another text after every change that the file system tells of; the reason where it tells nothing. */
function stampText(path: string): string {
  try {
    return JSON.stringify(stampOf(statSync(path, { bigint: true })));
  } catch (error) {
    return messageOf(error);
  }
}
