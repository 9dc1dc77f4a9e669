import type { Clock } from '../base/clock.ts';
import { judgeLife, type ProcessFacts, type ProcessIdentity } from '../platform/process-facts.ts';
import type { MuxSession } from './mux.ts';

/**
 * Notices that a session's first process has ended, by asking the kernel: for servers to which no control
 * client is attached. It only calls; what ended is for a listing to say.
 */
export class PaneWatch {
  readonly #facts: ProcessFacts;
  readonly #cancel: () => void;
  #panes = new Map<number, ProcessIdentity>();
  #looking = false;

  constructor(options: {
    clock: Clock;
    facts: ProcessFacts;
    every_ms: number;
    /** False while somebody else brings the news. */
    needed: () => boolean;
    onEnd: () => void;
  }) {
    this.#facts = options.facts;
    this.#cancel = options.clock.every(options.every_ms, () => {
      if (!this.#looking && this.#panes.size > 0 && options.needed()) void this.#look(options.onEnd);
    });
  }

  /** Watches the processes of these sessions and no others. */
  async follow(sessions: readonly MuxSession[]): Promise<void> {
    const panes = new Map<number, ProcessIdentity>();
    for (const { pane_pid } of sessions) {
      if (pane_pid === null) continue;
      const known = this.#panes.get(pane_pid);
      const found = known === undefined ? await this.#facts.lookUp(pane_pid) : null;
      if (known !== undefined) panes.set(pane_pid, known);
      else if (found?.kind === 'found') panes.set(pane_pid, found.row);
    }
    this.#panes = panes;
  }

  stop(): void {
    this.#cancel();
  }

  async #look(onEnd: () => void): Promise<void> {
    this.#looking = true;
    let ended = false;
    try {
      for (const pane of [...this.#panes.values()]) {
        if (judgeLife(pane, await this.#facts.lookUp(pane.pid)) !== 'gone') continue;
        this.#panes.delete(pane.pid);
        ended = true;
      }
    } finally {
      this.#looking = false;
    }
    if (ended) onEnd();
  }
}
