const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Maximum size of each kind of file, in bytes, far above any normal file. A longer file is refused with
 * `file_too_large`, or counts as damaged if it is only a cache. Documents have their own limit (`MAX_DOCUMENT_BYTES`);
 * ledgers, transcripts and sent files are read in chunks.
 */
export const READ_LIMITS = {
  /** `stores.json`, `projects.json`, `agents.json`, `remotes.json`, `host.json`. */
  operator_file: 4 * MIB,
  /** What the daemon keeps across restarts, such as the incidents and the counts of the loop breaker. */
  state_file: 64 * MIB,
  /** Files in the directory of a run, where its worker can write too; prompts are the longest. */
  run_file: 32 * MIB,
  /** Settings and trust of an agent program; some keep every project in theirs. */
  harness_config: 64 * MIB,
  /** One file of a skill. */
  skill_file: 4 * MIB,
  /** Files of one line or one record: locks, pointers to work trees, programs we wrote. */
  short_file: 64 * KIB,
  /** The token counts of a session; it grows with the number of its answers. */
  spend_cache: 64 * MIB,
  /** The index of events; it is smaller than the two ledger files that it covers. */
  events_index: 256 * MIB,
  /** What another host answered; what is longer is not taken from it. */
  remote_copy: 33 * MIB,
  /** The end of the daemon’s log. */
  log_end: 32 * MIB,
} as const;
