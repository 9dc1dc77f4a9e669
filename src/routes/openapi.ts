import { createHash } from 'node:crypto';
import { z } from 'zod';
import { defineRow, type Reply, type Row } from '../http/row.ts';
import { describeApi } from './api-description.ts';

/** `GET /openapi.json`: the description of this API (OpenAPI 3.1), made once, when it is first asked for. */
export function openApiRows(rows: () => readonly Row[], version: string): Row[] {
  let made: Promise<Reply> | null = null;
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/openapi.json',
      who: 'operator',
      state: 'always',
      body_limit: 0,
      replies: {
        200: z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }),
        304: 'empty',
      },
      handler() {
        made ??= encode(rows(), version);
        return made;
      },
    }),
  ];
}

async function encode(rows: readonly Row[], version: string): Promise<Reply> {
  const bytes = Buffer.from(JSON.stringify(await describeApi(rows, version)));
  const etag = `"sha256-${createHash('sha256').update(bytes).digest('hex')}"`;
  return { status: 200, bytes, content_type: 'application/json', etag };
}
