import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Packr } from 'msgpackr';
import { sha256Of } from '../../base/digest.ts';
import { isCoded, systemCode } from '../../base/errors.ts';
import type { HarnessName } from '../../contract/harness-name.ts';
import type { SessionSpend } from '../../contract/http/spend.ts';
import { AppendOnlyFile, type ReadPosition } from '../../platform/append-only-file.ts';
import { writeFileAtomic } from '../../platform/atomic-write.ts';
import { requireAnswer } from '../../platform/foreign-paths.ts';
import { READ_LIMITS } from '../../platform/read-limits.ts';
import { readRegularFile } from '../../platform/regular-file.ts';
import { HARNESSES } from '../harnesses.ts';
import { noUsage, sumUsage, type TokenUsage } from './token-usage.ts';
import { filesIn } from './transcript-files.ts';
import { scanRecords } from './transcript-scan.ts';

/** A session and the path of its transcript; null if it has none. */
export type SpentSession = { session: string; harness: HarnessName | null; path: string | null };

type Checkpoint = { version: 2; places: { path: string; position: ReadPosition }[]; usage: TokenUsage };

/** Encodes maps and objects differently. */
const packr = new Packr({ useRecords: true });

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
  const kept = join(cache_dir, `${sha256Of(path).slice(0, 32)}.spend`);
  try {
    const paths = [path, ...(await agentsBelow(harness, path))];
    for (const one of paths) await requireAnswer(one);
    return (await bringUpToDate(kept, paths, harness)).usage;
  } catch (error) {
    if (isCoded(error, 'not_a_file') || isCoded(error, 'file_unavailable')) return 'unreadable';
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
  const wanted = (line: Buffer) => marks.some((mark) => line.includes(mark));
  const files = openAll(paths);
  try {
    const before = await readCheckpoint(kept);
    const now = before !== null && goesOn(before, files) ? before : emptyCheckpoint();
    let grew = false;
    for (const [path, file] of files) {
      let place = now.places.find((known) => known.path === path);
      if (place === undefined) {
        place = { path, position: file.at() };
        now.places.push(place);
      }
      const from = place.position.offset;
      for (const { record } of scanRecords(file, place.position, { wanted }))
        records.addUsage(now.usage, record);
      grew ||= place.position.offset > from;
    }
    if (grew) await keep(kept, now);
    return now;
  } finally {
    for (const file of files.values()) file.close();
  }
}

/** True if every file read so far still exists and has only grown. */
function goesOn({ places }: Checkpoint, files: ReadonlyMap<string, AppendOnlyFile>): boolean {
  return places.every(({ path, position }) => files.get(path)?.knows(position) === true);
}

function emptyCheckpoint(): Checkpoint {
  return { version: 2, places: [], usage: noUsage() };
}

function openAll(paths: readonly string[]): Map<string, AppendOnlyFile> {
  const files = new Map<string, AppendOnlyFile>();
  try {
    for (const path of paths) files.set(path, AppendOnlyFile.open(path));
    return files;
  } catch (error) {
    for (const file of files.values()) file.close();
    throw error;
  }
}

async function readCheckpoint(path: string): Promise<Checkpoint | null> {
  try {
    const checkpoint = packr.unpack(await readRegularFile(path, READ_LIMITS.spend_cache)) as Checkpoint;
    return checkpoint?.version === 2 && Array.isArray(checkpoint.places) ? checkpoint : null;
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
