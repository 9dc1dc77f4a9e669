import { statSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../base/errors.ts';
import { folderNames } from '../../platform/folder-names.ts';
import type { TranscriptProbe, TranscriptQuery } from '../adapter.ts';
import { namesIn, probeFile, spellingsOf } from '../transcripts/transcript-files.ts';

/** Claude Code cuts longer folder names to this length and appends a hash of the whole. */
const MOST_NAME_LENGTH = 200;

/** Finds the transcript of a session in the folder of its project below `<claude_dir>/projects`. */
export async function findTranscript(
  claude_dir: string,
  { project_dir, session_uuid }: TranscriptQuery,
): Promise<TranscriptProbe> {
  if (session_uuid === null) return { kind: 'missing' };
  const projects = join(claude_dir, 'projects');
  for (const cwd of await spellingsOf(project_dir)) {
    const name = projectFolder(cwd);
    const folders = name.length > MOST_NAME_LENGTH ? await namesStarting(projects, name) : [name];
    for (const folder of folders) {
      const probe = await probeFile(join(projects, folder, `${session_uuid}.jsonl`), session_uuid);
      if (probe.kind !== 'missing') return probe;
    }
  }
  return { kind: 'missing' };
}

/** The name of a working folder below `projects/`: every character but letters and digits becomes a hyphen. */
export function projectFolder(cwd: string): string {
  return cwd.replace(/[^a-zA-Z0-9]/g, '-');
}

async function namesStarting(projects: string, name: string): Promise<string[]> {
  const start = name.slice(0, MOST_NAME_LENGTH);
  return (await namesIn(projects)).filter((folder) => folder.startsWith(start));
}

/** Finds the transcript of a session in the folder of any project; files beside these folders are skipped. */
export async function findSession(claude_dir: string, session: string): Promise<string | null> {
  const projects = join(claude_dir, 'projects');
  for (const folder of await namesIn(projects)) {
    const probe = await probeFile(join(projects, folder, `${session}.jsonl`), session).catch(() => null);
    if (probe?.kind === 'found') return probe.path;
  }
  return null;
}

/** `findSession` for many sessions: lists each `projects` folder once. */
export function searchProjects(): (claude_dir: string, session: string) => string | null {
  const listed = new Map<string, string[]>();
  return (claude_dir, session) => {
    const projects = join(claude_dir, 'projects');
    const folders = listed.get(projects) ?? folderNames(projects);
    listed.set(projects, folders);
    for (const folder of folders) {
      const path = join(projects, folder, `${session}.jsonl`);
      if (isFile(path)) return path;
    }
    return null;
  };
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    // A file beside the project folders, or a folder that we may not read.
    if (['ENOTDIR', 'EACCES'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}
