import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from '../base/errors.ts';
import { defineRow, type Reply, type Row } from '../http/row.ts';
import type { RouteContext } from './context.ts';

const HINT =
  'The board is not built here. Run `npm run build` in the checkout, or set SVC_UI_DIST to the folder that holds it.\n' +
  'The API answers all the same: /api/v1/version\n';

/** The board shell; served while booting too (RDY-3). */
export function boardRows(context: Pick<RouteContext, 'ui_dist'>): Row[] {
  return [
    defineRow({
      method: 'GET',
      path: '/',
      who: 'operator',
      state: 'always',
      body_limit: 0,
      shared: false,
      replies: { 200: 'text', 304: 'empty', 404: 'text' },
      handler: () => shell(context.ui_dist),
    }),
    defineRow({
      method: 'GET',
      path: '/phone',
      who: 'operator',
      state: 'always',
      body_limit: 0,
      shared: false,
      replies: { 302: 'empty' },
      handler: () => ({ status: 302, empty: true, headers: { Location: '/' } }),
    }),
  ];
}

async function shell(ui_dist: string | null): Promise<Reply> {
  const page = ui_dist === null ? null : await readPage(join(ui_dist, 'index.html'));
  if (page === null) {
    return { status: 404, bytes: Buffer.from(HINT), content_type: 'text/plain; charset=utf-8' };
  }
  const etag = `"sha256-${createHash('sha256').update(page).digest('hex')}"`;
  return { status: 200, bytes: page, content_type: 'text/html; charset=utf-8', etag };
}

/** Null when there is no such page; any other failure is a fault. */
async function readPage(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}
