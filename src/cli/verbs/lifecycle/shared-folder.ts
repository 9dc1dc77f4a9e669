import { z } from 'zod';
import { shellWord } from '../../../base/shell-word.ts';
import { type FiberDocument, fiberRowSchema, NEW_WORKTREE } from '../../../contract/fiber.ts';
import { findGit } from '../../../platform/git-folder.ts';
import type { DaemonClient } from '../../daemon-client/client.ts';

const rowsSchema = z.object({
  fibers: z.array(fiberRowSchema.pick({ id: true, project_dir: true, runtime: true })),
});
/** How many fibers of a shared folder a warning names. */
const NAMED = 3;
type Row = z.output<typeof rowsSchema>['fibers'][number];

/**
 * Warns whoever sets a fiber to work in a folder in which a worker of another one is (DSP-6). `started`: its own worker runs
 * already, and only the next one can be somewhere else.
 */
export async function sharedFolderWarnings(
  daemon: Pick<DaemonClient, 'get'>,
  fiber: Pick<FiberDocument, 'id' | 'project_dir' | 'svc'>,
  svc: string,
  { started = false }: { started?: boolean } = {},
): Promise<string[]> {
  if (fiber.project_dir === undefined || fiber.svc?.worktree === NEW_WORKTREE) return [];
  const { fibers } = await daemon.get('/fibers?svc=1', rowsSchema);
  const others = workersIn(fibers, fiber.id, fiber.project_dir);
  if (others.length === 0) return [];
  const who = `${named(others)} ${others.length === 1 ? 'works' : 'work'}`;
  const change =
    (await findGit(fiber.project_dir).catch(() => null)) !== null
      ? `${started ? 'its next worker gets a git worktree of its own' : 'a git worktree of its own is given'} with: ${svc} reshape ${shellWord(fiber.id)} --worktree`
      : `${started ? 'its next worker gets another folder' : 'another folder is given'} with: ${svc} reshape ${shellWord(fiber.id)} --project-dir <dir>`;
  return [`${who} in this folder too, so that each changes the files of the other; ${change}`];
}

/** As many as a person reads, and how many others there are. */
function named(fibers: readonly string[]): string {
  const shown = fibers.slice(0, NAMED);
  const more = fibers.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}

/** The other fibers with a worker in this folder, in one above it or below it. */
export function workersIn(rows: readonly Row[], id: string, folder: string): string[] {
  return rows.flatMap((row) => {
    const { project_dir } = row;
    if (row.id === id || row.runtime === undefined || project_dir === undefined) return [];
    return isWithin(project_dir, folder) || isWithin(folder, project_dir) ? [row.id] : [];
  });
}

function isWithin(folder: string, other: string): boolean {
  return folder === other || folder.startsWith(other.endsWith('/') ? other : `${other}/`);
}
