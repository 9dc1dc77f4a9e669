// @ts-check
'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { appendLine, ROTATE_BYTES } = require('../../ledgers/append-line.cjs');
const { commitTold, eventLine, failedTurnLine, sessionStartLine, toldAt } = require('./event-line.cjs');
const { randomId } = require('./random-id.cjs');
const { readInput } = require('./read-input.cjs');
const { CONTEXT_FLAG } = require('../../harness/hooks/context-mailbox.cjs');
const { harnessOf, hostOf, ledgerPath, messagesDir, muxSessionOf, runDirOf } = require('./surroundings.cjs');

/** Timeout of the whole hook, in milliseconds; an agent waits for it. */
const LIMIT_MS = 2_000;
/** The timeout counts timer ticks, which stop while the process is not scheduled, so a busy machine loses no event. */
const TICK_MS = 50;

/** @typedef {{ env: NodeJS.ProcessEnv, cwd: string, now: () => number }} HookContext */

/**
 * `svc hook event` and `svc hook commit`, separate from the other verbs: an agent waits for them, so they load very
 * little. On any error they end in time and exit with 0. They
 * print nothing but context that waits for the session.
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
    if (argv[0] === 'event') await recordEvent(argv.slice(1), context);
    else if (argv[0] === 'commit') await recordLastCommit(context, null);
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
 * @param {readonly string[]} argv
 * @param {HookContext} context
 */
async function recordEvent(argv, context) {
  const { env } = context;
  const surroundings = Promise.all([muxSessionOf(env), hostOf(env), runDirOf(env)]);
  const input = await readInput();
  const now = toldAt(input, context.now());
  const [mux_session, host, runDir] = await surroundings;
  const event = eventLine(input, { id: randomId(), now, harness: harnessOf(argv, env), mux_session, host });
  const writes = runDir === null ? [] : await runLines(runDir, input, now);
  if (event !== null) writes.push(appendLine(ledgerPath(env, 'events'), event, ROTATE_BYTES));
  await Promise.allSettled(writes);
  const told = commitTold(input);
  if (told !== null) await recordLastCommit({ ...context, cwd: told.folder }, told.session);
  if (argv.includes(CONTEXT_FLAG)) await showContext(input, harnessOf(argv, env), env);
}

/**
 * Loads what records a commit only where there is one: most hooks tell of none.
 *
 * @param {HookContext} context
 * @param {string | null} session
 */
function recordLastCommit(context, session) {
  const { recordCommit } = require('./record-commit.cjs');
  return recordCommit(context, session);
}

/**
 * Last, so that nothing delays the end of the hook once context was taken.
 *
 * @param {unknown} input
 * @param {string} harness
 * @param {NodeJS.ProcessEnv} env
 */
async function showContext(input, harness, env) {
  const { contextOutput } = require('./show-context.cjs');
  const output = await contextOutput(messagesDir(env), harness, input);
  if (output !== null) await new Promise((resolve) => process.stdout.write(output, resolve));
}

/**
 * The lines that the run itself records for the event.
 *
 * @param {string} runDir
 * @param {unknown} input
 * @param {number} now
 */
async function runLines(runDir, input, now) {
  const { phaseLine } = require('./phase-line.cjs');
  const start = sessionStartLine(input, now);
  const phase = phaseLine(input, now);
  const failed = failedTurnLine(input, now);
  const writes = [];
  if (start !== null) writes.push(appendLine(join(runDir, 'sessions.jsonl'), start));
  if (phase !== null) writes.push(appendLine(join(runDir, 'phases.jsonl'), phase));
  if (failed !== null && (await isLimit(failed.notice)))
    writes.push(appendLine(join(runDir, 'usage-limits.jsonl'), failed));
  return writes;
}

/**
 * Loads the rule only for a failed turn; other notices are not recorded.
 *
 * @param {string} notice
 */
async function isLimit(notice) {
  const rule = await import('../../harness/transcripts/usage-limit.ts');
  return rule.isLimit(notice);
}

module.exports = { runHook };
