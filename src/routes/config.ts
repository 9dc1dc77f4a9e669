import type { z } from 'zod';
import { CodedError } from '../base/errors.ts';
import {
  configFileSchema,
  configListSchema,
  configWrittenSchema,
  writeConfigSchema,
} from '../contract/http/config.ts';
import { conflictSchema } from '../contract/http/errors.ts';
import { originQuerySchema } from '../contract/http/origin.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { type OperatorFileId, operatorFileIdSchema } from '../contract/operator-files.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

/** An operator file is written by hand; this is far above the longest one. */
const TEXT_LIMIT = 1024 * 1024;

/** The operator files as text (OPF-1, RPL-7, WPL-16). */
export function configRows({ poller }: Pick<Callers, 'poller'>, context: Pick<RouteContext, 'host'>): Row[] {
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/config',
      summary: 'Every operator file: place, size, time, what overrides it',
      page: 'operator-files.md',
      routing: 'host',
      state: 'ready',
      query: originQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: configListSchema },
      async handler() {
        const { files } = await poller.call('config_list', {});
        return {
          status: 200,
          json: { host: context.host, files } satisfies z.input<typeof configListSchema>,
        };
      },
    }),
    defineRow({
      method: 'GET',
      path: '/api/v1/config/:id',
      summary: 'The text of one operator file, with its digest',
      example: { params: { id: 'stores' } },
      page: 'operator-files.md',
      routing: 'host',
      state: 'ready',
      query: originQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: configFileSchema },
      async handler({ params }) {
        return { status: 200, json: await poller.call('config_read', { id: fileId(params.id) }) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/config/:id',
      summary: 'Replaces the text of one operator file once its validator passes it; a blank text removes it',
      example: { params: { id: 'projects' }, body: { text: '["/srv/dev/loader"]', dry_run: true } },
      page: 'operator-files.md',
      routing: 'host',
      state: 'ready',
      body: writeConfigSchema,
      body_limit: TEXT_LIMIT,
      replies: { 200: configWrittenSchema.or(rehearsalSchema), 409: conflictSchema },
      async handler({ params, body }) {
        const id = fileId(params.id);
        return { status: 200, json: await poller.call('config_write', { ...body, id }) };
      },
    }),
  ];
}

function fileId(name: string | undefined): OperatorFileId {
  const id = operatorFileIdSchema.safeParse(name);
  if (id.success) return id.data;
  throw new CodedError(
    'not_found',
    `There is no operator file "${name}"; there are ${operatorFileIdSchema.options.join(', ')}.`,
  );
}
