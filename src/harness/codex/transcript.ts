import { join } from 'node:path';
import type { TranscriptProbe, TranscriptQuery } from '../adapter.ts';
import { asTable } from '../table.ts';
import { filesIn, findByMarker, namesIn, probeFile, spellingsOf } from '../transcripts/transcript-files.ts';

const DAY_MS = 86_400_000;

/** Finds the transcript of a known session: among the days around its creation, else in the archive. */
export async function findTranscript(codex_home: string, session_uuid: string): Promise<TranscriptProbe> {
  const sessions = join(codex_home, 'sessions');
  const born = uuidTime(session_uuid);
  const days = born === null ? await allDays(sessions) : daysAround(sessions, born);
  const isIts = (name: string) => name.startsWith('rollout-') && name.endsWith(`-${session_uuid}.jsonl`);
  for (const folder of [...days, join(codex_home, 'archived_sessions')]) {
    const [path] = await filesIn(folder, isIts);
    if (path !== undefined) return probeFile(path, session_uuid);
  }
  return { kind: 'missing' };
}

/** Path of the transcript of a session; null if there is none. */
export async function findSession(codex_home: string, session: string): Promise<string | null> {
  const probe = await findTranscript(codex_home, session);
  return probe.kind === 'found' ? probe.path : null;
}

/** Finds the transcript of a launch with an unknown id, by its folder and a user message that contains the marker. */
export async function learnTranscript(
  codex_home: string,
  query: Pick<TranscriptQuery, 'project_dir' | 'marker' | 'launched_at'>,
): Promise<TranscriptProbe> {
  const cwds = await spellingsOf(query.project_dir);
  const { launched_at, marker } = query;
  // The search runs within minutes of the launch; the neighbouring days also cover a clock that is off by a day.
  const days = daysAround(join(codex_home, 'sessions'), launched_at);
  const files: string[] = [];
  for (const day of days) files.push(...(await filesIn(day, (name) => /^rollout-.*\.jsonl$/.test(name))));
  return findByMarker({
    files,
    marker,
    launched_at,
    sessionOf: (first) => ownSession(first, cwds),
    isUserRecord(record) {
      const payload = asTable(record.payload);
      return record.type === 'response_item' && payload.type === 'message' && payload.role === 'user';
    },
  });
}

/** The id of a session that was begun in one of the folders; null for forks and sub-agents. */
function ownSession(first: Record<string, unknown>, cwds: string[]): string | null {
  const meta = asTable(first.payload);
  const began =
    first.type === 'session_meta' &&
    typeof meta.source === 'string' &&
    typeof meta.cwd === 'string' &&
    cwds.includes(meta.cwd) &&
    typeof meta.forked_from_id !== 'string';
  return began && typeof meta.id === 'string' ? meta.id : null;
}

/** The day folders (in local time, as Codex names them) of a time's day and of the days before and after. */
function daysAround(sessions: string, moment: number): string[] {
  const days: string[] = [];
  for (const at of [moment, moment - DAY_MS, moment + DAY_MS]) {
    const day = new Date(at);
    const two = (value: number) => String(value).padStart(2, '0');
    days.push(join(sessions, String(day.getFullYear()), two(day.getMonth() + 1), two(day.getDate())));
  }
  return [...new Set(days)];
}

async function allDays(sessions: string): Promise<string[]> {
  const days: string[] = [];
  const numbered = async (folder: string) => (await namesIn(folder)).filter((name) => /^\d+$/.test(name));
  for (const year of await numbered(sessions)) {
    for (const month of await numbered(join(sessions, year))) {
      const folder = join(sessions, year, month);
      days.push(...(await numbered(folder)).map((day) => join(folder, day)));
    }
  }
  return days.sort().reverse();
}

/** The creation time in a version 7 UUID, in milliseconds; null for any other id. */
function uuidTime(id: string): number | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i.exec(id);
  return match === null ? null : Number.parseInt(`${match[1]}${match[2]}`, 16);
}
