// @ts-check
// Plain JavaScript, because hooks load it. The messages component writes a mailbox, and hooks take from it.
'use strict';
const { join } = require('node:path');

/**
 * A message that waits in the mailbox of its session to be added as context.
 *
 * @typedef {object} WaitingContext
 * @property {1} version
 * @property {string} message_id
 * @property {string} session id of the conversation, as its program reports it
 * @property {string} text what the agent reads
 * @property {string} marker what only the text of this message contains
 * @property {string | null} transcript path of the transcript; null if it had none yet
 * @property {number} offset size of the transcript when the message was put here
 *
 * The agent process whose hook took an entry; `start` is opaque and only compared.
 * @typedef {{ pid: number, start: string }} Taker
 *
 * An entry by its file name; `taker` is null while it waits, and has the pid 0 if the process is not known.
 * @typedef {{ entry: string, taker: Taker | null }} EntryName
 */

const CONTEXT_LIMITS = {
  /** Messages in one mailbox. */
  messages: 32,
  /** Bytes that one hook adds: programs cut longer output off, from about 10,000 on. */
  output_bytes: 8 * 1024,
};

/** Told to a hook whose output its program reads; one that another version set up loses its output, and takes nothing. */
const CONTEXT_FLAG = '--context';

const SESSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,150}$/;
const NAME = /^(\d{15}-[0-9a-f]{16})\.(?:waiting|taken-(\d+)-(\w*))$/;

/**
 * The folder of the mailbox of a session, which exists only while something is in it; null for an id that cannot be the
 * name of a folder.
 *
 * @param {string} messages_dir
 * @param {string} harness
 * @param {string} session
 */
function mailboxFolder(messages_dir, harness, session) {
  return SESSION.test(session) ? join(messages_dir, 'context', `${harness}-${session}`) : null;
}

/**
 * @param {string} name
 * @returns {EntryName | null}
 */
function parseEntryName(name) {
  const [, entry, pid, start = ''] = NAME.exec(name) ?? [];
  if (entry === undefined) return null;
  return { entry, taker: pid === undefined ? null : { pid: Number(pid), start } };
}

/** @param {EntryName} name */
function printEntryName({ entry, taker }) {
  return taker === null ? `${entry}.waiting` : `${entry}.taken-${taker.pid}-${taker.start}`;
}

module.exports = { CONTEXT_FLAG, CONTEXT_LIMITS, mailboxFolder, parseEntryName, printEntryName };
