import { isAbsolute } from 'node:path';
import { shellWord } from '../../base/shell-word.ts';
import { holdsControlCharacters, resolveDirectory } from '../../config/resolve-directory.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { namePaths, tellApart } from '../../fibers/fiber-reference.ts';
import type { Refusal } from '../holds/refusals.ts';
import type { DirectoryLook } from '../world/world.ts';

/**
 * Refusals that frontmatter alone decides, before anything is touched: a missing ULID (DSP-9), an id
 * that two documents share, a `project_dir` that is absent, relative or holds control characters.
 */
export function refuseByDocument(document: FiberDocument, twins: readonly FiberDocument[]): Refusal | null {
  if (document.error !== undefined)
    return { reason: 'invalid_document', message: `${document.path} cannot be read: ${document.error}` };
  if (twins.length > 0) return { reason: 'ambiguous_fiber', message: describeTwins([document, ...twins]) };
  if (document.uid === null)
    return {
      reason: 'uid_missing',
      message: `${document.id} has no ULID in its frontmatter; \`${installAnew(document)}\` writes one`,
    };
  if (document.project_dir === undefined)
    return missing(
      `${document.id} names no project folder; set one with \`svc install ${shellWord(document.id)} --project-dir DIR\``,
    );
  if (holdsControlCharacters(document.project_dir))
    return missing(
      `the project folder of ${document.id} holds control characters; set another with \`svc install ${shellWord(document.id)} --project-dir DIR\``,
    );
  if (!isAbsolute(document.project_dir))
    return missing(`the project folder ${document.project_dir} is not an absolute path`);
  return null;
}

/** Why fibers that have one uid, or one canonical id in their store, cannot be started. */
export function describeTwins(fibers: readonly FiberDocument[]): string {
  const [first, ...others] = fibers;
  const one_uid = others.every(({ uid }) => uid !== null && uid.toUpperCase() === first?.uid?.toUpperCase());
  const fix = one_uid
    ? `${tellApart(fibers)}. To give ${first?.id} one of its own: svc fiber new-id ${shellWord(first?.path ?? '')}`
    : `they have one id, ${first?.id}: rename one of them`;
  return `${namePaths(fibers)} cannot be started: ${fix}`;
}

/** The command that writes a service block of this kind once more, and with it what the document lacks. */
function installAnew({ id, svc }: FiberDocument): string {
  if (svc?.kind === 'standing')
    return `svc repeat ${shellWord(id)} --schedule "${svc.schedule ?? '0 9 * * *'}"`;
  return svc?.kind === 'pinned' ? `svc pin ${shellWord(id)}` : `svc install ${shellWord(id)}`;
}

/** What a look at `project_dir` means for a start (DSP-4). A worker is never run inside a document store. */
export function refuseByDirectory(directory: string, look: DirectoryLook): Refusal | null {
  switch (look.kind) {
    case 'directory':
      return null;
    case 'in_store':
      return {
        reason: 'project_dir_in_store',
        message: `the project folder ${directory} lies inside a document store; choose the project’s own folder`,
        needs: 'project_dir',
      };
    case 'silent':
      return {
        reason: 'project_dir_unreachable',
        message: `the project folder ${directory}: ${look.place} did not answer within ${look.after_ms / 1000} s; check that its disk is mounted. It is retried automatically`,
      };
    case 'unchecked':
      return {
        reason: 'queue_full',
        message: `the project folder ${directory} was not looked at yet, since this machine is busy or other folders are looked at; try again in a moment`,
      };
    case 'missing':
      return missing(`the project folder ${directory} does not exist`);
    case 'not_directory':
      return missing(`the project folder ${directory} is not a directory`);
    case 'unreadable':
      return missing(`the project folder ${directory} cannot be read (${look.detail})`);
  }
}

function missing(message: string): Refusal {
  return { reason: 'project_dir_missing', message, needs: 'project_dir' };
}

/** The directory that a person confirmed for a dispatch (WPL-1), made absolute; `~` is the daemon's home. */
export function requestedDirectory(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : resolveDirectory(text, null);
}
