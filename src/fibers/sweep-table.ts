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
  /** The file is a link or has several names: it may change without a change in its folder. */
  linked: boolean;
  /** Digest of an unsettled document, to recognise the same bytes at the next reading; else empty. */
  digest: string;
  /** Why it could not be read; every sweep retries it. */
  error: string;
};
export type SweepTable = {
  root: string;
  /** Whether the sweep read links that leave the store; null if only a part of it did. */
  follow: boolean | null;
  folders: KnownFolder[];
  documents: KnownDocument[];
};

const COLUMNS = 5;
const SETTLED = 1;
const LINKED = 2;

/** The parts of one table: the rest as msgpack, the numbers as 64-bit floats, the paths of folders and of documents. */
const PARTS = 4;
/** No file name can hold it. */
const BETWEEN_PATHS = '\0';
const LENGTH_FIELD = 4;

type Rest = { root: string; follow: boolean | null; folders: number; notes: [number, string, string][] };

/** Encodes a table. */
export function encodeTable({ root, follow, folders, documents }: SweepTable): Uint8Array {
  const rows: (Stamp & { settled: boolean; linked?: boolean })[] = [...folders, ...documents];
  const numbers = new Float64Array(rows.length * COLUMNS);
  rows.forEach((row, index) => {
    numbers.set([row.mtimeMs, row.ctimeMs, row.size, row.ino, flagsOf(row)], index * COLUMNS);
  });
  const notes = documents.flatMap((row, index): Rest['notes'] =>
    row.digest === '' && row.error === '' ? [] : [[index, row.digest, row.error]],
  );
  const rest: Rest = { root, follow, folders: folders.length, notes };
  const paths = (of: readonly { path: string }[]) =>
    Buffer.from(of.map(({ path }) => path).join(BETWEEN_PATHS));
  return joinParts([pack(rest), Buffer.from(numbers.buffer), paths(folders), paths(documents)]);
}

/** One table of several for different folders and documents of one store. */
export function joinTables(tables: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(tables);
}

/** Decodes a table; an empty, unknown or other store's one gives an empty table, so that everything is read again. */
export function decodeTable(bytes: Uint8Array, root: string): SweepTable {
  const tables = decodeAll(bytes);
  const [first] = tables;
  if (first === undefined || tables.some((table) => table.root !== root))
    return { root, follow: false, folders: [], documents: [] };
  return {
    root,
    // Tables that were read by different rules for links make one that was read by neither.
    follow: tables.every(({ follow }) => follow === first.follow) ? first.follow : null,
    folders: tables.flatMap(({ folders }) => folders),
    documents: tables.flatMap(({ documents }) => documents),
  };
}

function decodeAll(bytes: Uint8Array): SweepTable[] {
  try {
    const parts = splitParts(bytes);
    const tables: SweepTable[] = [];
    for (let at = 0; at < parts.length; at += PARTS) tables.push(decodeOne(parts.slice(at, at + PARTS)));
    return tables;
  } catch {
    return [];
  }
}

function decodeOne([head, block, folderPaths, documentPaths]: Uint8Array[]): SweepTable {
  const { root, follow, folders: count, notes } = unpack(head!) as Rest;
  const numbers = new Float64Array(Uint8Array.from(block!).buffer);
  const stampAt = (row: number) => ({
    mtimeMs: numbers[row * COLUMNS]!,
    ctimeMs: numbers[row * COLUMNS + 1]!,
    size: numbers[row * COLUMNS + 2]!,
    ino: numbers[row * COLUMNS + 3]!,
    settled: (numbers[row * COLUMNS + 4]! & SETTLED) !== 0,
  });
  const pathsIn = (part: Uint8Array, most: number) =>
    most === 0 ? [] : Buffer.from(part.buffer, part.byteOffset, part.length).toString().split(BETWEEN_PATHS);
  const folders = pathsIn(folderPaths!, count).map((path, row) => ({ path, ...stampAt(row) }));
  const documents = pathsIn(documentPaths!, numbers.length / COLUMNS - count).map((path, row) => ({
    path,
    ...stampAt(count + row),
    linked: (numbers[(count + row) * COLUMNS + 4]! & LINKED) !== 0,
    digest: '',
    error: '',
  }));
  for (const [index, digest, error] of notes) Object.assign(documents[index]!, { digest, error });
  return { root, follow, folders, documents };
}

function flagsOf({ settled, linked = false }: { settled: boolean; linked?: boolean }): number {
  return (settled ? SETTLED : 0) | (linked ? LINKED : 0);
}

/** Concatenates parts, each with its length before it. */
export function joinParts(parts: readonly Uint8Array[]): Uint8Array {
  const joined = Buffer.allocUnsafeSlow(parts.reduce((bytes, part) => bytes + LENGTH_FIELD + part.length, 0));
  let at = 0;
  for (const part of parts) {
    at = joined.writeUInt32LE(part.length, at);
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** The parts of `joinParts`, as views on its bytes. */
export function splitParts(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const from = at + LENGTH_FIELD;
    at = from + view.getUint32(at, true);
    parts.push(bytes.subarray(from, at));
  }
  return parts;
}
