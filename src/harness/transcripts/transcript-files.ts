import { join } from 'node:path';
import { messageOf, systemCode } from '../../base/errors.ts';
import { namesInForeign, realPathOfForeign, statForeign } from '../../platform/foreign-paths.ts';
import { openRegularFile } from '../../platform/regular-file.ts';
import type { TranscriptProbe } from '../adapter.ts';

/** Runs a search; a disk that does not answer gives `unknown`, which differs from `missing`. */
export async function probing(search: () => Promise<TranscriptProbe>): Promise<TranscriptProbe> {
  try {
    return await search();
  } catch (error) {
    return { kind: 'unknown', detail: messageOf(error) };
  }
}

/** `found` with the file's size and time, or `missing` if there is no such file; throws other errors. */
export async function probeFile(path: string, session_uuid: string): Promise<TranscriptProbe> {
  const entry = await orNull(statForeign(path));
  if (entry === null || !entry.isFile()) return { kind: 'missing' };
  return { kind: 'found', session_uuid, path, size: entry.size, mtime_ms: Math.trunc(entry.mtimeMs) };
}

/** Names in a folder; empty if it does not exist. Throws other errors. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await orNull(namesInForeign(folder))) ?? [];
}

/** The folder as given and, if different, with its links resolved: programs record either. */
export async function spellingsOf(folder: string): Promise<string[]> {
  const real = await orNull(realPathOfForeign(folder));
  return real === null || real === folder ? [folder] : [real, folder];
}

const MOST_HEAD_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Yields the complete lines in the first 8 MiB of a file. */
export async function* headLines(path: string): AsyncGenerator<string> {
  const opened = await orNull(openRegularFile(path));
  if (opened === null) return;
  const { file } = opened;
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let rest = Buffer.alloc(0);
    for (let read = 0; read < MOST_HEAD_BYTES; ) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, read);
      if (bytesRead === 0) return;
      read += bytesRead;
      rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
        yield rest.toString('utf8', 0, end);
        rest = rest.subarray(end + 1);
      }
    }
  } finally {
    await file.close();
  }
}

export type MarkerSearch = {
  /** Absolute paths of the files that may contain the session. */
  files: string[];
  marker: string;
  /** In milliseconds; a file last written before this is skipped. */
  launched_at: number;
  /** The session id in the file's first record; null if it is not a session of this kind of launch. */
  sessionOf(first: Record<string, unknown>): string | null;
  /** True for a message of the user. */
  isUserRecord(record: Record<string, unknown>): boolean;
};

const CLOCK_GRAIN_MS = 2_000;
const MOST_CANDIDATES = 500;

/** Finds the session in which a user message contains the marker; the oldest one if several do. */
export async function findByMarker(search: MarkerSearch): Promise<TranscriptProbe> {
  const candidates: { path: string; born: number }[] = [];
  for (const path of search.files) {
    const entry = await orNull(statForeign(path));
    if (entry === null || !entry.isFile() || entry.mtimeMs < search.launched_at - CLOCK_GRAIN_MS) continue;
    candidates.push({ path, born: entry.birthtimeMs });
  }
  candidates.sort((a, b) => b.born - a.born);
  for (const { path } of candidates.slice(0, MOST_CANDIDATES).reverse()) {
    const session_uuid = await sessionWithMarker(path, search);
    if (session_uuid !== null) return probeFile(path, session_uuid);
  }
  return { kind: 'missing' };
}

async function sessionWithMarker(path: string, search: MarkerSearch): Promise<string | null> {
  let session: string | null = null;
  for await (const line of headLines(path)) {
    if (session === null) {
      const first = record(line);
      session = first === null ? null : search.sessionOf(first);
      if (session === null) return null;
    } else if (line.includes(search.marker)) {
      const said = record(line);
      if (said !== null && search.isUserRecord(said)) return session;
    }
  }
  return null;
}

function record(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Absolute paths of the files directly in a folder whose names pass a test. */
export async function filesIn(folder: string, wanted: (name: string) => boolean): Promise<string[]> {
  return (await namesIn(folder)).filter(wanted).map((name) => join(folder, name));
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
