// @ts-check
// Plain JavaScript, because the process that checks disks loads it and must start within a few milliseconds.
'use strict';
const { lstatSync, readFileSync, readlinkSync, statfsSync } = require('node:fs');
const { dirname } = require('node:path');

/** @typedef {{ point: string, type: string }} Mount */
/**
 * The result of a walk. `elsewhere`: the path at which it left the mount; nothing beyond was accessed. In `real` every
 * symlink is resolved; `tree` is the nearest folder at or above a directory that has a `.git`.
 * @typedef {{ kind: 'elsewhere', path: string }
 *   | { kind: 'directory' | 'file' | 'other', real: string, tree?: string }
 *   | { kind: 'missing' }
 *   | { kind: 'unreadable', detail: string }} Walked
 */

/** Maximum number of links, as in the kernel. */
const MOST_LINKS = 40;
/** Folders with mounts on a system without a mount table; each folder below one counts as a mount. */
const MOUNT_FOLDERS = ['/Volumes', '/net', '/home', '/Network', '/System/Volumes'];

/** @returns {Mount[] | null} the mounts of this process; null if the system has no mount table */
function readMounts() {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return null;
  }
}

/**
 * @param {string} table the text of `/proc/self/mountinfo`
 * @returns {Mount[]} a later mount at the same point hides an earlier one
 */
function parseMounts(table) {
  const mounts = new Map();
  for (const line of table.split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const point = before.split(' ')[4];
    if (point === undefined) continue;
    const name = point.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    mounts.set(name, { point: name, type: after.split(' ')[0] ?? '' });
  }
  return [...mounts.values()];
}

/**
 * The mount of a path, by its text alone: no disk is accessed, so links are not followed.
 * @param {string} path absolute
 * @param {readonly Mount[] | null} mounts
 * @returns {Mount}
 */
function mountOf(path, mounts) {
  const certain = beforeParent(path);
  if (mounts === null) {
    const folder = MOUNT_FOLDERS.find((one) => certain.startsWith(`${one}/`));
    const name = folder === undefined ? undefined : certain.slice(folder.length + 1).split('/')[0];
    return { point: name === undefined || name === '' ? '/' : `${folder}/${name}`, type: '' };
  }
  let found = { point: '/', type: '' };
  for (const mount of mounts) {
    const below = mount.point === '/' ? '/' : `${mount.point}/`;
    const holds = certain === mount.point || certain.startsWith(below);
    if (holds && (found.type === '' || mount.point.length > found.point.length)) found = mount;
  }
  return found;
}

/**
 * The part of a path before its first `..`, which only a walk can resolve; without `.` and empty parts.
 * @param {string} path
 */
function beforeParent(path) {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const parent = parts.indexOf('..');
  return `/${(parent === -1 ? parts : parts.slice(0, parent)).join('/')}`;
}

/**
 * Queries the file system itself, bypassing the kernel's caches; throws the system error.
 * @param {string} point
 */
function askDisk(point) {
  statfsSync(point);
}

/**
 * Follows a path one part at a time and stops before a mount that it may not enter.
 * @param {string} path absolute
 * @param {readonly Mount[] | null} mounts
 * @param {(point: string) => boolean} mayEnter told the point of a mount
 * @returns {Walked}
 */
function walk(path, mounts, mayEnter) {
  let { point } = mountOf(path, mounts);
  if (!mayEnter(point)) return { kind: 'elsewhere', path };
  let { at, rest } = start(path, point, mounts);
  let links = 0;
  try {
    let stats = lstatSync(at);
    while (rest.length > 0) {
      const part = rest.shift() ?? '';
      if (part === '' || part === '.') continue;
      if (!stats.isDirectory()) return { kind: 'missing' };
      const next = part === '..' ? dirname(at) : `${at === '/' ? '' : at}/${part}`;
      const on = mountOf(next, mounts).point;
      if (!mayEnter(on)) return { kind: 'elsewhere', path: [next, ...rest].join('/') };
      const found = lstatSync(next);
      if (!found.isSymbolicLink()) {
        at = next;
        point = on;
        stats = found;
        continue;
      }
      links += 1;
      if (links > MOST_LINKS) return { kind: 'unreadable', detail: 'ELOOP' };
      const target = readlinkSync(next);
      const onward = [target.startsWith('/') ? target : `${at}/${target}`, ...rest].join('/');
      ({ point } = mountOf(onward, mounts));
      if (!mayEnter(point)) return { kind: 'elsewhere', path: onward };
      ({ at, rest } = start(onward, point, mounts));
      stats = lstatSync(at);
    }
    if (!stats.isDirectory()) return { kind: stats.isFile() ? 'file' : 'other', real: at };
    const tree = workTreeOf(at, point);
    return { kind: 'directory', real: at, ...(tree === null ? {} : { tree }) };
  } catch (error) {
    const code = /** @type {{ code?: string }} */ (error).code ?? 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    return { kind: 'unreadable', detail: code };
  }
}

/**
 * The nearest folder at or above this one, on its mount, that has a `.git`; null if none has.
 * @param {string} folder
 * @param {string} point
 * @returns {string | null}
 */
function workTreeOf(folder, point) {
  for (let at = folder; ; at = dirname(at)) {
    if (lstatSync(`${at === '/' ? '' : at}/.git`, { throwIfNoEntry: false }) !== undefined) return at;
    if (at === point || at === '/') return null;
  }
}

/**
 * The start of a walk. A mount point of the kernel's table contains no links; without a table it may.
 * @param {string} path
 * @param {string} point
 * @param {readonly Mount[] | null} mounts
 */
function start(path, point, mounts) {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const skipped = mounts === null || point === '/' ? 0 : point.split('/').length - 1;
  return { at: skipped === 0 ? '/' : point, rest: parts.slice(skipped) };
}

module.exports = { askDisk, mountOf, parseMounts, readMounts, walk };
