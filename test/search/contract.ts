/** What one search found that must not happen. */
export type Finding = {
  /** What was done, what was seen, and what was expected, in one line. */
  title: string;
  /** One shell command, run at the root of the checkout, that shows it again. */
  replay: string;
};

export type SearchReport = { cases: number; findings: Finding[] };

export type SearchOptions = {
  /** Two searches with the same seed try the same cases in the same order. */
  seed: string;
  /** When to stop, in milliseconds since the Unix epoch; the case under way may be finished. */
  until_ms: number;
  signal: AbortSignal;
  /** Try this case alone; what it is called is up to the search. */
  only_case?: string;
  /** Tells a person what happens, one line at a time. */
  log(line: string): void;
};

/** What `test/search/<name>/search.ts` exports. */
export type Search = {
  name: string;
  search(options: SearchOptions): Promise<SearchReport>;
};
