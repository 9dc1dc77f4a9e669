import type { Stats } from 'node:fs';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { pack, unpack } from 'msgpackr';
import { freeBytes } from '../base/free-bytes.ts';

/** The metadata of a folder or file by which the next sweep detects a change. */
export type Stamp = { mtimeMs: number; ctimeMs: number; size: number; ino: number };

/** A change this recent may be followed by one with the same timestamp. */
const SETTLING_MS = 2_000;

/** The stamp of what could not be read; no file has it. */
export const NO_STAMP: Stamp = { mtimeMs: -1, ctimeMs: -1, size: -1, ino: -1 };

/** The stamp of a file or folder as it was looked at. */
export function stampOf(stat: Stats): Stamp {
  return { mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, size: stat.size, ino: stat.ino };
}

/** A later change will show in the stamp. */
export function isSettled(stat: Stats, now: number): boolean {
  return now - Math.max(stat.mtimeMs, stat.ctimeMs) > SETTLING_MS;
}

/** A token for the current state of a document; each change gives another token. */
export function tokenOf(path: string, { mtimeMs, ctimeMs, size, ino }: Stats): string {
  return `${mtimeMs}:${ctimeMs}:${size}:${ino} ${path}`;
}

/** The path below `.fibers` of the document of a token. */
export function pathOfToken(token: string): string {
  return token.slice(token.indexOf(' ') + 1);
}

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
/** A row of a new table: one that was read, or the number of one that is as it was in the table before. */
export type TableRow<T> = number | T;

const COLUMNS = 5;
const ROW_BYTES = COLUMNS * Float64Array.BYTES_PER_ELEMENT;
const FLAGS = 4;
const SETTLED = 1;
const LINKED = 2;

/** Fast, and a fifth of the bytes. */
const PACKING_LEVEL = 1;
const PACKED = 1;
const PLAIN = 0;
/**
 * zlib writes into one piece of memory that is this much larger than what comes. Of many small pieces, its default, the C
 * library keeps the memory for the thread; and with none left it would begin another one.
 */
const SPARE_BYTES = 64;
/** No file name can hold it. */
const BETWEEN_PATHS = '\0';
const LENGTH_FIELD = 4;
/** Of one table: whether it is packed, the rest, the numbers, the paths of folders and those of documents. */
const PARTS = 5;

type Rest = { root: string; follow: boolean | null; folders: number; notes: [number, string, string][] };
type Note = { digest: string; error: string };

/** Of a row that was read without an error, and whose stamp is enough. */
export const NO_NOTE: Note = { digest: '', error: '' };

/**
 * Folders or documents of a table, each known by its number. They stay columns: an object for each would take most of
 * the memory and half of the time of a sweep that finds nothing changed.
 */
export class KnownRows {
  readonly paths: readonly string[];
  readonly #numbers: Float64Array;
  readonly #notes: Map<number, Note>;

  constructor(paths: readonly string[], numbers: Float64Array, notes: Map<number, Note> = new Map()) {
    this.paths = paths;
    this.#numbers = numbers;
    this.#notes = notes;
  }

  /** Nothing has changed since its stamp was taken. */
  hasStamp(row: number, stat: Stats): boolean {
    const at = row * COLUMNS;
    const numbers = this.#numbers;
    return (
      numbers[at] === stat.mtimeMs &&
      numbers[at + 1] === stat.ctimeMs &&
      numbers[at + 2] === stat.size &&
      numbers[at + 3] === stat.ino
    );
  }

