import type { FiberRow } from '../contract/fiber.ts';
import { type NoWorkTree, uncommittedQuerySchema, uncommittedSchema } from '../contract/http/uncommitted.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { Lane } from './lane.ts';

/** Folders that wait to be compared, each up to some seconds. */
const MOST_WAITING = 16;

/** `GET /uncommitted`: what the folder of a fiber has that no commit has. */
export function uncommittedRows(
  { poller, pool, files }: Pick<Callers, 'poller' | 'pool' | 'files'>,
  { host }: Pick<RouteContext, 'host'>,
): Row[] {
  const lane = new Lane(MOST_WAITING);
  const workIn = async (folder: string | null, patch: boolean) => {
    if (folder === null) return none('no_folder', 'it names no folder');
    const { kind } = await files.stat(folder);
    if (kind !== 'directory') return none('folder_missing', `${folder} is no folder of ${host}`);
    return (await lane.run(() => pool.run('read_uncommitted', { folder, patch }))).value.work;
  };
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/uncommitted',
      summary: 'What the folder of a fiber has that no commit has',
      example: { query: 'fiber=say-hello' },
      page: 'ledgers.md',
      routing: 'owner',
      state: 'ready',
      query: uncommittedQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: uncommittedSchema },
      async handler({ query: { fiber: reference, patch } }) {
        // The folder is the document's: no request names one.
        const { fiber } = await poller.call('fiber', { id: reference });
        const folder = workFolderOf(fiber);
        const { id: fiber_id, twins } = fiber;
        // By a ULID that others have, a client would find their commits.
        const uid = twins === undefined ? fiber.uid : null;
        return { status: 200, json: { host, fiber_id, uid, folder, work: await workIn(folder, patch) } };
      },
    }),
  ];
}

/** Where the workers of a fiber change files. */
function workFolderOf({ project_dir }: FiberRow): string | null {
  return project_dir ?? null;
}

function none(state: NoWorkTree['state'], detail: string): NoWorkTree {
  return { state, detail };
}
