import {
  chooseFolderSchema,
  FOLDER_DIALOG_MS,
  fiberStoresSchema,
  folderChoiceSchema,
  projectsWrittenSchema,
  storesWrittenSchema,
  writeProjectsSchema,
  writeStoresSchema,
} from '../contract/http/config.ts';
import { conflictSchema } from '../contract/http/errors.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { storeHealthSchema, sweepStoreSchema } from '../contract/http/state.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

const LIST_LIMIT = 1024 * 1024;
const REQUEST_LIMIT = 64 * 1024;

/** The stores and projects of this host, and its folder dialog (RPL-6, WPL-14, WPL-15, WPL-20). */
export function fiberStoresRows(callers: Pick<Callers, 'poller' | 'fleet'>, context: RouteContext): Row[] {
  const { poller, fleet } = callers;
  const { host } = context;
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/fiber-stores',
      summary: 'The stores and projects of each host, and whether a folder dialog can be shown there',
      page: 'operator-files.md',
      routing: 'fan-in',
      state: 'ready',
      body_limit: 0,
      shared: true,
      replies: { 200: fiberStoresSchema },
      async handler() {
        const [here, others] = await Promise.all([
          poller.call('fiber_stores', {}),
          // What they told last is beside the point for who wants the lists of this host.
          fleet.call('stores', {}).catch(() => ({ origins: {} })),
        ]);
        const fresh = { state: 'fresh', last_ok_at: null, error: null };
        return { status: 200, json: { host, origins: { [host]: { ...here, ...fresh }, ...others.origins } } };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/fiber-stores',
      summary: 'Replaces the list of stores; the daemon polls them at once',
      example: { body: { stores: ['/srv/notes'], dry_run: true } },
      page: 'operator-files.md',
      routing: 'host',
      state: 'ready',
      body: writeStoresSchema,
      body_limit: LIST_LIMIT,
      replies: { 200: storesWrittenSchema.or(rehearsalSchema), 409: conflictSchema },
      async handler({ body }) {
        return { status: 200, json: await poller.call('write_stores', body) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/fiber-stores/sweep',
      summary: 'Reads one store now, and answers whether it could be read',
      example: { body: { store: '/srv/notes', dry_run: true } },
      page: 'daemon.md',
      routing: 'host',
      state: 'ready',
      body: sweepStoreSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: storeHealthSchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('sweep_store', body) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/projects',
      summary: 'Makes a folder a store and a project of the pickers, or replaces the whole list',
      example: { body: { path: '/srv/dev/loader' } },
      page: 'operator-files.md',
      routing: 'host',
      state: 'ready',
      body: writeProjectsSchema,
      body_limit: LIST_LIMIT,
      replies: { 200: projectsWrittenSchema.or(rehearsalSchema), 409: conflictSchema },
      async handler({ body }) {
        return { status: 200, json: await poller.call('write_projects', body) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/choose-folder',
      summary: 'Shows the folder dialog of the host and answers what the person chose',
      example: { body: { title: 'Where shall it work?' } },
      page: 'operator-files.md',
      routing: 'host',
      answer_ms: FOLDER_DIALOG_MS + 30_000,
      state: 'ready',
      body: chooseFolderSchema,
      body_limit: REQUEST_LIMIT,
      replies: { 200: folderChoiceSchema },
      async handler({ id, signal, body }) {
        const { title } = body;
        // Whoever asked is gone, so nobody may be left with a dialog that leads nowhere.
        const gone = () => void poller.call('end_dialog', { dialog: id }).catch(() => undefined);
        signal.addEventListener('abort', gone, { once: true });
        try {
          const choice = await poller.call('choose_folder', {
            dialog: id,
            ...(title !== undefined && { title }),
          });
          return { status: 200, json: choice };
        } finally {
          signal.removeEventListener('abort', gone);
        }
      },
    }),
  ];
}
