/** One line of `/proc/net/tcp` or `tcp6`. `local` and `remote` are `ADDRESS:PORT` in the kernel's own hex. */
export type TcpRow = { local: string; remote: string; state: string; uid: number; inode: number };

/** The local end of a listener, written as the table of its IP version writes it. */
export type TcpEndpoint = { table: 'tcp' | 'tcp6'; local: string; port: number };

/** The rows of one table that have the port in question at either end. */
export type ReadRows = (table: 'tcp' | 'tcp6', port: number) => readonly TcpRow[];

/** One accepted connection: its socket is one of `inodes`, and no earlier connection's socket is. */
export type AcceptedConnection = { inodes: ReadonlySet<number>; endpoint: TcpEndpoint };

export type PeerVerdict =
  | { kind: 'own_uid' }
  | { kind: 'other_uid'; uid: number; own_uid: number }
  | { kind: 'unresolved'; reason: string }
  /** The connection itself is not in the table, or cannot be told from another: it may not even be answered. */
  | { kind: 'no_connection' };

export type OwnUid = {
  uid: number;
  /** True where this number also stands for every user that the user namespace does not map. */
  shared: boolean;
};

const LISTENING = '0A';
const ROW =
  /^ *\d+: ((?:[\dA-F]{8}|[\dA-F]{32}):[\dA-F]{4}) ((?:[\dA-F]{8}|[\dA-F]{32}):[\dA-F]{4}) ([\dA-F]{2}) [\dA-F]{8}:[\dA-F]{8} [\dA-F]{2}:[\dA-F]{8} [\dA-F]{8} +(\d+) +\d+ (\d+)(?: |$)/;

/** Verdict on a connection whose peer has no row of its own (AUT-2). */
export const NO_PEER_ROW: PeerVerdict = {
  kind: 'unresolved',
  reason: 'peer uid unresolved: no matching /proc TCP row',
};
const NO_CONNECTION: PeerVerdict = { kind: 'no_connection' };

/** Where a listener's rows stand. `little_endian`: the kernel prints each 32-bit word in the machine's order. */
export function tcpEndpoint(host: '127.0.0.1' | '::1', port: number, little_endian: boolean): TcpEndpoint {
  const local_port = port.toString(16).toUpperCase().padStart(4, '0');
  if (host === '127.0.0.1')
    return { table: 'tcp', local: `${little_endian ? '0100007F' : '7F000001'}:${local_port}`, port };
  const last_word = little_endian ? '01000000' : '00000001';
  return { table: 'tcp6', local: `${'0'.repeat(24)}${last_word}:${local_port}`, port };
}

/** Parses the rows of a table that have `port` at either end; a line that is not whole is no row. */
export function parseTcpRows(text: string, port: number): TcpRow[] {
  const mark = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  const rows: TcpRow[] = [];
  for (let at = text.indexOf(mark); at >= 0; ) {
    const end = text.indexOf('\n', at);
    if (end < 0) break;
    const row = parseTcpRow(text.slice(text.lastIndexOf('\n', at) + 1, end));
    if (row !== null) rows.push(row);
    at = text.indexOf(mark, end);
  }
  return rows;
}

function parseTcpRow(line: string): TcpRow | null {
  const match = ROW.exec(line);
  if (match === null) return null;
  const [, local, remote, state, uid, inode] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  return { local, remote, state, uid: Number(uid), inode: Number(inode) };
}

/**
 * Who is at the other end of each connection? Only a peer whose own row is there, is still held by a process
 * (inode not 0) and belongs to `own` is `own_uid`; any doubt is one of the other verdicts. Reads `tcp6` for an
 * IPv4 connection only where the peer's row is not in `tcp`: it may use an IPv4-mapped address.
 */
export function judgePeers(
  connections: readonly AcceptedConnection[],
  read: ReadRows,
  own: OwnUid,
  little_endian: boolean,
): PeerVerdict[] {
  return connections.map(({ inodes, endpoint }) => {
    const rows = read(endpoint.table, endpoint.port);
    const server = serverRow(rows, inodes, endpoint);
    if (server === null) return NO_CONNECTION;
    const peers = rowsBetween(rows, server.remote, server.local);
    if (peers.length > 0 || endpoint.table === 'tcp6') return judgePeer(peers, own);
    const [local, remote] = [mapped(server.remote, little_endian), mapped(server.local, little_endian)];
    return judgePeer(rowsBetween(read('tcp6', endpoint.port), local, remote), own);
  });
}

function serverRow(
  rows: readonly TcpRow[],
  inodes: ReadonlySet<number>,
  endpoint: TcpEndpoint,
): TcpRow | null {
  let found: TcpRow | null = null;
  for (const row of rows) {
    if (row.local !== endpoint.local || row.state === LISTENING) continue;
    if (row.inode === 0 || !inodes.has(row.inode)) continue;
    // A table that changes while it is read may show one row twice.
    if (found !== null && (found.inode !== row.inode || found.remote !== row.remote)) return null;
    found = row;
  }
  return found;
}

function rowsBetween(rows: readonly TcpRow[], local: string, remote: string): TcpRow[] {
  return rows.filter((row) => row.local === local && row.remote === remote);
}

function judgePeer(peers: readonly TcpRow[], own: OwnUid): PeerVerdict {
  const peer = peers[0];
  // A socket nobody holds any more is listed as uid 0, inode 0, whoever it belonged to.
  if (peer === undefined || peers.some((row) => row.inode === 0)) return NO_PEER_ROW;
  if (peers.some((row) => row.inode !== peer.inode || row.uid !== peer.uid)) return NO_PEER_ROW;
  if (peer.uid !== own.uid) return { kind: 'other_uid', uid: peer.uid, own_uid: own.uid };
  if (own.shared)
    return {
      kind: 'unresolved',
      reason: `peer uid unresolved: uid ${own.uid} stands for every unmapped user here`,
    };
  return { kind: 'own_uid' };
}

/** An IPv4 end as an IPv6 socket that uses it is listed. */
function mapped(end: string, little_endian: boolean): string {
  return `${'0'.repeat(16)}${little_endian ? 'FFFF0000' : '0000FFFF'}${end}`;
}
