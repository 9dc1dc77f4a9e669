import type { PeerVerdict } from './peer-verdict.ts';

/** One line of `/proc/net/tcp` or `tcp6`. `local` and `remote` are `ADDRESS:PORT` in the kernel's own hex. */
export type TcpRow = { local: string; remote: string; state: string; uid: number; inode: number };

/** The local end of a listener, written as the table of its IP version writes it. */
export type TcpEndpoint = { table: 'tcp' | 'tcp6'; local: string; port: number };

/**
 * Reads one table in order and gives `take` its rows that have `port` at either end, some at a time; ends early
 * when `take` answers that it has seen enough.
 */
export type ScanRows = (
  table: TcpEndpoint['table'],
  port: number,
  take: (rows: readonly TcpRow[]) => boolean,
) => void;

/** One accepted connection: its socket is one of `inodes`, and no earlier connection's socket is. */
export type AcceptedConnection = { inodes: ReadonlySet<number>; endpoint: TcpEndpoint };

export type OwnUid = {
  uid: number;
  /** True where this number also stands for every user that the user namespace does not map. */
  shared: boolean;
};

const LISTENING = '0A';
const SYN_SENT = '02';
const SYN_RECEIVED = '03';
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

/**
 * A parser of a table that comes in pieces, cut anywhere: gives of each piece the rows that have `port` at either
 * end. A line that is not whole is no row, a last one without its line break included.
 */
export function createRowParser(port: number): (piece: Buffer) => TcpRow[] {
  const mark = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  let begun = '';
  return (piece) => {
    // Most pieces are whole lines about others, and a text of each would cost more than the search.
    const whole = begun === '' && piece.at(-1) === LINE_BREAK;
    if (whole && !piece.includes(mark, 0, 'latin1')) return [];
    const text = begun + piece.toString('latin1');
    const end = text.lastIndexOf('\n') + 1;
    begun = text.slice(end);
    return parseLines(text.slice(0, end), mark);
  };
}

const LINE_BREAK = 0x0a;

function parseLines(text: string, mark: string): TcpRow[] {
  const rows: TcpRow[] = [];
  for (let at = text.indexOf(mark); at >= 0; ) {
    const end = text.indexOf('\n', at);
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
 * Who is at the other end of each connection? Only a peer whose own row is there, is connected, is still held by a
 * process (inode not 0) and belongs to `own` is `own_uid`; any doubt is one of the other verdicts. Reads `tcp6` for
 * an IPv4 connection only where the peer's row is not in `tcp`: it may use an IPv4-mapped address.
 */
export function judgePeers(
  connections: readonly AcceptedConnection[],
  scan: ScanRows,
  own: OwnUid,
  little_endian: boolean,
): PeerVerdict[] {
  const verdicts = new Map<AcceptedConnection, PeerVerdict>();
  for (const group of byEndpoint(connections)) {
    const { endpoint } = group[0]!;
    const both = new RowsOfConnections(endpoint.local, endpoint.local, group);
    scan(endpoint.table, endpoint.port, (rows) => both.take(rows));
    const unseen = both.withoutPeer();
    let mapped_rows: RowsOfConnections | null = null;
    if (endpoint.table === 'tcp' && unseen.length > 0) {
      mapped_rows = new RowsOfConnections(endpoint.local, mapped(endpoint.local, little_endian), []);
      scan('tcp6', endpoint.port, (rows) => mapped_rows!.take(rows));
    }
    for (const connection of group) {
      const server = both.server(connection);
      if (server === null) {
        verdicts.set(connection, NO_CONNECTION);
        continue;
      }
      const peers = both.peersAt(server.remote);
      const found =
        peers.length > 0 ? peers : (mapped_rows?.peersAt(mapped(server.remote, little_endian)) ?? []);
      verdicts.set(connection, judgePeer(found, own));
    }
  }
  return connections.map((connection) => verdicts.get(connection) ?? NO_CONNECTION);
}

function byEndpoint(connections: readonly AcceptedConnection[]): AcceptedConnection[][] {
  const groups = new Map<string, AcceptedConnection[]>();
  for (const connection of connections) {
    const { table, local } = connection.endpoint;
    const key = `${table} ${local}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [connection]);
    else group.push(connection);
  }
  return [...groups.values()];
}

/** What a table says of both ends of some connections of one listener, while it is read. */
class RowsOfConnections {
  /** The listener's end, as our sockets have it, and as the rows of the peers name it. */
  #local: string;
  #dialled: string;
  #wanted: readonly AcceptedConnection[];
  /** Our sockets by inode; null where one inode is shown at two places. */
  #servers = new Map<number, TcpRow | null>();
  #peers = new Map<string, TcpRow[]>();
  /** Where a socket may be one of several, all of the table must be seen to tell that only one of them is there. */
  #may_stop: boolean;

  constructor(local: string, dialled: string, wanted: readonly AcceptedConnection[]) {
    this.#local = local;
    this.#dialled = dialled;
    this.#wanted = wanted;
    this.#may_stop = wanted.length > 0 && wanted.every(({ inodes }) => inodes.size === 1);
  }

  /** Takes further rows; true once both ends of every connection have been seen. */
  take(rows: readonly TcpRow[]): boolean {
    if (rows.length === 0) return false;
    for (const row of rows) {
      if (row.local === this.#local && row.state !== LISTENING && row.inode !== 0) this.#takeServer(row);
      if (row.remote === this.#dialled) this.#takePeer(row);
    }
    return this.#may_stop && this.withoutPeer().length === 0;
  }

  server({ inodes }: AcceptedConnection): TcpRow | null {
    let found: TcpRow | null = null;
    for (const inode of inodes) {
      const row = this.#servers.get(inode);
      if (row === undefined) continue;
      if (row === null || found !== null) return null;
      found = row;
    }
    return found;
  }

  peersAt(end: string): readonly TcpRow[] {
    return this.#peers.get(end) ?? [];
  }

  /** The connections of which one end has not been seen. */
  withoutPeer(): AcceptedConnection[] {
    return this.#wanted.filter((connection) => {
      const server = this.server(connection);
      return server === null || this.peersAt(server.remote).length === 0;
    });
  }

  /** A table that changes while it is read may show one row twice. */
  #takeServer(row: TcpRow): void {
    const known = this.#servers.get(row.inode);
    if (known === undefined) this.#servers.set(row.inode, row);
    else if (known !== null && known.remote !== row.remote) this.#servers.set(row.inode, null);
  }

  #takePeer(row: TcpRow): void {
    const known = this.#peers.get(row.local);
    if (known === undefined) this.#peers.set(row.local, [row]);
    else known.push(row);
  }
}

function judgePeer(peers: readonly TcpRow[], own: OwnUid): PeerVerdict {
  const peer = peers[0];
  // A socket nobody holds any more is listed as uid 0, inode 0, whoever it belonged to.
  if (peer === undefined || peers.some((row) => row.inode === 0)) return NO_PEER_ROW;
  // Who still waits for an answer to its first packet has not sent what came over this connection.
  if (peers.some((row) => row.state === SYN_SENT || row.state === SYN_RECEIVED)) return NO_PEER_ROW;
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
