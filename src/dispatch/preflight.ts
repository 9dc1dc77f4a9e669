import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, sep } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { systemCode } from '../base/errors.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { Refusal } from './refusals.ts';

/** How long a `project_dir` on a stuck disk may keep a launch waiting, in milliseconds. */
const DIRECTORY_DEADLINE_MS = 5_000;

/**
 * Refusals that frontmatter alone decides, before anything is touched: a missing ULID (DSP-9), a surface
 * this daemon cannot serve, a `project_dir` that is absent or relative.
 */
export function refuseByDocument(document: FiberDocument): Refusal | null {
  if (document.error !== undefined)
    return { reason: 'invalid_document', message: `${document.path} cannot be read: ${document.error}` };
  if (document.uid === null)
    return {
      reason: 'uid_missing',
      message: `${document.id} has no ULID in its frontmatter; any \`svc fiber edit\` writes one`,
    };
  if (document.svc?.surface === 'app')
    return {
      reason: 'surface_unsupported',
      message:
        'app conversations are not served by this daemon; set svc.surface to cli to run it in a terminal',
    };
  if (document.project_dir === undefined)
    return {
      reason: 'project_dir_missing',
      message: `${document.id} names no project_dir; set one with \`svc install ${document.id} --project-dir DIR\``,
      needs: 'project_dir',
    };
  if (!isAbsolute(document.project_dir))
    return {
      reason: 'project_dir_missing',
      message: `project_dir ${document.project_dir} is not an absolute path`,
      needs: 'project_dir',
    };
  return null;
}

/**
 * Looks at `project_dir` on disk (DSP-4): the only place that does, and only for a fiber that is about to be
 * spawned. A worker is never run inside a document store.
 */
export async function refuseByDirectory(directory: string, clock: Clock): Promise<Refusal | null> {
  const answer = await withDeadline(lookAt(directory), clock);
  if (answer === 'timed_out')
    return {
      reason: 'project_dir_unreachable',
      message: `project_dir ${directory} did not answer within ${DIRECTORY_DEADLINE_MS / 1000} s; is its disk mounted?`,
    };
  if (answer.kind === 'directory') {
    if (!answer.real.split(sep).includes('.fibers')) return null;
    return {
      reason: 'project_dir_in_store',
      message: `project_dir ${directory} lies inside a document store; choose the project’s own folder`,
      needs: 'project_dir',
    };
  }
  return {
    reason: 'project_dir_missing',
    message: `project_dir ${directory} ${answer.why}`,
    needs: 'project_dir',
  };
}

type Looked = { kind: 'directory'; real: string } | { kind: 'refused'; why: string };

async function lookAt(directory: string): Promise<Looked> {
  try {
    const found = await stat(directory);
    if (!found.isDirectory()) return { kind: 'refused', why: 'is not a directory' };
    return { kind: 'directory', real: await realpath(directory) };
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'refused', why: 'does not exist' };
    return { kind: 'refused', why: `cannot be read (${code ?? 'unknown error'})` };
  }
}

function withDeadline<T>(work: Promise<T>, clock: Clock): Promise<T | 'timed_out'> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(DIRECTORY_DEADLINE_MS, () => resolve('timed_out'));
    work.then(resolve, reject).finally(cancel);
  });
}
