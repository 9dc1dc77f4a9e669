import { statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { FleetState } from '../contract/http/state.ts';
import { stampOf } from '../platform/file-stamp.ts';
import { readRemotesFile } from './remotes-file.ts';

/** How often the remotes file is looked at for a change, in milliseconds. */
const LOOK_MS = 500;

export type FleetService = {
  /** The configured remotes as of now; `unpolled` until a feed of theirs was asked for. */
  state(): FleetState;
  stop(): void;
};

/**
 * What this host knows of other hosts. `publish` gets the names of the remotes as soon as their file has been read, and
 * after each change. While the file cannot be read, the remotes read last stay listed.
 */
export function createFleetService(options: {
  remotes_file: string;
  publish(names: string[]): void;
  clock: Clock;
  logger: Logger;
}): FleetService {
  const { remotes_file, publish, clock, logger } = options;
  let names: string[] | null = null;
  let told = '';
  let seen = '';
  const tell = (problems: string[]): void => {
    const text = problems.join('\n');
    if (text !== told && text !== '') logger.warn({ problems }, 'the remotes file needs mending');
    told = text;
  };
  const refresh = (): void => {
    // Taken before the file is read: a write in between is seen at the next look.
    seen = stampText(remotes_file);
    try {
      const file = readRemotesFile(remotes_file);
      if (names?.join('\n') !== file.names.join('\n')) publish(file.names);
      names = file.names;
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
      return { remotes: (names ?? []).map((name) => ({ name, state: 'unpolled' })) };
    },
    stop,
  };
}

/** Another text after every change that the file system tells of; the reason where it tells nothing. */
function stampText(path: string): string {
  try {
    return JSON.stringify(stampOf(statSync(path, { bigint: true })));
  } catch (error) {
    return messageOf(error);
  }
}
