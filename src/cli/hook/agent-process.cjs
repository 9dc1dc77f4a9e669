// @ts-check
// Reads like `platform/process-facts.ts`, without loading its modules.
'use strict';
const { execFile } = require('node:child_process');
const { readFile } = require('node:fs');

/** @typedef {import('../../harness/hooks/context-mailbox.cjs').Taker} Taker */
/** @typedef {{ parent: number, name: string, state: string, start: string }} ProcessRow */

/** What a program may put between itself and its hook. */
const SHELLS = new Set([
  'sh',
  'ash',
  'bash',
  'busybox',
  'dash',
  'env',
  'fish',
  'ksh',
  'mksh',
  'timeout',
  'zsh',
]);
const MOST_SHELLS = 8;
const PS_MS = 1_000;

/**
 * The agent process that runs this hook: the nearest process above it that is no shell. Null if the system does not tell.
 *
 * @param {number} pid of the process above the hook
 * @returns {Promise<Taker | null>}
 */
async function agentProcess(pid) {
  for (let above = pid, count = 0; above > 1 && count < MOST_SHELLS; count += 1) {
    const row = await lookUp(above);
    if (row === null || row === 'gone') return null;
    if (!SHELLS.has(row.name)) return { pid: above, start: row.start };
    above = row.parent;
  }
  return null;
}

/**
 * True only if the process has certainly ended.
 *
 * @param {Taker} taker
 */
async function hasEnded({ pid, start }) {
  if (pid <= 1) return false;
  const row = await lookUp(pid);
  if (row === null) return false;
  return row === 'gone' || row.start !== start || /^[ZXx]/.test(row.state);
}

/**
 * Null if the system does not tell.
 *
 * @param {number} pid
 * @returns {Promise<ProcessRow | 'gone' | null>}
 */
function lookUp(pid) {
  return process.platform === 'linux' ? inProc(pid) : withPs(pid);
}

/**
 * @param {number} pid
 * @returns {Promise<ProcessRow | 'gone' | null>}
 */
function inProc(pid) {
  return new Promise((resolve) => {
    readFile(`/proc/${pid}/stat`, 'utf8', (error, text) => {
      if (error !== null) return resolve(error.code === 'ENOENT' || error.code === 'ESRCH' ? 'gone' : null);
      // A name may contain spaces and parentheses.
      const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(text) ?? [];
      const [state = '', parent = '', ...others] = rest.split(' ');
      const start = others[17] ?? '';
      resolve(start === '' ? null : { parent: Number(parent), name, state, start });
    });
  });
}

/**
 * @param {number} pid
 * @returns {Promise<ProcessRow | 'gone' | null>}
 */
function withPs(pid) {
  const args = ['-p', String(pid), '-o', 'ppid=,stat=,lstart=,comm='];
  // The start date is a text; fixed zone and language keep it comparable.
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC0' };
  return new Promise((resolve) => {
    execFile('/bin/ps', args, { env, timeout: PS_MS }, (error, out, complaint) => {
      const found = /^\s*(\d+) +(\S+) +(\S+ +\S+ +\d+ +[\d:]+ +\d+) +(.*\S)\s*$/.exec(out);
      if (found !== null) {
        const [, parent = '', state = '', lstart = '', path = ''] = found;
        const name = path.replace(/^.*\//, '').replace(/^-/, '');
        return resolve({ parent: Number(parent), state, name, start: lstart.replace(/\W+/g, '_') });
      }
      resolve(error?.code === 1 && out === '' && complaint === '' ? 'gone' : null);
    });
  });
}

module.exports = { agentProcess, hasEnded };
