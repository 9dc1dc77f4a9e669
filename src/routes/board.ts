import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { CodedError, isCoded } from '../base/errors.ts';
import { defineRow, type Reply, type Row } from '../http/row.ts';
import type { Callers, Files } from './callers.ts';
import type { RouteContext } from './context.ts';

const MOST_PAGE_BYTES = 16 * 1024 * 1024;

const HINT =
  'The board is not built here. Run `npm run build` in the checkout, or set SVC_UI_DIST to the folder that holds it.\n' +
  'The API answers all the same: /api/v1/version\n';

/** The board shell; served while booting too (RDY-3). */
export function boardRows({ files }: Pick<Callers, 'files'>, context: Pick<RouteContext, 'ui_dist'>): Row[] {
  return [
    defineRow({
      method: 'GET',
      path: '/',
      summary: 'The board',
      routing: 'local',
      state: 'always',
      body_limit: 0,
      shared: false,
      replies: { 200: 'text', 304: 'empty', 404: 'text' },
      handler: () => shell(files, context.ui_dist),
    }),
    defineRow({
      method: 'GET',
      path: '/phone',
      summary: 'Leads to the board',
      routing: 'local',
      state: 'always',
      body_limit: 0,
      shared: false,
      replies: { 302: 'empty' },
      handler: () => ({ status: 302, empty: true, headers: { Location: '/' } }),
    }),
  ];
}

async function shell(files: Files, ui_dist: string | null): Promise<Reply> {
  const page = ui_dist === null ? null : await readPage(files, join(ui_dist, 'index.html'));
  if (page === null) {
    return { status: 404, bytes: Buffer.from(HINT), content_type: 'text/plain; charset=utf-8' };
  }
  const etag = `"sha256-${createHash('sha256').update(page).digest('hex')}"`;
  return { status: 200, bytes: page, content_type: 'text/html; charset=utf-8', etag };
}

/** Null when there is no such page; any other failure is a fault. */
async function readPage(files: Files, path: string): Promise<Uint8Array | null> {
  try {
    const { stamp } = await files.stamp(path);
    if (stamp.size > MOST_PAGE_BYTES)
      throw new CodedError(
        'file_too_large',
        `${path} has ${stamp.size} bytes; the page of the board may have ${MOST_PAGE_BYTES}`,
      );
    return await files.head(path, stamp, MOST_PAGE_BYTES);
  } catch (error) {
    if (isCoded(error, 'file_not_found')) return null;
    throw error;
  }
}
