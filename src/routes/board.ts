import { CodedError } from '../base/errors.ts';
import { boardQuerySchema } from '../contract/http/board.ts';
import type { Reply } from '../http/reply.ts';
import { defineRow, type Row } from '../http/row.ts';
import { type BoardFile, BoardFiles } from './board-files.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

const NOT_BUILT: Reply = {
  status: 404,
  bytes: Buffer.from(
    'The board is not built here. Run `npm run build` in the checkout, or set SVC_UI_DIST to the folder that holds it.\n' +
      'The API answers all the same: /api/v1/version\n',
  ),
  content_type: 'text/plain; charset=utf-8',
};

/** The board; served while booting too (RDY-3). */
export function boardRows({ files }: Pick<Callers, 'files'>, context: Pick<RouteContext, 'ui_dist'>): Row[] {
  const board = context.ui_dist === null ? null : new BoardFiles(files, context.ui_dist);
  const common = {
    method: 'GET',
    routing: 'local',
    state: 'always',
    body_limit: 0,
    shared: false,
    runs: true,
  } as const;
  const current = (name: BoardFile, summary: string): Row =>
    defineRow({
      ...common,
      path: `/${name}`,
      summary,
      replies: { 200: 'content', 304: 'empty' },
      async handler() {
        const reply = await board?.current(name);
        if (reply === undefined || reply === null)
          throw new CodedError('not_found', `The board that is served here has no ${name}; build it again.`);
        return reply;
      },
    });
  return [
    defineRow({
      ...common,
      path: '/',
      summary: 'The board; with `view=meeting` the page of a phone that is the microphone of a meeting',
      query: boardQuerySchema,
      page_query: true,
      replies: { 200: 'text', 304: 'empty', 404: 'text' },
      handler: async ({ query: { view } }) =>
        (await board?.current(view === 'meeting' ? 'meeting.html' : 'index.html')) ?? NOT_BUILT,
    }),
    current('manifest.webmanifest', 'How a browser installs the board as an app'),
    current('sw.js', 'What keeps the page of the board in a browser for when this daemon does not answer'),
    defineRow({
      ...common,
      path: '/assets/:name',
      summary: 'A script, style, font or picture of the board',
      example: { params: { name: 'index.js' } },
      replies: { 200: 'content', 304: 'empty' },
      async handler({ params: { name = '' } }) {
        const reply = await board?.asset(name);
        if (reply === undefined || reply === null)
          throw new CodedError('not_found', `The board has no file assets/${name}; load its page again.`);
        return reply;
      },
    }),
    defineRow({
      ...common,
      path: '/phone',
      summary: 'Leads to the board',
      replies: { 302: 'empty' },
      handler: () => ({ status: 302, empty: true, headers: { Location: '/' } }),
    }),
  ];
}
