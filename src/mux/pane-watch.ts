import type { Clock } from '../base/clock.ts';
import { judgeLife, type ProcessFacts, type ProcessIdentity } from '../platform/process-facts.ts';
import type { MuxSession } from './mux.ts';

/** How often an idle watch checks whether it is needed again, in milliseconds. */
const IDLE_MS = 500;

type PaneWatchOptions = {
  clock: Clock;
  facts: ProcessFacts;
  every_ms: number;
  /** False while the control client reports changes. */
  needed: () => boolean;
  onEnd: () => void;
};

/**
 * Notices that a session's first process has ended, by asking the kernel: for servers to which no control client is
 * attached. It only reports that something ended; the caller lists sessions to find out what.
 */
export class PaneWatch {
  readonly #facts: ProcessFacts;
  readonly #options: PaneWatchOptions;
  #cancel: () => void;
  #panes = new Map<number, ProcessIdentity>();
  #checking = false;

  constructor(options: PaneWatchOptions) {
    this.#facts = options.facts;
    this.#options = options;
    this.#cancel = options.clock.after(options.every_ms, () => this.#next());
  }

  /** Watches the first processes of these sessions, and those of panes that we made; no others. */
  async follow(sessions: readonly MuxSession[]): Promise<void> {
    const panes = new Map<number, ProcessIdentity>();
    for (const pid of sessions.flatMap(({ panes: [first, ...rest] }) =>
      [first, ...rest.filter(({ launch_id }) => launch_id !== null)].map((pane) => pane?.pid ?? null),
    )) {
      if (pid === null) continue;
      const known = this.#panes.get(pid);
      const found = known === undefined ? await this.#facts.lookUp(pid) : null;
      if (known !== undefined) panes.set(pid, known);
      else if (found?.kind === 'found') panes.set(pid, found.row);
    }
    this.#panes = panes;
  }

  stop(): void {
    this.#cancel();
  }

  #next(): void {
    const { clock, every_ms, needed, onEnd } = this.#options;
    const watches = this.#panes.size > 0 && needed();
    this.#cancel = clock.after(watches ? every_ms : Math.max(every_ms, IDLE_MS), () => this.#next());
    if (watches && !this.#checking) void this.#check(onEnd);
  }

  async #check(onEnd: () => void): Promise<void> {
    this.#checking = true;
    let ended = false;
    try {
      for (const pane of [...this.#panes.values()]) {
        if (judgeLife(pane, await this.#facts.lookUp(pane.pid)) !== 'gone') continue;
        this.#panes.delete(pane.pid);
        ended = true;
      }
    } finally {
      this.#checking = false;
    }
    if (ended) onEnd();
  }
}
