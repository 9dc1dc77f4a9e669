import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, within } from '../base/clock.ts';
import { CodedError, isCoded, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { FleetState } from '../contract/http/state.ts';
import type { Remote } from '../contract/threads/fleet.ts';
import { unansweredWords } from '../platform/disks.ts';
import { stampOf } from '../platform/file-stamp.ts';
import { mayFollow } from '../platform/foreign-paths.ts';
import type { FleetFeeds } from './fleet-feeds.ts';
import { type FollowedRemote, type ReachedAs, remotesOf } from './remote-address.ts';
import { type RemoteEntry, type RemotesFile, readRemotesFile } from './remotes-file.ts';

/** How often the remotes file is looked at for a change, in milliseconds. */
const LOOK_MS = 500;
/** How long a request waits for a look, in milliseconds. */
const LOOK_LIMIT_MS = 1_000;

export type FleetService = {
  /** The configured remotes as of now, and how fresh the copies of their feeds are. */
  state(): Promise<FleetState>;
  /** The configured remotes as they were published last. */
  remotes(): readonly FollowedRemote[];
  /** What the file said of each of them when it was read last. */
  entries(): readonly RemoteEntry[];
  /** The entries of the file as of now; throws `invalid_config`, and `file_unavailable` where it never could be read. */
  entriesNow(): Promise<readonly RemoteEntry[]>;
  /** Takes up what moved of the file; ends after a second at most. */
  look(): Promise<void>;
  /** Follows the remotes as they are reached now. */
  reach(): void;
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
  let file: RemotesFile | null = null;
  let fault: CodedError | null = null;
  let remotes: FollowedRemote[] | null = null;
  let told = '';
  let seen: string | null = null;
  let looking: { since: number; end: Promise<void> } | null = null;
  let stopped = false;
  const tell = (problems: string[]): void => {
    const text = problems.join('\n');
    if (text !== told && text !== '') logger.warn({ problems }, 'the remotes file needs fixing');
    told = text;
  };
  const reach = (): void => {
    if (file === null || stopped) return;
    const read = remotesOf(file, reachedAs);
    const before = remotes;
    remotes = read;
    if (!isDeepStrictEqual(before?.map(publicOf), read.map(publicOf))) publish(read.map(publicOf));
    if (!isDeepStrictEqual(before, read)) feeds.follow(read);
  };
  const readAgain = async (): Promise<void> => {
    if ((await mayFollow(remotes_file)) !== 'answers') return;
    // Taken before the file is read: a write in between is seen at the next look.
    const stamp = await stampText(remotes_file);
    if (stamp === seen) return;
    try {
      file = await readRemotesFile(remotes_file);
      fault = null;
      seen = stamp;
      tell(file.problems);
      reach();
    } catch (error) {
      // The file may be readable again with the stamp that it had before.
      seen = null;
      fault = isCoded(error) ? error : new CodedError('internal', messageOf(error), { cause: error });
      tell([fault.message]);
    }
  };
  // One at a time: a disk that does not answer holds one thread of this process, however often it is looked at.
  const begin = (): Promise<void> => {
    if (looking !== null) return looking.end;
    const end = readAgain().finally(() => {
      looking = null;
    });
    looking = { since: clock.monotonic(), end };
    return end;
  };
  const look = async (): Promise<void> => {
    const waited = looking === null ? 0 : clock.monotonic() - looking.since;
    if (waited >= LOOK_LIMIT_MS) return;
    // A look that began before this call may have seen the file as it was before a write.
    await within(clock, LOOK_LIMIT_MS - waited, Promise.resolve(looking?.end).then(begin));
  };
  const stopLooking = clock.every(LOOK_MS, () => void begin());
  return {
    async state() {
      await look();
      return { remotes: feeds.standings() };
    },
    remotes: () => remotes ?? [],
    entries: () => file?.entries ?? [],
    async entriesNow() {
      await look();
      if (fault !== null) throw fault;
      if (file !== null) return file.entries;
      throw new CodedError('file_unavailable', unansweredWords(remotes_file, 'silent'));
    },
    look,
    reach,
    stop() {
      stopped = true;
      stopLooking();
    },
  };
}

function publicOf({ name, address, problem }: FollowedRemote): Remote {
  return { name, address, problem };
}

/** Another text after every change that the file system tells of; the reason where it tells nothing. */
async function stampText(path: string): Promise<string> {
  try {
    return JSON.stringify(stampOf(await stat(path, { bigint: true })));
  } catch (error) {
    return messageOf(error);
  }
}
