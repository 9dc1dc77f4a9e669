import { type CommitLedgerLine, commitLineSchema } from '../contract/ledger.ts';
import { type LedgerCounts, Tailer } from './tailer.ts';

const MAX_ENTRIES = 100_000;

/** Which session made each commit, from `commits.jsonl`: of duplicate entries the first counts (TMP-3). */
export class CommitsLedger {
  readonly #tailer: Tailer<CommitLedgerLine>;
  readonly #bound: number;
  readonly #bySha = new Map<string, CommitLedgerLine>();

  /** Keeps at most `max_entries` commits; evicts the oldest first. */
  constructor(options: { path: string; max_entries?: number }) {
    this.#bound = options.max_entries ?? MAX_ENTRIES;
    this.#tailer = new Tailer({
      path: options.path,
      parse: (value) => commitLineSchema.safeParse(value).data ?? null,
    });
  }

  get counts(): LedgerCounts {
    const { malformed, bytes } = this.#tailer;
    return { entries: this.#bySha.size, malformed, bytes };
  }

  /** Reads the lines added to the file; throws the system error if it cannot be read. */
  refresh(): Promise<void> {
    return this.#tailer.read({
      reset: () => this.#bySha.clear(),
      line: (commit) => {
        if (this.#bySha.has(commit.sha)) return;
        this.#bySha.set(commit.sha, commit);
        if (this.#bySha.size <= this.#bound) return;
        const oldest = this.#bySha.keys().next().value;
        if (oldest !== undefined) this.#bySha.delete(oldest);
      },
    });
  }

  /** Those whose names begin so, in lower case; two tell that more of the name is needed. */
  named(sha: string): CommitLedgerLine[] {
    const whole = this.#bySha.get(sha);
    if (whole !== undefined) return [whole];
    const found: CommitLedgerLine[] = [];
    for (const commit of this.#bySha.values()) {
      if (commit.sha.startsWith(sha)) found.push(commit);
      if (found.length === 2) break;
    }
    return found;
  }

  /** Oldest first. */
  commits(): CommitLedgerLine[] {
    return [...this.#bySha.values()];
  }
}
