// @ts-check
'use strict';
const { execFile, spawnSync } = require('node:child_process');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { CONTEXT_FLAG } = require('../../harness/hooks/context-mailbox.cjs');
const { LAST_COMMIT, TOP } = require('../../ledgers/commit-line.cjs');
const { readInput } = require('./read-input.cjs');
const { contextOutput } = require('./show-context.cjs');

/** Timeout of the whole hook, in milliseconds; an agent waits for it. */
const LIMIT_MS = 2_000;
/** The timeout counts timer ticks, which stop while the process is not scheduled, so a busy machine loses no event. */
const TICK_MS = 50;
/** Timeout of Git, in milliseconds. */
const GIT_MS = 1_000;
const MOST_OUTPUT_BYTES = 64 * 1024;

/**
 * `script`: path of `svc-hook.sh`.
 *
 * @typedef {{ env: NodeJS.ProcessEnv, cwd: string, script: string }} HookContext
 */

/**
 * `svc hook event`, `svc hook context` and `svc hook commit`, separate from the other verbs: an agent waits for them, so they
 * load very little. On any error they end in time and exit with 0. They print nothing but context that waits for the session.
 *
 * @param {readonly string[]} argv
 * @param {HookContext} context
 * @returns {Promise<void>}
 */
async function runHook(argv, context) {
  let ticks = 0;
  const watchdog = setInterval(() => {
    ticks += 1;
    if (ticks * TICK_MS >= LIMIT_MS) giveUp();
  }, TICK_MS);
  try {
    const harness = harnessOf(argv, context.env);
    const event = argv[0] === 'commit' ? await lastCommit(context) : await readInput();
    if (event !== null && argv[0] !== 'context') leave(event, harness, context);
    // Last, so that nothing delays the end of the hook once context was taken.
    if (argv[0] === 'context' || argv.includes(CONTEXT_FLAG)) await showContext(event, harness, context.env);
  } catch {
    // An agent must not notice the loss of its event.
  } finally {
    clearInterval(watchdog);
  }
}

/**
 * Exits with 0 even if a file operation hangs. `process.exit` would wait for the blocked thread, so this process replaces
 * itself with a program that only exits with 0.
 */
function giveUp() {
  for (const program of ['/bin/true', '/usr/bin/true']) {
    try {
      if (existsSync(program)) process.execve?.(program, [program], {});
    } catch {
      // Try the next program; the last resort follows.
    }
  }
  process.kill(process.pid, 'SIGKILL');
}

/**
 * Passes an event on to the script, which is the one place that says how events are left for the daemon.
 *
 * @param {unknown} event
 * @param {string} harness
 * @param {HookContext} context
 */
function leave(event, harness, { env, script }) {
  const bounds = /** @type {const} */ ({ timeout: LIMIT_MS, killSignal: 'SIGKILL' });
  spawnSync('/bin/sh', [script, harness], { env, input: JSON.stringify(event), ...bounds });
}

/**
 * Asks Git at once: at the next commit the last one is another.
 *
 * @param {HookContext} context
 */
async function lastCommit({ env, cwd }) {
  /** @param {readonly string[]} args */
  const git = (args) => gitIn(cwd, env, args);
  const [log, top] = await Promise.all([git(LAST_COMMIT), git(TOP)]);
  return log === null || top === null ? null : { hook_event_name: 'Commit', cwd, log, top };
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
 * @param {unknown} input
 * @param {string} harness
 * @param {NodeJS.ProcessEnv} env
 */
async function showContext(input, harness, env) {
  const data_dir = given(env.SVC_DATA_DIR) ?? join(given(env.HOME) ?? require('node:os').homedir(), '.svc');
  const output = await contextOutput(join(data_dir, 'messages'), harness, input);
  if (output !== null) await new Promise((resolve) => process.stdout.write(output, resolve));
}

/**
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 */
function harnessOf(argv, env) {
  const at = argv.indexOf('--harness');
  return (at === -1 ? undefined : argv[at + 1]) ?? given(env.SVC_HARNESS) ?? 'claude';
}

/**
 * @param {string | undefined} value
 * @returns {string | null}
 */
function given(value) {
  return value === undefined || value.trim() === '' ? null : value;
}

module.exports = { runHook };
