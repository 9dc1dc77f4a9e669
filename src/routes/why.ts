import { whyQuerySchema, whySchema } from '../contract/http/why.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

/** `GET /why`: why the poller does not start a fiber now. */
export function whyRows({ poller }: Pick<Callers, 'poller'>): Row[] {
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/why',
      summary: 'Why the poller does not start a fiber now, gate by gate',
      example: { query: 'fiber=say-hello' },
      page: 'why.md',
      routing: 'owner',
      state: 'ready',
      query: whyQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: whySchema },
      async handler({ query }) {
        const asked = { fiber: query.fiber, look: query.look ?? false };
        return { status: 200, json: await poller.call('why', asked) };
      },
    }),
  ];
}
