import type { PeerVerdict } from './peer-verdict.ts';

/** One line of `/proc/net/tcp` or `tcp6`. `local` and `remote` are `ADDRESS:PORT` in the kernel's own hex. */
export type TcpRow = { local: string; remote: string; state: string; uid: number; inode: number };

/** The local end of a listener, in the notation of its table. */
export type TcpEndpoint = { table: 'tcp' | 'tcp6'; local: string; port: number };

/** Streams the rows of one table that have `port` at either end to `take`, in batches, until `take` returns true. */
export type ScanRows = (
  table: TcpEndpoint['table'],
  port: number,
  take: (rows: readonly TcpRow[]) => boolean,
) => void;

/** One accepted connection: its socket is one of `inodes`, which contain no socket of an earlier connection. */
export type AcceptedConnection = { inodes: ReadonlySet<number>; endpoint: TcpEndpoint };

export type OwnUid = {
  uid: number;
  /** True if this uid also represents every user that the user namespace does not map. */
  shared: boolean;
};

const LISTENING = '0A';
const SYN_SENT = '02';
const SYN_RECEIVED = '03';
const ROW =
  /^ *\d+: ((?:[\dA-F]{8}|[\dA-F]{32}):[\dA-F]{4}) ((?:[\dA-F]{8}|[\dA-F]{32}):[\dA-F]{4}) ([\dA-F]{2}) [\dA-F]{8}:[\dA-F]{8} [\dA-F]{2}:[\dA-F]{8} [\dA-F]{8} +(\d+) +\d+ (\d+)(?: |$)/;

/** The verdict on a connection whose peer has no row (AUT-2). */
export const NO_PEER_ROW: PeerVerdict = {
  kind: 'unresolved',
  reason: 'peer uid unresolved: no matching /proc TCP row',
};
const NO_CONNECTION: PeerVerdict = { kind: 'no_connection' };

/**
 * The table and address of a listener's rows. `little_endian`: the kernel prints each 32-bit word in the machine's
 * order.
 */
export function tcpEndpoint(host: '127.0.0.1' | '::1', port: number, little_endian: boolean): TcpEndpoint {
  const local_port = port.toString(16).toUpperCase().padStart(4, '0');
  if (host === '127.0.0.1')
    return { table: 'tcp', local: `${little_endian ? '0100007F' : '7F000001'}:${local_port}`, port };
  const last_word = little_endian ? '01000000' : '00000001';
  return { table: 'tcp6', local: `${'0'.repeat(24)}${last_word}:${local_port}`, port };
}

/**
 * A parser of a table in arbitrary chunks: returns the rows of each chunk that have `port` at either end. An incomplete
 * line is never a row, not even the last one.
 */
export function createRowParser(port: number): (piece: Buffer) => TcpRow[] {
  const mark = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  let begun = '';
  return (piece) => {
    // Most chunks contain no row of ours. Searching the bytes is cheaper than decoding every chunk.
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
 * One verdict per connection. A peer is `own_uid` only if its row exists, is connected, has a process (inode not 0) and
 * belongs to `own`; any doubt gives another verdict. For an IPv4 connection `tcp6` is read only if the peer's row is
 * not in `tcp`: the peer may use an IPv4-mapped address.
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

/** Collects the rows of both ends of some connections of one listener. */
class RowsOfConnections {
  /** The listener's address, as the local end of our rows and the remote end of the peers' rows. */
  #local: string;
  #dialled: string;
  #wanted: readonly AcceptedConnection[];
  /** Our sockets by inode; null if an inode occurs in two rows. */
  #servers = new Map<number, TcpRow | null>();
  #peers = new Map<string, TcpRow[]>();
  /**
   * If a connection may be one of several sockets, the whole table must be read to see that only one of them exists.
   */
  #may_stop: boolean;

  constructor(local: string, dialled: string, wanted: readonly AcceptedConnection[]) {
    this.#local = local;
    this.#dialled = dialled;
    this.#wanted = wanted;
    this.#may_stop = wanted.length > 0 && wanted.every(({ inodes }) => inodes.size === 1);
  }

  /** Adds rows; true once both ends of every connection have been seen. */
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

  /** The connections with a missing end. */
  withoutPeer(): AcceptedConnection[] {
    return this.#wanted.filter((connection) => {
      const server = this.server(connection);
      return server === null || this.peersAt(server.remote).length === 0;
    });
  }

  /** A table that changes while it is read may contain a row twice. */
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
  // An orphaned socket is listed as uid 0, inode 0, whatever user it belonged to.
  if (peer === undefined || peers.some((row) => row.inode === 0)) return NO_PEER_ROW;
  // A peer that has not finished its handshake cannot have sent data over this connection.
  if (peers.some((row) => row.state === SYN_SENT || row.state === SYN_RECEIVED)) return NO_PEER_ROW;
  if (peers.some((row) => row.inode !== peer.inode || row.uid !== peer.uid)) return NO_PEER_ROW;
  if (peer.uid !== own.uid) return { kind: 'other_uid', uid: peer.uid, own_uid: own.uid };
  if (own.shared)
    return {
      kind: 'unresolved',
      reason: `peer uid unresolved: uid ${own.uid} represents every unmapped user here`,
    };
  return { kind: 'own_uid' };
}

/** An IPv4 address as the IPv6 table lists it (IPv4-mapped). */
function mapped(end: string, little_endian: boolean): string {
  return `${'0'.repeat(16)}${little_endian ? 'FFFF0000' : '0000FFFF'}${end}`;
}
