import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FiberDocument, FiberStatus, SvcBlock } from '../../../contract/fiber.ts';
import type { NewFiber } from '../../../fibers/new-document.ts';
import { initStore } from '../../../fibers/store.ts';
import { makeFolder } from '../../../platform/make-folder.ts';

export const DEMO_HOST = 'demo-host';
export const DEMO_AGENT = 'demo';

/** Folders of one demo, all in one folder, so that removing it leaves nothing behind. */
export type DemoFolders = { store: string; projects: string; data: string; config: string; agent: string };

export function demoFolders(root: string): DemoFolders {
  return {
    store: join(root, 'store'),
    projects: join(root, 'projects'),
    data: join(root, 'data'),
    config: join(root, 'config'),
    agent: join(root, 'agent'),
  };
}

/** Project folders; each is a Git repository. */
export const DEMO_PROJECTS = ['loader', 'notes', 'handbook'];

type DemoFiber = NewFiber & { slug: string; project?: string; block?: SvcBlock };

const FIBERS: readonly DemoFiber[] = [
  {
    name: 'Rewrite the loader',
    slug: 'loader',
    body: 'The loader reads every file twice. Make it read once.\n\nSessions planned: 3',
    project: 'loader',
    block: { kind: 'oneshot' },
  },
  {
    name: 'Collect the field notes',
    slug: 'field-notes',
    body: 'One page from the notebooks of the spring.\n\nSessions planned: 2',
    project: 'notes',
    block: { kind: 'oneshot' },
  },
  {
    name: 'Check every link in the handbook',
    slug: 'links',
    body: 'A list of the dead ones is enough.\n\nSessions planned: 1',
    project: 'handbook',
    block: { kind: 'oneshot' },
  },
  {
    name: 'Digest of the minute',
    slug: 'digest',
    body: 'A standing role: it runs when its schedule says so, and closes for review each time.\n\nSessions planned: 1',
    project: 'notes',
    block: { kind: 'standing', schedule: '* * * * *', tz: 'UTC' },
  },
  {
    name: 'Librarian',
    slug: 'librarian',
    body: 'A pinned role: it waits until somebody starts it.\n\nSessions planned: 1',
    project: 'handbook',
    status: 'open',
    block: { kind: 'pinned' },
  },
  {
    name: 'Port the old archive',
    slug: 'archive',
    body: 'Its project folder is missing on purpose: see why it is blocked.',
    project: 'no-such-folder',
    block: { kind: 'oneshot' },
  },
  {
    name: 'Plan the reading room',
    slug: 'reading-room',
    body: 'A draft. Nobody works on it before it is installed.',
    status: 'open',
  },
  {
    name: 'Sort the map drawer',
    slug: 'map-drawer',
    body: 'Closed by its worker; waits for a person to accept it.',
    outcome: 'Sorted by region and year; twelve sheets are missing.',
    status: 'closed',
    project: 'handbook',
    block: { kind: 'oneshot' },
  },
];

/** Canonical ids of the fibers that the demo contains. */
export const DEMO_FIBER_IDS: readonly string[] = FIBERS.map((fiber) => fiber.slug);

/** Fills a new demo folder: the store with its fibers, and the project folders. */
export async function seedDemo(folders: DemoFolders): Promise<void> {
  if (existsSync(join(folders.store, '.fibers'))) return;
  for (const folder of Object.values(folders)) makeFolder(folder);
  for (const name of DEMO_PROJECTS) makeFolder(join(folders.projects, name), 0o777);
  const store = initStore(folders.store);
  for (const fiber of FIBERS) await store.create(documentOf(fiber, folders));
}

function documentOf(fiber: DemoFiber, folders: DemoFolders): NewFiber {
  const { project, block, ...document } = fiber;
  const status: FiberStatus = fiber.status ?? 'active';
  if (block === undefined || project === undefined) return { ...document, status };
  return {
    ...document,
    status,
    svc: { ...block, host: DEMO_HOST, project_dir: join(folders.projects, project), agent: DEMO_AGENT },
  };
}

/** True if all fibers of the demo are done, so that no worker would start without a change. */
export function isPlayedOut(documents: readonly Pick<FiberDocument, 'id' | 'status'>[]): boolean {
  const waiting = FIBERS.filter(
    (fiber) => fiber.project !== undefined && DEMO_PROJECTS.includes(fiber.project),
  ).map((fiber) => fiber.slug);
  return !documents.some(({ id, status }) => status === 'active' && waiting.includes(id));
}
