import type { PeerGateView, PeerVerdict } from './peer-verdict.ts';
import type { ProcessRunner } from './process.ts';

/** Both ends of an accepted connection, as `lsof -nP` writes them: `127.0.0.1:4000`, `[::1]:4000`. */
export type ConnectionEnds = { local: string; remote: string };

/** Looks up the users of peers by port; asynchronous, because it is slow (AUT-2). */
export type PeerLookup = {
  view: PeerGateView & { mode: 'enforced'; uid: number };
  /** One verdict per connection, in order. Never throws: a failed lookup is `unresolved`. */
  lookUp(connections: readonly ConnectionEnds[]): Promise<PeerVerdict[]>;
};

/** One open TCP socket of a process. `lsof` sees those of our own user, or of every user as root. */
export type LsofRow = ConnectionEnds & { pid: number; uid: number; state: string };

const TIMEOUT_MS = 5_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** A socket in one of these states cannot have sent data over the connection. */
const UNCONNECTED = new Set(['', 'LISTEN', 'SYN_SENT', 'SYN_RECEIVED', 'SYN_RECV', 'CLOSED']);

/**
 * Peers by `lsof`, for macOS, which has no `/proc`: a lookup takes some hundred milliseconds, so the server must pause
 * its connections meanwhile. Unless we are root, `lsof` lists only the sockets of our own user, so a peer without a row
 * belongs to another user.
 */
export function lsofPeerLookup(options: {
  run: ProcessRunner['run'];
  /** The accepting process and its user. */
  pid: number;
  uid: number;
  file?: string;
}): PeerLookup {
  const { run, pid, uid, file = 'lsof' } = options;
  return {
    view: { mode: 'enforced', uid, source: 'lsof' },
    async lookUp(connections) {
      const ports = new Set(connections.map(({ local }) => local.slice(local.lastIndexOf(':') + 1)));
      const asked = await run({
        file,
        args: ['-nP', '-w', ...[...ports].map((port) => `-iTCP:${port}`), '-FpunT'],
        timeout_ms: TIMEOUT_MS,
        max_output_bytes: MAX_OUTPUT_BYTES,
      });
      // `lsof` exits with 1 if it found nothing or not everything.
      if (asked.kind !== 'exited' || asked.code > 1) return connections.map(() => NO_ANSWER);
      const rows = parseLsof(asked.stdout);
      return connections.map((connection) => judgeByLsof(rows, connection, { pid, uid }));
    },
  };
}

const NO_ANSWER: PeerVerdict = { kind: 'unresolved', reason: 'peer uid unresolved: lsof gave no answer' };
const NO_ROW: PeerVerdict = { kind: 'unresolved', reason: 'peer uid unresolved: no matching lsof row' };

/** Parses what `lsof -F` prints of TCP sockets: a process, then its files; a file without both ends is skipped. */
export function parseLsof(text: string): LsofRow[] {
  const rows: LsofRow[] = [];
  let pid = Number.NaN;
  let uid = Number.NaN;
  let row: LsofRow | null = null;
  for (const line of text.split('\n')) {
    const value = line.slice(1);
    switch (line[0]) {
      case 'p':
        [pid, uid, row] = [number(value), Number.NaN, null];
        break;
      case 'u':
        uid = number(value);
        break;
      case 'f':
        row = null;
        break;
      case 'n':
        row = rowOf(value, pid, uid);
        if (row !== null) rows.push(row);
        break;
      case 'T':
        if (row !== null && value.startsWith('ST=')) row.state = value.slice('ST='.length);
    }
  }
  return rows;
}

function rowOf(name: string, pid: number, uid: number): LsofRow | null {
  const [local, remote, ...rest] = name.split('->');
  if (!local || !remote || rest.length > 0) return null;
  return { pid, uid, local, remote, state: '' };
}

function number(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** The verdict on the other end of a connection: `own_uid` only if every holder is seen to be `own.uid`. */
export function judgeByLsof(
  rows: readonly LsofRow[],
  connection: ConnectionEnds,
  own: { pid: number; uid: number },
): PeerVerdict {
  const { local, remote } = connection;
  const connected = rows.filter((row) => !UNCONNECTED.has(row.state));
  const ours = connected.some((row) => row.pid === own.pid && row.local === local && row.remote === remote);
  if (!ours) return { kind: 'no_connection' };
  const holders = connected.filter((row) => row.local === remote && row.remote === local);
  if (holders.length === 0 || holders.some((row) => !Number.isInteger(row.uid))) return NO_ROW;
  const other = holders.find((row) => row.uid !== own.uid);
  return other === undefined ? { kind: 'own_uid' } : { kind: 'other_uid', uid: other.uid, own_uid: own.uid };
}
