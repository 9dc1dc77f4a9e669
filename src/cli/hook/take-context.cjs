// @ts-check
'use strict';
const fs = require('node:fs');
const { join } = require('node:path');
const { promisify } = require('node:util');
const { CONTEXT_LIMITS, parseEntryName, printEntryName } = require('../../harness/hooks/context-mailbox.cjs');
const { endOfFile, fileContains } = require('./read-file.cjs');

const open = promisify(fs.open);
const fsync = promisify(fs.fsync);
const close = promisify(fs.close);
const readdir = promisify(fs.readdir);
const rename = promisify(fs.rename);
const rmdir = promisify(fs.rmdir);
const unlink = promisify(fs.unlink);

/** @typedef {import('../../harness/hooks/context-mailbox.cjs').WaitingContext} WaitingContext */
/** @typedef {import('../../harness/hooks/context-mailbox.cjs').EntryName} EntryName */

/** An entry holds one text, which JSON may write six times as long. */
const MOST_ENTRY_BYTES = 64 * 1024;
/** How much of a transcript is searched for an entry whose taker still runs; it is searched again later. */
const MOST_SEARCHED_BYTES = 4 * 1024 * 1024;

/** @typedef {import('../../harness/hooks/context-mailbox.cjs').Taker} Taker */
/**
 * Who asks. `transcript`: its path, as the program reports it; `taker`: the agent process, null if it is not known;
 * `hasEnded`: true only if such a process has certainly ended.
 *
 * @typedef {object} Asking
 * @property {string} session
 * @property {string | null} transcript
 * @property {() => Promise<Taker | null>} taker
 * @property {(taker: Taker) => Promise<boolean>} hasEnded
 */

/**
 * Takes the texts that wait in a mailbox, oldest first, as many as one output holds. Each text is taken once: a rename
 * decides who has it, and is durable before the text is returned. One that was taken by an agent process that has ended
 * since is taken again if the transcript does not contain it; one that the transcript contains is removed.
 *
 * @param {string} mailbox
 * @param {Asking} asking
 * @returns {Promise<string[]>}
 */
async function takeContext(mailbox, asking) {
  const names = await readdir(mailbox).catch(() => null);
  if (names === null) return [];
  /** @type {string[]} */
  const waiting = [];
  for (const name of names.sort()) {
    const parsed = parseEntryName(name);
    if (parsed !== null && (await isWaiting(mailbox, parsed, asking))) waiting.push(parsed.entry);
  }
  const texts = waiting.length === 0 ? [] : await takeAll(mailbox, waiting.sort(), asking);
  if (texts.length === 0) await rmdir(mailbox).catch(() => {});
  else await syncFolder(mailbox);
  return texts;
}

/**
 * @param {string} mailbox
 * @param {readonly string[]} waiting
 * @param {Asking} asking
 */
async function takeAll(mailbox, waiting, asking) {
  const taker = (await asking.taker()) ?? { pid: 0, start: '' };
  const texts = [];
  let bytes = 0;
  for (const entry of waiting) {
    const from = join(mailbox, printEntryName({ entry, taker: null }));
    const context = await readEntry(from);
    // Where names differ by case alone, two sessions may share a folder.
    if (context === null || context.session !== asking.session) continue;
    bytes += Buffer.byteLength(context.text);
    if (bytes > CONTEXT_LIMITS.output_bytes) break;
    if (await moved(from, join(mailbox, printEntryName({ entry, taker })))) texts.push(context.text);
  }
  return texts;
}

/**
 * True for an entry that waits, or waits again.
 *
 * @param {string} mailbox
 * @param {EntryName} name
 * @param {Asking} asking
 */
async function isWaiting(mailbox, { entry, taker }, { transcript, hasEnded }) {
  if (taker === null) return true;
  const path = join(mailbox, printEntryName({ entry, taker }));
  const context = await readEntry(path);
  if (context === null) return false;
  try {
    const ended = await hasEnded(taker);
    const most = ended ? Number.POSITIVE_INFINITY : MOST_SEARCHED_BYTES;
    if (!(await isShown(context, transcript, most)))
      return ended && (await moved(path, join(mailbox, printEntryName({ entry, taker: null }))));
    await unlink(path);
  } catch {
    // Where it cannot be told what was shown, nothing is shown again.
  }
  return false;
}

/**
 * @param {WaitingContext} context
 * @param {string | null} transcript of the session now
 * @param {number} most
 */
async function isShown({ marker, transcript: known, offset }, transcript, most) {
  if (known !== null && (await fileContains(known, offset, marker, most))) return true;
  return transcript !== null && transcript !== known && (await fileContains(transcript, 0, marker, most));
}

/**
 * @param {string} path
 * @returns {Promise<WaitingContext | null>}
 */
async function readEntry(path) {
  try {
    const entry = JSON.parse((await endOfFile(path, MOST_ENTRY_BYTES)) ?? '');
    return entry.version === 1 && typeof entry.text === 'string' ? entry : null;
  } catch {
    return null;
  }
}

/**
 * False if another hook was first.
 *
 * @param {string} from
 * @param {string} to
 */
async function moved(from, to) {
  return rename(from, to).then(
    () => true,
    (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
}

/** @param {string} folder */
async function syncFolder(folder) {
  const fd = await open(folder, 'r');
  try {
    await fsync(fd);
  } finally {
    await close(fd);
  }
}

module.exports = { takeContext };
