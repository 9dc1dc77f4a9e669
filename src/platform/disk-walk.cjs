// @ts-check
// Plain JavaScript, because the process that looks at disks loads it, and is to start in as few milliseconds as it can.
'use strict';
const { lstatSync, readFileSync, readlinkSync, statfsSync } = require('node:fs');
const { dirname } = require('node:path');

/** @typedef {{ point: string, type: string }} Mount */
/**
 * What a walk found: `elsewhere` names the path at which it left the mount, with nothing beyond touched; `real` has
 * every link resolved.
 * @typedef {{ kind: 'elsewhere', path: string }
 *   | { kind: 'directory' | 'file' | 'other', real: string }
 *   | { kind: 'missing' }
 *   | { kind: 'unreadable', detail: string }} Walked
 */

/** As many links as the kernel follows. */
const MOST_LINKS = 40;
/** Where a system without a mount table puts the disks of others; each folder below one counts as a mount. */
const MOUNT_FOLDERS = ['/Volumes', '/net', '/home', '/Network', '/System/Volumes'];

/** @returns {Mount[] | null} the mounts of this process; null where the system has no table of them */
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
 * The mount that a path begins in, told by its text alone: nothing is touched, so links are not followed.
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
 * The part of a path before its first `..`, which only a walk can follow; without `.` and empty parts.
 * @param {string} path
 */
function beforeParent(path) {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const parent = parts.indexOf('..');
  return `/${(parent === -1 ? parts : parts.slice(0, parent)).join('/')}`;
}

/**
 * Asks the file system itself, past what the kernel remembers of it; throws what the system says.
 * @param {string} point
 */
function askDisk(point) {
  statfsSync(point);
}

/**
 * Follows a path one part at a time and stops where it leaves the mount that it begins in.
 * @param {string} path absolute
 * @param {readonly Mount[] | null} mounts
 * @returns {Walked}
 */
function walk(path, mounts) {
  const { point } = mountOf(path, mounts);
  let { at, rest } = start(path, point, mounts);
  let links = 0;
  try {
    let stats = lstatSync(at);
    while (rest.length > 0) {
      const part = rest.shift() ?? '';
      if (part === '' || part === '.') continue;
      if (!stats.isDirectory()) return { kind: 'missing' };
      const next = part === '..' ? dirname(at) : `${at === '/' ? '' : at}/${part}`;
      if (mountOf(next, mounts).point !== point)
        return { kind: 'elsewhere', path: [next, ...rest].join('/') };
      const found = lstatSync(next);
      if (!found.isSymbolicLink()) {
        at = next;
        stats = found;
        continue;
      }
      links += 1;
      if (links > MOST_LINKS) return { kind: 'unreadable', detail: 'ELOOP' };
      const target = readlinkSync(next);
      const onward = [target.startsWith('/') ? target : `${at}/${target}`, ...rest].join('/');
      if (mountOf(onward, mounts).point !== point) return { kind: 'elsewhere', path: onward };
      ({ at, rest } = start(onward, point, mounts));
      stats = lstatSync(at);
    }
    return { kind: stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'other', real: at };
  } catch (error) {
    const code = /** @type {{ code?: string }} */ (error).code ?? 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    return { kind: 'unreadable', detail: code };
  }
}

/**
 * Where a walk begins. A mount point of the kernel's table has no links in it; without a table nobody can tell.
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
