import type { Logger } from '../../base/logger.ts';
import { dataDirFault, type HeldDataDirMark } from '../../config/data-dir-fault.ts';

/**
 * Whether the data folder is still the one that the daemon took. While it is not, nothing is started: no start could be
 * recorded, and a second daemon would know nothing of it.
 */
export class DataDirWatch {
  readonly #mark: HeldDataDirMark;
  readonly #logger: Logger;
  readonly #onChange: (fault: string | null) => void;
  #fault: string | null = null;

  constructor(options: { mark: HeldDataDirMark; logger: Logger; onChange(fault: string | null): void }) {
    this.#mark = options.mark;
    this.#logger = options.logger;
    this.#onChange = options.onChange;
  }

  /** The fault that the last check found, with the fix; null while there is none. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Checks now. */
  look(): string | null {
    const fault = dataDirFault(this.#mark);
    if (fault === this.#fault) return fault;
    this.#fault = fault;
    if (fault === null) this.#logger.warn('the data folder is there again; work goes on');
    else this.#logger.error({ data_dir: this.#mark.path }, fault);
    this.#onChange(fault);
    return fault;
  }
}
