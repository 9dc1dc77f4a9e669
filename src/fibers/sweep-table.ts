import { pack, unpack } from 'msgpackr';

/** The metadata of a folder or file by which the next sweep detects a change. */
export type Stamp = { mtimeMs: number; ctimeMs: number; size: number; ino: number };
export type KnownFolder = Stamp & {
  /** Path below `.fibers`, `/` between components; empty for `.fibers` itself. */
  path: string;
  /** False: it changed so shortly before it was read that it must be read again. */
  settled: boolean;
};
export type KnownDocument = Stamp & {
  path: string;
  settled: boolean;
  /** Digest of an unsettled document, to recognise the same bytes at the next reading; else empty. */
  digest: string;
  /** Why it could not be read; every sweep retries it. */
  error: string;
};
export type SweepTable = {
  root: string;
  /** Whether the sweep read links that leave the store. */
  follow: boolean;
  folders: KnownFolder[];
  documents: KnownDocument[];
};

const FORMAT = 2;
const COLUMNS = 5;

/** Encodes a table: paths and rare texts as msgpack, numbers as one block of 64-bit floats. */
export function encodeTable(table: SweepTable): Uint8Array {
  const rows: (Stamp & { settled: boolean })[] = [...table.folders, ...table.documents];
  const numbers = new Float64Array(rows.length * COLUMNS);
  rows.forEach((row, index) => {
    numbers.set([row.mtimeMs, row.ctimeMs, row.size, row.ino, row.settled ? 1 : 0], index * COLUMNS);
  });
  const notes = table.documents.flatMap((row, index) =>
    row.digest === '' && row.error === '' ? [] : [[index, row.digest, row.error]],
  );
  return pack([
    FORMAT,
    table.root,
    table.folders.map((row) => row.path),
    table.documents.map((row) => row.path),
    Buffer.from(numbers.buffer),
    notes,
    table.follow,
  ]);
}

/**
 * Decodes a table; an empty table, one of another format or an older one gives an empty table, so that everything is
 * read again.
 */
export function decodeTable(bytes: Uint8Array, root: string): SweepTable {
  const none: SweepTable = { root, follow: false, folders: [], documents: [] };
  if (bytes.length === 0) return none;
  let value: unknown;
  try {
    value = unpack(bytes);
  } catch {
    return none;
  }
  if (!Array.isArray(value) || value[0] !== FORMAT || value[1] !== root) return none;
  const [, , folderPaths, documentPaths, block, notes, follow] = value as [
    number,
    string,
    string[],
    string[],
    Uint8Array,
    [number, string, string][],
    boolean,
  ];
  const numbers = new Float64Array(Uint8Array.from(block).buffer);
  const stampAt = (row: number) => ({
    mtimeMs: numbers[row * COLUMNS]!,
    ctimeMs: numbers[row * COLUMNS + 1]!,
    size: numbers[row * COLUMNS + 2]!,
    ino: numbers[row * COLUMNS + 3]!,
    settled: numbers[row * COLUMNS + 4] === 1,
  });
  const folders = folderPaths.map((path, row) => ({ path, ...stampAt(row) }));
  const documents = documentPaths.map((path, row) => ({
    path,
    ...stampAt(folderPaths.length + row),
    digest: '',
    error: '',
  }));
  for (const [index, digest, error] of notes) Object.assign(documents[index]!, { digest, error });
  return { root, follow, folders, documents };
}
