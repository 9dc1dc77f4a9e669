/** One line of `commits.jsonl`; `at` in milliseconds. */
export type CommitLine = {
  at: number;
  kind: 'commit';
  sha: string;
  subject: string;
  repo: string;
  files: number;
  insertions: number;
  deletions: number;
  session: string | null;
  mux: string | null;
  cwd: string;
};

/** What Git tells of a commit; `committed_at` in milliseconds. */
export type LastCommit = Pick<CommitLine, 'sha' | 'subject' | 'files' | 'insertions' | 'deletions'> & {
  committed_at: number;
};

/** Arguments of the one `git` call that tells of the last commit; `parseLastCommit` reads its answer. */
export const LAST_COMMIT = ['log', '-1', '--no-color', '--format=%H%n%ct%n%s', '--shortstat'] as const;

/** What `git log` with `LAST_COMMIT` printed; null for anything else. */
export function parseLastCommit(text: string): LastCommit | null {
  const [sha = '', seconds = '', subject = '', ...rest] = text.split('\n');
  if (!/^[0-9a-f]{40,64}$/.test(sha) || !/^\d+$/.test(seconds)) return null;
  const stat = rest.join(' ');
  const count = (pattern: RegExp) => Number(pattern.exec(stat)?.[1] ?? 0);
  return {
    committed_at: Number(seconds) * 1_000,
    sha,
    subject,
    files: count(/(\d+) files? changed/),
    insertions: count(/(\d+) insertions?\(\+\)/),
    deletions: count(/(\d+) deletions?\(-\)/),
  };
}
