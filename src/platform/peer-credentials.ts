import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { lsofPeerLookup, type PeerLookup } from './peer-credentials-lsof.ts';
import {
  type AcceptedConnection,
  createRowParser,
  judgePeers,
  type OwnUid,
  type ScanRows,
  type TcpEndpoint,
  tcpEndpoint,
} from './peer-credentials-tcp-rows.ts';
import type { PeerGateView, PeerVerdict } from './peer-verdict.ts';
import { runProcess } from './process.ts';

/** An absolute path, because the PATH that launchd gives its jobs does not include it. */
const MACOS_LSOF = '/usr/sbin/lsof';

/** Finds the user at the other end of a loopback connection (AUT-2). */
export type KnowingPeerCredentials = {
  view: PeerGateView & { mode: 'enforced'; uid: number };
  endpoint(host: '127.0.0.1' | '::1', port: number): TcpEndpoint;
  /**
   * Inodes of the sockets opened since the last call; call it once as each connection is accepted. `quickly` misses a
   * socket at a descriptor number that another thread has just closed.
   */
  appearedSockets(how: 'quickly' | 'surely'): Set<number>;
  /** How many files of this process were open at the last inspection. */
  openFiles(): number;
  /** One verdict per connection, in order, from one read of the kernel's tables. */
  judge(connections: readonly AcceptedConnection[]): PeerVerdict[];
};

export type PeerCredentials = KnowingPeerCredentials | PeerLookup | { view: PeerGateView & { mode: 'none' } };

/** The credentials of a system that cannot identify peers. */
export const UNKNOWN_PEERS: { view: PeerGateView & { mode: 'none' } } = {
  view: { mode: 'none', uid: null, source: 'none' },
};

/** Access to the kernel's tables. */
export type PeerFacts = {
  files: OpenFiles;
  /** Streams a table in chunks until `take` returns true; throws if the kernel does not provide it. */
  readTable(table: 'tcp' | 'tcp6', take: (piece: Buffer) => boolean): void;
  own: OwnUid;
  little_endian: boolean;
};

/** The credentials of this system: from `/proc` on Linux, from `lsof` on macOS, else none. */
export function systemPeerCredentials(platform: NodeJS.Platform = process.platform): PeerCredentials {
  if (platform === 'darwin')
    return lsofPeerLookup({ run: runProcess, pid: process.pid, uid: process.geteuid!(), file: MACOS_LSOF });
  if (platform !== 'linux') return UNKNOWN_PEERS;
  try {
    const readTable = createTableReader();
    readTable('tcp', () => true);
    procOpenFiles.numbers();
    return procPeerCredentials({
      files: procOpenFiles,
      readTable,
      own: ownUid(),
      little_endian: endianness() === 'LE',
    });
  } catch {
    return UNKNOWN_PEERS;
  }
}

/** Credentials from the kernel's socket tables. */
export function procPeerCredentials(facts: PeerFacts): KnowingPeerCredentials {
  const { own, little_endian } = facts;
  const sockets = new OpenSockets(facts.files);
  return {
    view: { mode: 'enforced', uid: own.uid, source: '/proc/net/tcp' },
    endpoint: (host, port) => tcpEndpoint(host, port, little_endian),
    appearedSockets: (how) => (how === 'surely' ? sockets.appeared() : sockets.appearedUnderNewNumbers()),
    openFiles: () => sockets.size,
    judge(connections) {
      const scan: ScanRows = (table, port, take) => {
        const parse = createRowParser(port);
        facts.readTable(table, (piece) => take(parse(piece)));
      };
      return judgePeers(connections, scan, own, little_endian);
    },
  };
}

/**
 * The daemon's user. Inside a user namespace every user it does not map reads as the overflow uid, so a daemon with
 * that uid cannot distinguish itself from other users.
 */
function ownUid(): OwnUid {
  const uid = process.geteuid!();
  const overflow = Number(readFileSync('/proc/sys/kernel/overflowuid', 'latin1'));
  if (uid !== overflow) return { uid, shared: false };
  const map = readFileSync('/proc/self/uid_map', 'latin1').trim().split(/\s+/).join(' ');
  return { uid, shared: map !== '0 0 4294967295' };
}

/** More than one read returns: the kernel gives about a page of whole lines at a time. */
const PIECE_BYTES = 64 * 1024;

function createTableReader(): PeerFacts['readTable'] {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  return (table, take) => {
    const file = openSync(`/proc/self/net/${table}`, 'r');
    try {
      for (;;) {
        const size = readSync(file, buffer, 0, buffer.length, null);
        if (size === 0 || take(buffer.subarray(0, size))) return;
      }
    } finally {
      closeSync(file);
    }
  };
}

/** The open files of this process. */
type OpenFiles = {
  /** Descriptor numbers as text; the list may contain descriptors closed since. */
  numbers(): readonly string[];
  /** The inode if the descriptor is an open socket. */
  inodeOf(number: string): number | 'no_socket' | 'closed';
};

/** Reports the sockets opened since the last call. */
export class OpenSockets {
  #files: OpenFiles;
  #numbers = new Set<string>();
  #known = new Set<number>();

  constructor(files: OpenFiles) {
    this.#files = files;
  }

  /** Number of open files at the last inspection; a full one costs about a microsecond each. */
  get size(): number {
    return this.#numbers.size;
  }

  /** Inodes of new sockets; inspects every open file. */
  appeared(): Set<number> {
    const before = this.#known;
    this.#known = new Set();
    this.#numbers.clear();
    return new Set([...this.#inspect(this.#files.numbers())].filter((inode) => !before.has(inode)));
  }

  /**
   * The same, far cheaper, but only for descriptors that were not in use before. It misses a descriptor that another
   * thread closed and that was reused since the last call.
   */
  appearedUnderNewNumbers(): Set<number> {
    return this.#inspect(this.#files.numbers().filter((number) => !this.#numbers.has(number)));
  }

  #inspect(numbers: readonly string[]): Set<number> {
    const fresh = new Set<number>();
    for (const number of numbers) {
      const inode = this.#files.inodeOf(number);
      // Listing the folder opens it at the descriptor number that the next socket will get.
      if (inode === 'closed') continue;
      this.#numbers.add(number);
      if (inode === 'no_socket' || this.#known.has(inode)) continue;
      this.#known.add(inode);
      fresh.add(inode);
    }
    return fresh;
  }
}

const TYPE_BITS = 0o170000;
const SOCKET = 0o140000;

/** The open files of all threads of this process, from `/proc/self/fd`. */
const procOpenFiles: OpenFiles = {
  numbers: () => readdirSync('/proc/self/fd'),
  inodeOf(number) {
    try {
      const { mode, ino } = fstatSync(Number(number));
      return (mode & TYPE_BITS) === SOCKET ? ino : 'no_socket';
    } catch {
      return 'closed';
    }
  },
};
