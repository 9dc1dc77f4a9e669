import { dirname } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import type { ReadPosition } from '../platform/append-only-file.ts';
import { writeFileAtomic } from '../platform/atomic-write.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularFileSync } from '../platform/regular-file.ts';
import type { HeldSegment } from './events-segment.ts';

/** The format version; changes with the format or meaning of the checkpoint, and with the V8 that encodes it. */
const FORM = `fiber-dispatch events index 1, v8 ${process.versions.v8}\n`;
const CHECKSUM_BYTES = 4;

export type HeldPart = { place: ReadPosition; segment: HeldSegment };
export type HeldParts = { rotated: HeldPart | null; live: HeldPart | null };

/** Writes a checkpoint; throws the system error if the folder is not writable. */
export function writeCheckpoint(path: string, parts: HeldParts): void {
  const body = serialize(parts);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(body));
  makeFolder(dirname(path));
  // Not fsynced: after a crash of the machine a damaged checkpoint is discarded and the index is rebuilt.
  writeFileAtomic(path, Buffer.concat([Buffer.from(FORM), checksum, body]), { durable: false });
}

/** Reads a checkpoint; null if it is missing, damaged or of another format. */
export function readCheckpoint(path: string): HeldParts | null {
  try {
    const bytes = readRegularFileSync(path, READ_LIMITS.events_index);
    const form = Buffer.byteLength(FORM);
    if (bytes.subarray(0, form).toString() !== FORM) return null;
    const body = bytes.subarray(form + CHECKSUM_BYTES);
    return crc32(body) === bytes.readUInt32LE(form) ? (deserialize(body) as HeldParts) : null;
  } catch {
    return null;
  }
}
