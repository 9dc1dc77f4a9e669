import { CodedError } from '../base/errors.ts';
import {
  compositeFibersQuerySchema,
  createFiberSchema,
  editedReplySchema,
  editFiberSchema,
  fiberReplySchema,
  fibersCompositeSchema,
  fibersQuerySchema,
  fibersReplySchema,
  nestedSchema,
  nestFiberSchema,
} from '../contract/http/fibers.ts';
import { originQuerySchema } from '../contract/http/origin.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { namesTag } from '../http/prepared-reply.ts';
import type { Reply } from '../http/reply.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import { answerComposite } from './composite.ts';
import type { RouteContext } from './context.ts';
import type { FeedCache } from './feed-cache.ts';
import { tagOf, weakTag } from './feed-window.ts';
import { compositeTag, type RemoteFeeds } from './remote-feeds.ts';

/** A document is prose; this is far above the longest one that anybody would write by hand. */
const DOCUMENT_LIMIT = 4 * 1024 * 1024;

/** The feed, one fiber, and the document writes (RPL-1, RPL-2, RPL-3, WPL-11, WPL-12, WPL-13). */
export function fibersRows(
  { poller }: Pick<Callers, 'poller'>,
  feed: FeedCache,
  remotes: RemoteFeeds,
  context: RouteContext,
): Row[] {
  const currentComposite = compositeNames(feed, remotes);
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/fibers',
      summary:
        'Every fiber of the polled stores; `svc` keeps this host’s own, `body` adds the bodies, `since` asks what changed',
      example: { query: 'svc=true' },
      page: 'http.md',
      routing: 'local',
      state: 'ready',
      query: fibersQuerySchema,
      body_limit: 0,
      shared: false,
      replies: { 200: fibersReplySchema, 304: 'empty' },
      handler({ query, headers }) {
        const svc = query.svc ?? false;
        if (query.since !== undefined) {
          if (query.body) throw noBodiesSince();
          return feed.since(query.since, svc);
        }
        if (query.body) return feed.readWithBodies(svc);
        const current = feed.current(svc);
        if (current !== null && namesTag(headers['if-none-match'], current.etag)) return current.not_modified;
        return feed.read(svc);
      },
    }),
    defineRow({
      method: 'GET',
      path: '/api/v1/fibers/composite',
      summary:
        'Every fiber of all hosts, and how fresh the rows of each are; `since` asks what changed, `first` what a board shows first',
      example: { query: 'since=' },
      page: 'http.md',
      routing: 'fan-in',
      state: 'ready',
      query: compositeFibersQuerySchema,
      body_limit: 0,
      shared: false,
      replies: { 200: fibersCompositeSchema, 304: 'empty' },
      handler({ query: { since = '', first = false }, headers }) {
        const current = currentComposite();
        if (current !== null && namesTag(headers['if-none-match'], current.etag)) return current.not_modified;
        return answerComposite(
          context,
          () =>
            first && since === '' ? feed.first(context, remotes) : feed.composite(since, context, remotes),
          { tag: null },
          async () => (await remotes.read('')).parts,
        );
      },
    }),
    defineRow({
      method: 'GET',
      path: '/api/v1/fibers/*id',
      summary: 'One fiber with its body',
      example: { params: { id: 'say-hello' } },
      routing: 'owner',
      state: 'ready',
      query: originQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: fiberReplySchema },
      async handler({ params }) {
        return { status: 200, json: await poller.call('fiber', { id: params.id! }) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/fiber/create',
      summary: 'Makes a fiber',
      example: { body: { name: 'Say goodbye', body: 'Write GOODBYE.md.', dry_run: true } },
      routing: 'owner',
      state: 'ready',
      body: createFiberSchema,
      body_limit: DOCUMENT_LIMIT,
      replies: { 200: rehearsalSchema, 201: fiberReplySchema },
      async handler({ body }) {
        const answer = await poller.call('create_fiber', body);
        return { status: 'fiber' in answer ? 201 : 200, json: answer };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/fiber-edit',
      summary: 'Edits a fiber; with `expected_digest` only as it was read',
      example: { body: { fiber_id: 'say-hello', outcome: 'Greets in two languages.' } },
      routing: 'owner',
      state: 'ready',
      body: editFiberSchema,
      body_limit: DOCUMENT_LIMIT,
      replies: { 200: editedReplySchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('edit_fiber', body) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/fiber-nest',
      summary: 'Files a fiber under another one, or at the top for null',
      example: { body: { fiber_id: 'say-hello', parent: null } },
      page: 'lifecycle.md',
      routing: 'owner',
      state: 'ready',
      body: nestFiberSchema,
      body_limit: DOCUMENT_LIMIT,
      replies: { 200: nestedSchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('nest_fiber', body) };
      },
    }),
  ];
}

type Named = { etag: string; not_modified: Reply };

/** The entity tag of the composite as of now, and the answer to who has it; null while some rows cannot be named. */
function compositeNames(feed: FeedCache, remotes: RemoteFeeds): () => Named | null {
  let last: (Named & { own: string; others: string | null }) | null = null;
  return () => {
    const own = feed.current(false)?.etag ?? null;
    const others = remotes.tag;
    if (own === null || !remotes.known) return null;
    if (last === null || last.own !== own || last.others !== others) {
      const etag = weakTag(`"${compositeTag(tagOf(own), others, true)}"`);
      last = { own, others, etag, not_modified: { status: 304, empty: true, etag } };
    }
    return last;
  };
}

function noBodiesSince(): CodedError {
  return new CodedError(
    'invalid_request',
    'since tells changed rows without their bodies; leave body out, and read one body with GET /fibers/*id',
  );
}
