// @ts-check
'use strict';
const { execFile } = require('node:child_process');
const { appendLine } = require('../../ledgers/append-line.cjs');
const { LAST_COMMIT, parseLastCommit } = require('./commit-line.cjs');
const { endOfFile } = require('./read-file.cjs');
const { ledgerPath, muxSessionOf, runSession } = require('./surroundings.cjs');

/** Timeout of Git, in milliseconds. */
const GIT_MS = 1_000;
const MOST_OUTPUT_BYTES = 64 * 1024;
/** Maximum age, in milliseconds, of a commit by a tool call that has just ended. */
const FRESH_COMMIT_MS = 10 * 60_000;
/** How much of the end of `commits.jsonl` is searched for the same commit. */
const LOOK_BACK_BYTES = 64 * 1024;

/**
 * Records the last commit of the work tree unless the ledger has it. With a `session`, which may have made it, a commit
 * that is too old for its tool call is not recorded.
 *
 * @param {{ env: NodeJS.ProcessEnv, cwd: string, now: () => number }} context
 * @param {string | null} session
 * @returns {Promise<void>}
 */
async function recordCommit({ env, cwd, now }, session) {
  /** @param {readonly string[]} args */
  const git = (args) => gitIn(cwd, env, args);
  const [log, top] = await Promise.all([git(LAST_COMMIT), git(['rev-parse', '--show-toplevel'])]);
  const commit = log === null || top === null ? null : parseLastCommit(log);
  if (commit === null || top === null) return;
  const { committed_at, ...facts } = commit;
  const path = ledgerPath(env, 'commits');
  if (session !== null && committed_at < now() - FRESH_COMMIT_MS) return;
  if (await endsWith(path, facts.sha)) return;
  /** @type {import('./commit-line.cjs').CommitLine} */
  const line = {
    at: now(),
    kind: 'commit',
    ...facts,
    repo: top.replace(/\n$/, ''),
    session: session ?? (await runSession(env)),
    mux: await muxSessionOf(env),
    cwd,
  };
  await appendLine(path, line);
}

/**
 * The output of Git; null if it failed, timed out or is not installed. Does not use `platform/process.ts`, because
 * loading it takes longer than running Git.
 *
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @param {readonly string[]} args
 * @returns {Promise<string | null>}
 */
function gitIn(cwd, env, args) {
  const bounds = /** @type {const} */ ({
    timeout: GIT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MOST_OUTPUT_BYTES,
  });
  return new Promise((resolve) => {
    execFile('git', args, { cwd, env, ...bounds }, (error, out) => resolve(error === null ? out : null));
  });
}

/**
 * True if the last lines of a ledger contain this commit. The index ignores duplicates that this check misses.
 *
 * @param {string} path
 * @param {string} sha
 */
async function endsWith(path, sha) {
  return (await endOfFile(path, LOOK_BACK_BYTES))?.includes(`"sha":"${sha}"`) ?? false;
}

module.exports = { recordCommit };
