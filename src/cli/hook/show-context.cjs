// @ts-check
// Loads what takes context only where some waits: nearly every call ends with the first look.
'use strict';
const { existsSync } = require('node:fs');
const { mailboxFolder } = require('../../harness/hooks/context-mailbox.cjs');

/**
 * The events whose output joins a turn that runs or begins. Not `Stop`: context there makes the model take another round.
 * Not `SessionStart`: it starts no turn, and a fork reports its parent's session there.
 */
const EVENTS = new Set(['UserPromptSubmit', 'PostToolUse', 'BeforeAgentStart']);

/**
 * What a hook prints so that its program adds the waiting messages of the session as context; null if there is nothing to
 * print.
 *
 * @param {string} messages_dir
 * @param {string} harness
 * @param {unknown} input
 * @returns {Promise<string | null>}
 */
async function contextOutput(messages_dir, harness, input) {
  const { hook_event_name, session_id, agent_id, transcript_path } = /** @type {Record<string, unknown>} */ (
    input ?? {}
  );
  // A sub-agent has a conversation of its own.
  if (!EVENTS.has(String(hook_event_name)) || typeof session_id !== 'string' || agent_id !== undefined)
    return null;
  const mailbox = mailboxFolder(messages_dir, harness, session_id);
  if (mailbox === null || !existsSync(mailbox)) return null;
  const { takeContext } = require('./take-context.cjs');
  const transcript = typeof transcript_path === 'string' ? transcript_path : null;
  const { agentProcess, hasEnded } = require('./agent-process.cjs');
  const taker = () => agentProcess(process.ppid);
  const texts = await takeContext(mailbox, { session: session_id, transcript, taker, hasEnded });
  if (texts.length === 0) return null;
  return JSON.stringify({
    hookSpecificOutput: { hookEventName: hook_event_name, additionalContext: texts.join('\n\n') },
  });
}

module.exports = { contextOutput };