  /** A change after its stamp was taken shows in the stamp. */
  isSettled(row: number): boolean {
    return (this.#numbers[row * COLUMNS + FLAGS]! & SETTLED) !== 0;
  }

  isLinked(row: number): boolean {
    return (this.#numbers[row * COLUMNS + FLAGS]! & LINKED) !== 0;
  }

  note(row: number): Note {
    return this.#notes.get(row) ?? NO_NOTE;
  }

  /** Every row is read again, whatever its stamp. */
  forgetReadings(): void {
    for (let at = FLAGS; at < this.#numbers.length; at += COLUMNS) this.#numbers[at]! &= ~SETTLED;
    for (const [row, { error }] of this.#notes) this.#notes.set(row, { digest: '', error });
  }

  stamp(row: number): Stamp {
    const [mtimeMs, ctimeMs, size, ino] = this.#numbers.subarray(row * COLUMNS);
    return { mtimeMs: mtimeMs!, ctimeMs: ctimeMs!, size: size!, ino: ino! };
  }

  /** Appends the numbers of a row to those of another table. */
  copyNumbers(row: number, into: Float64Array, at: number): void {
    for (let column = 0; column < COLUMNS; column += 1)
      into[at + column] = this.#numbers[row * COLUMNS + column]!;
  }
}

export type SweepTable = {
  /** It came as one packed table, the form in which it takes the least memory. */
  packed: boolean;
  /** Whether the sweep read links that leave the store; null if only a part of it did. */
  follow: boolean | null;
  folders: KnownRows;
  documents: KnownRows;
};

/**
 * Encodes the table of a sweep; the numbers among `rows` are those of rows of `before`. It has five parts: whether the
 * others are `packed`, which is compressed behind their length; a head as msgpack, the numbers as 64-bit floats, the paths
 * of folders and those of documents.
 */
export function encodeTable(
  before: SweepTable,
  rows: {
    root: string;
    follow: boolean | null;
    folders: readonly TableRow<KnownFolder>[];
    documents: readonly TableRow<KnownDocument>[];
  },
  { packed }: { packed: boolean },
): Uint8Array {
  const { root, follow, folders, documents } = rows;
  const numbers = new Float64Array((folders.length + documents.length) * COLUMNS);
  const notes: Rest['notes'] = [];
  folders.forEach((row, index) => {
    if (typeof row === 'number') before.folders.copyNumbers(row, numbers, index * COLUMNS);
    else writeNumbers(row, numbers, index * COLUMNS);
  });
  documents.forEach((row, index) => {
    const at = (folders.length + index) * COLUMNS;
    if (typeof row === 'number') before.documents.copyNumbers(row, numbers, at);
    else writeNumbers(row, numbers, at);
    const { digest, error } = typeof row === 'number' ? before.documents.note(row) : row;
    if (digest !== '' || error !== '') notes.push([index, digest, error]);
  });
  const rest: Rest = { root, follow, folders: folders.length, notes };
  const paths = (of: readonly TableRow<{ path: string }>[], known: KnownRows) =>
    Buffer.from(of.map((row) => pathOf(row, known)).join(BETWEEN_PATHS));
  const parts = [
    // A copy: the packer goes on to use the memory of what it returns.
    new Uint8Array(pack(rest)),
    new Uint8Array(numbers.buffer),
    paths(folders, before.folders),
    paths(documents, before.documents),
  ];
  return joinParts([Uint8Array.of(packed ? PACKED : PLAIN), ...(packed ? parts.map(packedPart) : parts)]);
}

/** The path of a row of a new table. */
export function pathOf(row: TableRow<{ path: string }>, before: KnownRows): string {
  return typeof row === 'number' ? before.paths[row]! : row.path;
}

/** One table of several for different folders and documents of one store. */
export function joinTables(tables: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(tables);
}

/** Decodes a table; an empty, unknown or other store's one gives an empty table, so that everything is read again. */
export function decodeTable(bytes: Uint8Array, root: string): SweepTable {
  const tables = decodeAll(bytes);
  const [first] = tables;
  if (first === undefined || tables.some((table) => table.rest.root !== root))
    return { packed: false, follow: false, folders: joinRows([]), documents: joinRows([]) };
  return {
    packed: tables.length === 1 && first.packed,
    // Tables that were read by different rules for links make one that was read by neither.
    follow: tables.every(({ rest }) => rest.follow === first.rest.follow) ? first.rest.follow : null,
    folders: joinRows(tables.map(({ folders }) => ({ ...folders, notes: [] }))),
    documents: joinRows(tables.map(({ documents, rest }) => ({ ...documents, notes: rest.notes }))),
  };
}

/** The numbers of a table that was not packed are still bytes here, which need not lie where floats may. */
type Block = { paths: string[]; numbers: Float64Array | Uint8Array };

type OneTable = { packed: boolean; rest: Rest; folders: Block; documents: Block };

function decodeAll(bytes: Uint8Array): OneTable[] {
  try {
    const parts = splitParts(bytes);
    const tables: OneTable[] = [];
    for (let at = 0; at < parts.length; at += PARTS) tables.push(decodeOne(parts.slice(at, at + PARTS)));
    return tables;
  } catch {
    return [];
  }
}

function decodeOne([flag, ...parts]: readonly Uint8Array[]): OneTable {
  const packed = flag![0] === PACKED;
  // One after another, so that the memory of one serves the next.
  const read = <T>(part: Uint8Array, use: (bytes: Uint8Array) => T): T =>
    packed ? withUnpacked(part, use) : use(part);
  const [about, numbers, folder_paths, document_paths] = parts;
  const rest = read(about!, unpack) as Rest;
  const between = rest.folders * ROW_BYTES;
  const folders = read(folder_paths!, textOf);
  const documents = read(document_paths!, textOf);
  const all = packed ? unpacked(numbers!) : numbers!;
  const numbersOf = (bytes: Uint8Array) => (packed ? floatsIn(bytes) : bytes);
  return {
    ...{ packed, rest },
    folders: rowsOf(folders, numbersOf(all.subarray(0, between))),
    documents: rowsOf(documents, numbersOf(all.subarray(between))),
  };
}

function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString();
}

/** The bytes in compressed form, behind their number; they are freed. */
function packedPart(bytes: Uint8Array): Uint8Array {
  const chunkSize = Math.ceil(bytes.length / 2) + SPARE_BYTES;
  const compressed = deflateRawSync(bytes, { level: PACKING_LEVEL, chunkSize });
  const part = Buffer.allocUnsafeSlow(LENGTH_FIELD + compressed.length);
  part.set(compressed, part.writeUInt32LE(bytes.length));
  freeBytes(bytes);
  freeChunk(compressed, chunkSize);
  return part;
}

function unpacked(part: Uint8Array): Uint8Array {
  const size = new DataView(part.buffer, part.byteOffset).getUint32(0, true);
  return inflateRawSync(part.subarray(LENGTH_FIELD), { chunkSize: size + SPARE_BYTES });
}

/** What `use` makes of the bytes of a part, which are freed. */
function withUnpacked<T>(part: Uint8Array, use: (bytes: Uint8Array) => T): T {
  const bytes = unpacked(part);
  const made = use(bytes);
  freeChunk(bytes, bytes.length + SPARE_BYTES);
  return made;
}

/** Frees what zlib has written into one piece of so many bytes; a small one is in memory that others use too. */
function freeChunk({ buffer }: Uint8Array, bytes: number): void {
  if (buffer.byteLength === bytes) freeBytes(new Uint8Array(buffer));
}

/** A root has an empty path, so that only the numbers tell whether there is any row. */
function rowsOf(paths: string, numbers: Block['numbers']): Block {
  return { paths: numbers.length === 0 ? [] : paths.split(BETWEEN_PATHS), numbers };
}

function joinRows(blocks: readonly (Block & { notes: Rest['notes'] })[]): KnownRows {
  const numbers = joinNumbers(blocks.map((block) => block.numbers));
  const notes = new Map<number, Note>();
  let at = 0;
  for (const block of blocks) {
    for (const [index, digest, error] of block.notes) notes.set(at / ROW_BYTES + index, { digest, error });
    at += block.numbers.byteLength;
  }
  return new KnownRows(
    blocks.flatMap((block) => block.paths),
    numbers,
    notes,
  );
}

function joinNumbers(blocks: readonly Block['numbers'][]): Float64Array {
  const [first] = blocks;
  if (blocks.length === 1 && first instanceof Float64Array) return first;
  const bytes = new Uint8Array(blocks.reduce((sum, block) => sum + block.byteLength, 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of blocks) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return floatsIn(bytes);
}

function floatsIn({ buffer, byteOffset, byteLength }: Uint8Array): Float64Array {
  return new Float64Array(buffer, byteOffset, byteLength / Float64Array.BYTES_PER_ELEMENT);
}

function writeNumbers(
  { mtimeMs, ctimeMs, size, ino, settled, linked = false }: Stamp & { settled: boolean; linked?: boolean },
  into: Float64Array,
  at: number,
): void {
  into.set([mtimeMs, ctimeMs, size, ino, (settled ? SETTLED : 0) | (linked ? LINKED : 0)], at);
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
