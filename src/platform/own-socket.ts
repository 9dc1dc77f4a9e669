import { lstat, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { CodedError, messageOf, systemCode } from '../base/errors.ts';
import { shellWord } from '../base/shell-word.ts';
import type { ServerAddress } from './http-client.ts';
import { lookAtSystemSocket } from './system-socket.ts';
import { dialThrough } from './tailnet-dial.ts';

/** What of an entry of a folder says whether another user may have made it. */
export type EntryFacts = { path: string; kind: 'socket' | 'folder' | 'other'; uid: number; mode: number };

/**
 * Why a Unix socket may be another user's, with the fix; null where it cannot be. `folders` are the real folders
 * that lead to it, its own first; without a socket there is nothing to judge but these.
 */
export function socketFault(
  socket: EntryFacts | null,
  folders: readonly EntryFacts[],
  uid: number,
): string | null {
  if (socket !== null && socket.kind !== 'socket')
    return `${socket.path} is not a socket; remove it, or name another path`;
  if (socket !== null && socket.uid !== uid)
    return `${socket.path} was made by another user (uid ${socket.uid}); have it made by this user, or name another path`;
  const [own] = folders;
  if (own !== undefined && own.uid !== uid && own.uid !== 0)
    return `${own.path} belongs to another user (uid ${own.uid}); put the socket into a folder of this user`;
  for (const folder of folders) {
    if ((folder.mode & 0o022) === 0) continue;
    const is_sticky = (folder.mode & 0o1000) !== 0;
    if (is_sticky && folder !== own) continue;
    return is_sticky
      ? `${folder.path} is shared by all users; put the socket into a folder of this user`
      : `other users can write to ${folder.path}; run: chmod go-w ${shellWord(folder.path)}`;
  }
  return null;
}

/**
 * Where a server answers, for a request to it. `dial` is the socket of the tailscaled that connects to the URL. Throws
 * `invalid_config` for a socket that another user may have made. One that is not there is left to the request, which then
 * fails.
 */
export async function serverAt(
  address: { socket: string } | { url: string; dial?: string | undefined },
): Promise<ServerAddress> {
  if ('url' in address) {
    const { url, dial } = address;
    return dial === undefined ? { url } : { url, connect: await dialler(url, dial) };
  }
  const { socket } = address;
  const fault = await lookAt(socket);
  if (fault === null) return { socketPath: socket };
  throw new CodedError('invalid_config', fault, { details: { path: socket } });
}

async function dialler(url: string, socket: string): Promise<() => Promise<Duplex>> {
  const seen = await lookAtSystemSocket(socket);
  if (seen.state === 'refused')
    throw new CodedError('invalid_config', seen.fault, { details: { path: socket } });
  const { hostname, port } = new URL(url);
  const to = { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 80 : Number(port) };
  return () => dialThrough(socket, to);
}

async function lookAt(path: string): Promise<string | null> {
  try {
    const folders: string[] = [];
    for (let at = await realpath(dirname(path)); at !== folders.at(-1); at = dirname(at)) folders.push(at);
    const [socket, ...above] = await Promise.all([
      factsOf(path).catch((error: unknown) => {
        if (systemCode(error) === 'ENOENT') return null;
        throw error;
      }),
      ...folders.map(factsOf),
    ]);
    return socketFault(socket, above, process.geteuid?.() ?? 0);
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? null : `${path} cannot be looked at: ${messageOf(error)}`;
  }
}

async function factsOf(path: string): Promise<EntryFacts> {
  const entry = await lstat(path);
  const kind = entry.isSocket() ? 'socket' : entry.isDirectory() ? 'folder' : 'other';
  return { path, kind, uid: entry.uid, mode: entry.mode };
}
