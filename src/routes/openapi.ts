import { z } from 'zod';
import { sha256Of } from '../base/digest.ts';
import type { Reply } from '../http/reply.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { RouteContext } from './context.ts';

/** `GET /openapi.json`: the description of this API (OpenAPI 3.1), made once, when it is first asked for. */
export function openApiRows(context: Pick<RouteContext, 'describeApi'>): Row[] {
  let made: Promise<Reply> | null = null;
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/openapi.json',
      summary: 'This API as OpenAPI 3.1',
      routing: 'local',
      state: 'always',
      body_limit: 0,
      shared: false,
      replies: {
        200: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
        304: 'empty',
      },
      handler() {
        made ??= context.describeApi().then(replyWith);
        made.catch(() => {
          made = null;
        });
        return made;
      },
    }),
  ];
}

function replyWith(bytes: Uint8Array): Reply {
  const etag = `"sha256-${sha256Of(bytes)}"`;
  return { status: 200, bytes, content_type: 'application/json', etag };
}
