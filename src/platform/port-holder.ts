import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** The process that listens on a port. `command` is its command line, cut to 160 characters. */
export type PortHolder = { pid: number; command: string };

const LISTENING = '0A';
const COMMAND_LENGTH = 160;

/**
 * Finds who listens on a TCP port of this machine, on either IP version (P34). Null if it cannot be found: no `/proc`,
 * a listener that belongs to another user, or no listener at all.
 */
export async function findPortHolder(port: number, proc = '/proc'): Promise<PortHolder | null> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readOrEmpty(join(proc, 'net', name))));
  const sockets = new Set(
    tables.flatMap((table) => listeningInodes(table, port)).map((inode) => `socket:[${inode}]`),
  );
  if (sockets.size === 0) return null;
  for (const entry of await listOrEmpty(proc)) {
    if (!/^\d+$/.test(entry) || !(await holdsSocket(join(proc, entry, 'fd'), sockets))) continue;
    return { pid: Number(entry), command: await commandOf(join(proc, entry)) };
  }
  return null;
}

/** Inodes of the sockets that listen on `port`, from the text of `/proc/net/tcp` or `tcp6`. */
export function listeningInodes(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes: string[] = [];
  for (const line of table.split('\n')) {
    const columns = line.trim().split(/\s+/);
    const [, local, , state] = columns;
    const inode = columns[9];
    if (local === undefined || inode === undefined || inode === '0') continue;
    if (local.endsWith(suffix) && state === LISTENING) inodes.push(inode);
  }
  return inodes;
}

async function holdsSocket(folder: string, sockets: ReadonlySet<string>): Promise<boolean> {
  for (const fd of await listOrEmpty(folder)) {
    const target = await readlink(join(folder, fd)).catch(() => '');
    if (sockets.has(target)) return true;
  }
  return false;
}

async function commandOf(folder: string): Promise<string> {
  const line = (await readOrEmpty(join(folder, 'cmdline'))).replace(/[\0\s]+/g, ' ').trim();
  if (line !== '') return line.slice(0, COMMAND_LENGTH);
  return (await readOrEmpty(join(folder, 'comm'))).trim();
}

function readOrEmpty(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

function listOrEmpty(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}
