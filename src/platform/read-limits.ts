const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * The most bytes that are read of a file of each kind, far above what any of them has. What is longer is refused with
 * `file_too_large`, or taken for damaged where it is only a cache. Documents have a limit of their own
 * (`MAX_DOCUMENT_BYTES`); ledgers, transcripts and sent files are read piece by piece.
 */
export const READ_LIMITS = {
  /** `stores.json`, `projects.json`, `agents.json`, `remotes.json`, `host.json`. */
  operator_file: 4 * MIB,
  /** What the daemon keeps across restarts, such as the incidents and the counts of the loop breaker. */
  state_file: 64 * MIB,
  /** What a run has in its directory, where its worker can write too; a prompt is the longest. */
  run_file: 32 * MIB,
  /** Settings and trust of an agent program; some keep every project in theirs. */
  harness_config: 64 * MIB,
  /** One file of a skill. */
  skill_file: 4 * MIB,
  /** Files of one line or one record: locks, pointers to work trees, programs we wrote. */
  short_file: 64 * KIB,
  /** What is known of a session's tokens; it grows with the answers of the session. */
  spend_cache: 64 * MIB,
  /** The index of events, which is smaller than the two ledger files that it is made of. */
  events_index: 256 * MIB,
  /** Of the daemon’s log, its end. */
  log_end: 32 * MIB,
} as const;
