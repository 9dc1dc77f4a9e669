import { createHash } from 'node:crypto';
import { type FileHandle, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Packr } from 'msgpackr';
import { isCoded, systemCode } from '../../base/errors.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { SessionSpend } from '../../contract/http/spend.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { openRegularFile, readRegularFile } from '../../platform/regular-file.ts';
import { HARNESSES } from '../harnesses.ts';
import { noUsage, sumUsage, type TokenUsage } from './token-usage.ts';
import { filesIn } from './transcript-files.ts';
import { scanRecords } from './transcript-scan.ts';

/** A session and the path of its transcript; null if it has none. */
export type SpentSession = { session: string; harness: HarnessName | null; path: string | null };

/** How far a file was read; `before`: the bytes before `offset`, by which a rewritten file is recognised. */
type Place = { path: string; ino: number; offset: number; before: Buffer };
type Checkpoint = { version: 1; places: Place[]; usage: TokenUsage };

/** Encodes maps and objects differently. */
const packr = new Packr({ useRecords: true });
const MOST_BEFORE = 128;

/**
 * Reads the token usage of sessions, oldest first: an answer that a fork copied counts for the session that received
 * it. Only data appended since the last call is read; checkpoints are cached below `cache_dir`, which may be deleted at
 * any time.
 */
export async function readSpend(
  sessions: readonly SpentSession[],
  cache_dir: string,
): Promise<SessionSpend[]> {
  const spends: SessionSpend[] = [];
  const elsewhere = new Set<string>();
  for (const session of sessions) {
    const usage = await usageOf(session, cache_dir);
    spends.push(typeof usage === 'string' ? unknownSpend(session, usage) : shown(session, usage, elsewhere));
    if (typeof usage !== 'string') for (const { origin } of usage.answers.values()) elsewhere.add(origin);
  }
  return spends;
}

function shown({ session }: SpentSession, usage: TokenUsage, elsewhere: ReadonlySet<string>): SessionSpend {
  const unknown = sumUsage(usage).tokens === null ? 'no_counts' : null;
  return { session, ...sumUsage(usage, elsewhere), models: usage.models, unknown };
}

function unknownSpend({ session }: SpentSession, unknown: SessionSpend['unknown']): SessionSpend {
  return { session, tokens: null, answers: 0, models: [], unknown };
}

async function usageOf(
  { harness, path }: SpentSession,
  cache_dir: string,
): Promise<TokenUsage | 'transcript_missing' | 'unreadable'> {
  if (path === null || harness === null) return 'transcript_missing';
  const kept = join(cache_dir, `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.spend`);
  try {
    const paths = [path, ...(await agentsBelow(harness, path))];
    return (await bringUpToDate(kept, paths, harness)).usage;
  } catch (error) {
    if (isCoded(error, 'not_a_file')) return 'unreadable';
    const code = systemCode(error);
    if (code === undefined) throw error;
    return code === 'ENOENT' ? 'transcript_missing' : 'unreadable';
  }
}

/** Transcripts of the session's sub-agents, which use the same account. */
async function agentsBelow(harness: HarnessName, path: string): Promise<string[]> {
  const folder = agentsFolder(harness, path);
  if (folder === null) return [];
  try {
    return (await filesIn(folder, (name) => name.endsWith('.jsonl'))).sort();
  } catch (error) {
    if (systemCode(error) === 'ENOTDIR') return [];
    throw error;
  }
}

function agentsFolder(harness: HarnessName, path: string): string | null {
  return HARNESSES[harness].transcripts.agentsFolder?.(path) ?? null;
}

async function bringUpToDate(
  kept: string,
  paths: readonly string[],
  harness: HarnessName,
): Promise<Checkpoint> {
  const { records } = HARNESSES[harness];
  const marks = records.usage_marks.map((mark) => Buffer.from(mark));
  const files = await openAll(paths);
  try {
    const before = await readCheckpoint(kept);
    const now = before !== null && (await goesOn(before, files)) ? before : emptyCheckpoint();
    let grew = false;
    for (const { path, file } of files) {
      let place = now.places.find((known) => known.path === path);
      if (place === undefined) {
        place = { path, ino: (await file.stat()).ino, offset: 0, before: Buffer.alloc(0) };
        now.places.push(place);
      }
      const offset = await scanRecords(
        file,
        place.offset,
        (record) => void records.addUsage(now.usage, record),
        (line) => marks.some((mark) => line.includes(mark)),
      );
      if (offset === place.offset) continue;
      grew = true;
      place.offset = offset;
      place.before = await bytesBefore(file, offset);
    }
    if (grew) await keep(kept, now);
    return now;
  } finally {
    await Promise.all(files.map(({ file }) => file.close()));
  }
}

/** True if every file read so far still exists and has only grown. */
async function goesOn({ places }: Checkpoint, files: readonly OpenFile[]): Promise<boolean> {
  for (const { path, ino, offset, before } of places) {
    const file = files.find((open) => open.path === path)?.file;
    if (file === undefined || (await file.stat()).ino !== ino) return false;
    if (!before.equals(await bytesBefore(file, offset))) return false;
  }
  return true;
}

async function bytesBefore(file: FileHandle, offset: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.min(offset, MOST_BEFORE));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, offset - bytes.length);
  return bytes.subarray(0, bytesRead);
}

function emptyCheckpoint(): Checkpoint {
  return { version: 1, places: [], usage: noUsage() };
}

type OpenFile = { path: string; file: FileHandle };

async function openAll(paths: readonly string[]): Promise<OpenFile[]> {
  const files: OpenFile[] = [];
  try {
    for (const path of paths) files.push({ path, file: (await openRegularFile(path)).file });
    return files;
  } catch (error) {
    await Promise.all(files.map(({ file }) => file.close()));
    throw error;
  }
}

async function readCheckpoint(path: string): Promise<Checkpoint | null> {
  try {
    const checkpoint = packr.unpack(
      (await readRegularFile(path, READ_LIMITS.spend_cache)).bytes,
    ) as Checkpoint;
    return checkpoint?.version === 1 && Array.isArray(checkpoint.places) ? checkpoint : null;
  } catch {
    // A damaged checkpoint is not needed: the transcript can be read again.
    return null;
  }
}

/** If a checkpoint cannot be saved, the next call reads that data again. */
async function keep(path: string, checkpoint: Checkpoint): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    writeFileAtomic(path, packr.pack(checkpoint), { durable: false });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
  }
}
