import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../../base/errors.ts';
import { mayFollow, requireAnswer } from '../../platform/foreign-paths.ts';
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

/**
 * A search for transcripts of sessions in the folder of any project, which lists each `projects` folder once; files beside
 * these folders are skipped. Throws `file_unavailable` for one that may be in a folder whose disk does not answer.
 */
export function searchProjects(): (claude_dir: string, session: string) => Promise<string | null> {
  const listed = new Map<string, Promise<{ open: string[]; silent: string[] }>>();
  return async (claude_dir, session) => {
    const projects = join(claude_dir, 'projects');
    const found = listed.get(projects) ?? foldersIn(projects);
    listed.set(projects, found);
    const { open, silent } = await found;
    for (const folder of open) {
      const path = join(folder, `${session}.jsonl`);
      if (isThere(path) && (await probeFile(path, session)).kind === 'found') return path;
    }
    for (const folder of silent) await requireAnswer(folder);
    return null;
  };
}

/** What a folder holds; `silent` are links to disks that do not answer. */
async function foldersIn(projects: string): Promise<{ open: string[]; silent: string[] }> {
  const folders = (await namesIn(projects)).map((name) => join(projects, name));
  const proofs = await Promise.all(folders.map((folder) => mayFollow(folder)));
  return {
    open: folders.filter((_, nth) => proofs[nth] === 'answers'),
    silent: folders.filter((_, nth) => proofs[nth] !== 'answers'),
  };
}

/** Whether a folder that was found to answer has this entry; a link counts, and is not followed. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    // A file beside the project folders, or a folder that we may not read.
    if (['ENOTDIR', 'EACCES'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}
