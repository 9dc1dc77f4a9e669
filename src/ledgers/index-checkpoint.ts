import { dirname } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { writeFileAtomic } from '../platform/atomic-write.ts';
import { makeFolder } from '../platform/make-folder.ts';
import { READ_LIMITS } from '../platform/read-limits.ts';
import { readRegularFileSync } from '../platform/regular-file.ts';
import type { HeldSegment } from './events-segment.ts';
import type { Place } from './ledger-file.ts';

/** Changes with the form or the meaning of what is kept, and with the Node that encodes it. */
const FORM = `fiber-dispatch events index 1, v8 ${process.versions.v8}\n`;
const CHECKSUM_BYTES = 4;

export type HeldPart = { place: Place; segment: HeldSegment };
export type HeldParts = { rotated: HeldPart | null; live: HeldPart | null };

/** Keeps an index; throws the system error of a folder that cannot be written. */
export function writeCheckpoint(path: string, parts: HeldParts): void {
  const body = serialize(parts);
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(body));
  makeFolder(dirname(path));
  // A crash of the machine may cost it: then it does not match and is built anew.
  writeFileAtomic(path, Buffer.concat([Buffer.from(FORM), checksum, body]), { durable: false });
}

/** The index that was kept; null for none, for one of another form, and for one that is damaged. */
export function readCheckpoint(path: string): HeldParts | null {
  try {
    const { bytes } = readRegularFileSync(path, READ_LIMITS.events_index);
    const form = Buffer.byteLength(FORM);
    if (bytes.subarray(0, form).toString() !== FORM) return null;
    const body = bytes.subarray(form + CHECKSUM_BYTES);
    return crc32(body) === bytes.readUInt32LE(form) ? (deserialize(body) as HeldParts) : null;
  } catch {
    return null;
  }
}
