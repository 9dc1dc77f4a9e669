import { CodedError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { FollowedFile } from '../../config/followed-file.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import type { Disks } from '../../platform/disks.ts';
import { type AgentRegistry, builtinRegistry, loadRegistry } from './registry.ts';

/**
 * The agents of this host, read again only when their file moved. A file that is not valid is logged once for each of its
 * versions, and the agents of its last valid version stay in force; so do those of a disk that does not answer.
 */
export class AgentsOnDisk {
  readonly #settings: Settings;
  readonly #logger: Logger;
  readonly #file: FollowedFile;
  #registry: AgentRegistry | null = null;

  constructor(settings: Settings, { disks, logger }: { disks: Pick<Disks, 'check'>; logger: Logger }) {
    this.#settings = settings;
    this.#logger = logger;
    const takeUp = () => this.#read();
    this.#file = new FollowedFile(operatorFilePaths(settings).agents, { disks, takeUp });
  }

  /** The agents as they were found by the last look; the built-in ones, with a `problem`, before the file could be read. */
  get registry(): AgentRegistry {
    return this.#registry ?? unread(operatorFilePaths(this.#settings).agents);
  }

  /** Reads the agents again where their file moved. */
  look(): Promise<void> {
    return this.#file.look();
  }

  #read(): void {
    const registry = loadRegistry(this.#settings);
    const { problem } = registry;
    if (problem !== null) this.#logger.warn({ detail: problem.message }, 'the agents file is not used');
    this.#registry = problem === null || this.#registry === null ? registry : { ...this.#registry, problem };
  }
}

function unread(file: string): AgentRegistry {
  const message = `the disk of ${file} has not answered since the daemon began to read it`;
  return builtinRegistry(file, new CodedError('invalid_config', message));
}
