import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { FleetState } from '../contract/http/state.ts';
import { readRemotesFile } from './remotes-file.ts';

export type FleetService = {
  /** The configured remotes as of now; `unpolled` until a feed of theirs was asked for. */
  state(): FleetState;
};

/** What this host knows of other hosts. While its file cannot be read, the remotes read last stay listed. */
export function createFleetService(options: { remotes_file: string; logger: Logger }): FleetService {
  let names: string[] = [];
  let told = '';
  const tell = (problems: string[]): void => {
    const text = problems.join('\n');
    if (text !== told && text !== '') options.logger.warn({ problems }, 'the remotes file needs mending');
    told = text;
  };
  const refresh = (): void => {
    try {
      const file = readRemotesFile(options.remotes_file);
      names = file.names;
      tell(file.problems);
    } catch (error) {
      tell([messageOf(error)]);
    }
  };
  return {
    state() {
      refresh();
      return { remotes: names.map((name) => ({ name, state: 'unpolled' })) };
    },
  };
}
