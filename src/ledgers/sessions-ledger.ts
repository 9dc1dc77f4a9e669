import { type SessionLine, sessionLineSchema } from '../contract/ledger.ts';
import { LinesByName } from './lines-by-name.ts';
import { type FindFiber, SessionFibers } from './session-fibers.ts';
import { type LedgerCounts, Tailer } from './tailer.ts';

const MAX_ENTRIES = 100_000;

/** The fiber of each harness session, from `sessions.jsonl` (TMP-2). */
export class SessionsLedger {
  readonly #tailer: Tailer<SessionLine>;
  readonly #bound: number;
  #entries: SessionLine[] = [];
  #byUid = new LinesByName<SessionLine>();
  /** By transcript and by thread. */
  #bySession = new LinesByName<SessionLine>();
  #fibers = new SessionFibers();

  /** Keeps at most `max_entries` lines; evicts the oldest first. */
  constructor(options: { path: string; max_entries?: number }) {
    this.#bound = options.max_entries ?? MAX_ENTRIES;
    this.#tailer = new Tailer({
      path: options.path,
      parse: (value) => sessionLineSchema.safeParse(value).data ?? null,
    });
  }

  get counts(): LedgerCounts {
    const { malformed, bytes } = this.#tailer;
    return { entries: Math.min(this.#entries.length, this.#bound), malformed, bytes };
  }

  /** Reads the lines added to the file; throws the system error if it cannot be read. */
  refresh(): Promise<void> {
    return this.#tailer.read({
      reset: () => {
        this.#entries = [];
        this.#byUid = new LinesByName();
        this.#bySession = new LinesByName();
        this.#fibers = new SessionFibers();
      },
      line: (entry) => this.#add(entry),
    });
  }

  /** Oldest first; with a uid, only the lines of that fiber. */
  sessions(uid?: string): SessionLine[] {
    if (uid === undefined) return this.#entries.slice(-this.#bound);
    return [...this.#byUid.of(uid)];
  }

  /** The line whose fiber an event or commit belongs to. */
  readonly fiberOf: FindFiber = (doing) => this.#fibers.find(doing);

  /** Lines of one harness session, by its transcript or its thread identity; oldest first. */
  linesOf(session: string): SessionLine[] {
    return [...this.#bySession.of(session)];
  }

  #add(entry: SessionLine): void {
    this.#entries.push(entry);
    this.#fibers.add(entry);
    if (entry.uid !== null) this.#byUid.add(entry.uid, entry);
    for (const name of sessionsOf(entry)) this.#bySession.add(name, entry);
    const forgotten = this.#entries[this.#entries.length - 1 - this.#bound];
    if (forgotten !== undefined) this.#forget(forgotten);
    if (this.#entries.length > 2 * this.#bound) this.#entries = this.#entries.slice(-this.#bound);
  }

  #forget(line: SessionLine): void {
    this.#fibers.forget(line);
    if (line.uid !== null) this.#byUid.forgetOldest(line.uid);
    for (const name of sessionsOf(line)) this.#bySession.forgetOldest(name);
  }
}

function sessionsOf({ session, thread_id }: SessionLine): Set<string> {
  return new Set([session, thread_id].filter((name) => name !== null));
}
