// @ts-check
// Plain JavaScript, because `svc hook commit` loads it.
'use strict';

/**
 * One line of `commits.jsonl`; `at` in milliseconds.
 *
 * @typedef {object} CommitLine
 * @property {number} at
 * @property {'commit'} kind
 * @property {string} sha
 * @property {string} subject
 * @property {string} repo
 * @property {number} files
 * @property {number} insertions
 * @property {number} deletions
 * @property {string | null} session
 * @property {string | null} mux
 * @property {string} cwd
 */

/**
 * What Git reports about a commit; `committed_at` in milliseconds.
 *
 * @typedef {object} LastCommit
 * @property {number} committed_at
 * @property {string} sha
 * @property {string} subject
 * @property {number} files
 * @property {number} insertions
 * @property {number} deletions
 */

/** Arguments of the one `git` call that describes the last commit; `parseLastCommit` parses its output. */
const LAST_COMMIT = ['log', '-1', '--no-color', '--encoding=UTF-8', '--format=%H%n%ct%n%s', '--shortstat'];

/** Of the call that names the top of the work tree. */
const TOP = ['rev-parse', '--show-toplevel'];

/**
 * Parses the output of `git log` with `LAST_COMMIT`; null for anything else.
 *
 * @param {string} text
 * @returns {LastCommit | null}
 */
function parseLastCommit(text) {
  const [sha = '', seconds = '', subject = '', ...rest] = text.split('\n');
  if (!/^[0-9a-f]{40,64}$/.test(sha) || !/^\d+$/.test(seconds)) return null;
  const stat = rest.join(' ');
  /** @param {RegExp} pattern */
  const count = (pattern) => Number(pattern.exec(stat)?.[1] ?? 0);
  return {
    committed_at: Number(seconds) * 1_000,
    sha,
    subject,
    files: count(/(\d+) files? changed/),
    insertions: count(/(\d+) insertions?\(\+\)/),
    deletions: count(/(\d+) deletions?\(-\)/),
  };
}

module.exports = { LAST_COMMIT, TOP, parseLastCommit };
