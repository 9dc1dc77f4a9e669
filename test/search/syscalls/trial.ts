/** One run of the project's own program in which a system call fails. */
export type Trial = {
  /** What `--case` takes. */
  id: string;
  /** For a person: the call and its path. */
  what: string;
  /** The call changes what is on disk. */
  changes: boolean;
  /** `hit` is false where the run never made the call. */
  run(): Promise<{ hit: boolean; problems: string[] }>;
};
