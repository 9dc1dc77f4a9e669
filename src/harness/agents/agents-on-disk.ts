import type { Logger } from '../../base/logger.ts';
import { FollowedFile, type FollowingDisks } from '../../config/followed-file.ts';
import { operatorFilePaths } from '../../config/paths.ts';
import type { Settings } from '../../config/settings.ts';
import { type AgentRegistry, loadRegistry } from './registry.ts';

/**
 * The agents of this host, read again only when their file moved. A file that is not valid is logged once for each of its
 * versions, and the agents of its last valid version stay in force; so do those of a disk that does not answer.
 */
export class AgentsOnDisk {
  readonly #settings: Settings;
  readonly #logger: Logger;
  readonly #file: FollowedFile;
  #registry: AgentRegistry | null = null;

  constructor(settings: Settings, { disks, logger }: { disks: FollowingDisks; logger: Logger }) {
    this.#settings = settings;
    this.#logger = logger;
    const takeUp = () => this.#read();
    this.#file = new FollowedFile(operatorFilePaths(settings).agents, { disks, takeUp });
  }

  /** The agents as they are now; on the disk of another machine, after a first `look`. */
  get registry(): AgentRegistry {
    this.#file.lookNow();
    if (this.#registry === null) throw new Error('the agents were never read');
    return this.#registry;
  }

  /** Reads the agents again where their file moved; false where its disk does not answer. */
  look(): Promise<boolean> {
    return this.#file.look();
  }

  #read(): void {
    const registry = loadRegistry(this.#settings);
    const { problem } = registry;
    if (problem !== null) this.#logger.warn({ detail: problem.message }, 'the agents file is not used');
    this.#registry = problem === null || this.#registry === null ? registry : { ...this.#registry, problem };
  }
}
