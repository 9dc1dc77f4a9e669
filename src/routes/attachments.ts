import { CodedError } from '../base/errors.ts';
import {
  attachmentsRehearsalSchema,
  attachmentsReplySchema,
  attachmentsRequestSchema,
} from '../contract/http/attachments.ts';
import { rehearsal } from '../contract/http/rehearsal.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { Lane } from './lane.ts';
import { requireJson } from './require-json.ts';

/** The smallest image there is, for the example. */
const GIF = 'R0lGODlhAQABAAAAACH5BAEAAAAALAAAAAABAAEAAAI=';
const GIF_SHA256 = '853b983923a033223e4f391790e6e86619b31d542b40e7e1e8221fb0d6957ab1';

/** Room for more than a batch may have, in base64, so that the broken rule can be named. */
const BODY_LIMIT = 64 * 1024 * 1024;
/** A phone on a bad network sends for minutes (LIM-6), in milliseconds. */
const BODY_TIMEOUT_MS = 120_000;
/** Each holds a body of that size. */
const MOST_WAITING = 8;

/** `POST /attachments`: images for a fiber; the pool does all the work with their bytes (ATT-1, WPL-9). */
export function attachmentsRows(
  { poller, pool }: Pick<Callers, 'poller' | 'pool'>,
  context: Pick<RouteContext, 'attachments_dir'>,
): Row[] {
  const lane = new Lane(MOST_WAITING);
  return [
    defineRow({
      method: 'POST',
      path: '/api/v1/attachments',
      summary: 'Stores images for a fiber, all or none',
      example: {
        body: {
          fiber: 'say-hello',
          attachments: [{ name: 'a.gif', mime: 'image/gif', data: GIF, sha256: GIF_SHA256 }],
          dry_run: true,
        },
      },
      routing: 'owner',
      state: 'ready',
      body: 'bytes',
      described_body: attachmentsRequestSchema,
      body_limit: BODY_LIMIT,
      body_timeout_ms: BODY_TIMEOUT_MS,
      replies: { 200: attachmentsReplySchema.or(attachmentsRehearsalSchema) },
      async handler({ body, headers }) {
        requireJson(headers['content-type']);
        return lane.run(async () => {
          const { value, bulk } = await pool.run('check_attachments', {}, { bulk: body });
          const { fiber, images, dry_run } = value;
          const { uid } = (await poller.call('fiber', { id: fiber })).fiber;
          if (uid === null)
            throw new CodedError(
              'uid_missing',
              `${fiber} has no uid, under which its images are stored; any edit of it adds one`,
            );
          const batch = { folder: context.attachments_dir, of: { uid }, files: images, dry_run };
          const { files } = (await pool.run('store_attachments', batch, { bulk })).value;
          if (!dry_run) return { status: 200, json: { files } };
          const count = files.length === 1 ? '1 image' : `${files.length} images`;
          const would = `${count} would be stored for ${fiber}: ${files.map(({ path }) => path).join(', ')}.`;
          return { status: 200, json: { ...rehearsal(would), files } };
        });
      },
    }),
  ];
}
