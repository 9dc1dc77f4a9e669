import { isCoded } from '../base/errors.ts';
import { errorBodySchema } from '../contract/http/errors.ts';
import { ANSWERED_BY_HEADER } from '../contract/http/forwarding.ts';
import {
  BYTE_COUNT_HEADER,
  linksQuerySchema,
  linksReplySchema,
  SHA256_HEADER,
  type TranscriptReceipt,
  transcriptQuerySchema,
  transcriptReceiptSchema,
} from '../contract/http/transcripts.ts';
import type { Reply } from '../http/reply.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import type { Asker, Digests } from './digests.ts';
import type { HeldFiles } from './held-files.ts';
import { SessionLinks } from './session-links.ts';
import type { TranscriptPlace, TranscriptPlaces } from './transcript-places.ts';

/** A transcript that is another file each time it is looked at is given up after as many looks. */
const MOST_LOOKS = 3;

/** Transcripts and the browser addresses of sessions (RPL-12 to RPL-14). */
export function transcriptsRows(
  callers: Pick<Callers, 'ledgers' | 'pool' | 'fleet'>,
  context: Pick<RouteContext, 'host' | 'agents_file' | 'clock'>,
  digests: Digests,
  places: TranscriptPlaces,
  held: HeldFiles,
): Row[] {
  const { fleet, pool } = callers;
  const links = new SessionLinks(pool, places);

  const read = async (session: string, asker: Asker) => {
    for (let looks = 1; ; looks += 1) {
      const place = await places.findOne(session, { believe: false });
      if (place.kind !== 'found') return { place, sha256: null };
      try {
        return { place, sha256: await digests.of(place.path, place.stamp, asker) };
      } catch (error) {
        if (looks >= MOST_LOOKS || !isCoded(error, 'file_changed')) throw error;
      }
    }
  };

  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/transcript',
      summary: 'Whether the transcript of a session is here, and its size and digest',
      example: { query: 'session=0198c0de-0000-4000-8000-000000000001' },
      routing: { param: 'host' },
      state: 'ready',
      query: transcriptQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: transcriptReceiptSchema },
      async handler(request) {
        const { session } = request.query;
        const { place, sha256 } = await read(session, request);
        return { status: 200, json: receiptOf(session, context.host, place, sha256) };
      },
      async remote({ query: { session } }, host, hops) {
        const json = await fleet.call('transcript', { host, session, hops: [...hops] });
        return { status: 200, json, ...answeredBy(host, [json]) };
      },
    }),
    defineRow({
      method: 'GET',
      path: '/api/v1/transcript/raw',
      summary: 'The bytes of a transcript as its agent program wrote them',
      example: { query: 'session=0198c0de-0000-4000-8000-000000000001' },
      needs: 'session',
      routing: { param: 'host' },
      state: 'ready',
      query: transcriptQuerySchema,
      body_limit: 0,
      shared: true,
      sandbox: true,
      replies: {
        200: 'content',
        206: 'content',
        304: 'empty',
        404: transcriptReceiptSchema.and(errorBodySchema),
      },
      async handler(request) {
        const { session } = request.query;
        const { place, sha256 } = await read(session, request);
        if (place.kind !== 'found' || sha256 === null)
          return notThere(receiptOf(session, context.host, place, null));
        return {
          status: 200,
          content: held.content(place.path, place.stamp, sha256),
          etag: `"sha256-${sha256}"`,
          content_type: 'application/jsonl',
          last_modified: place.mtime_ms,
          headers: { [BYTE_COUNT_HEADER]: String(place.stamp.size), [SHA256_HEADER]: sha256 },
        };
      },
    }),
    defineRow({
      method: 'GET',
      path: '/api/v1/sessions/links',
      summary: 'Where each of up to 50 sessions can be opened in a browser, in the order of the request',
      example: { query: 'sessions=0198c0de-0000-4000-8000-000000000001' },
      routing: { param: 'host' },
      state: 'ready',
      query: linksQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: linksReplySchema },
      handler: async ({ query: { sessions } }) => ({
        status: 200,
        json: { host: context.host, links: await links.of(sessions) },
      }),
      async remote({ query: { sessions } }, host, hops) {
        const json = await fleet.call('session_links', { host, sessions, hops: [...hops] });
        return { status: 200, json, ...answeredBy(host, json.links) };
      },
    }),
  ];
}

/** Where another host has answered, its name goes with what is told of it, as with an answer that is passed on. */
function answeredBy(host: string, told: readonly { availability: string }[]) {
  const is_answered = told.some(({ availability }) => availability !== 'host_unreachable');
  return is_answered ? { headers: { [ANSWERED_BY_HEADER]: host } } : {};
}

function receiptOf(
  session: string,
  host: string,
  place: TranscriptPlace,
  sha256: string | null,
): TranscriptReceipt {
  const { harness } = place;
  if (place.kind === 'found')
    return {
      session,
      availability: 'available_local',
      host,
      harness,
      source_path: place.path,
      byte_count: place.stamp.size,
      sha256,
    };
  const availability = place.kind === 'pending' ? 'identity_pending' : 'transcript_missing';
  return { session, availability, host, harness, source_path: null, byte_count: null, sha256: null };
}

function notThere(receipt: TranscriptReceipt): Reply {
  const { session, host, availability } = receipt;
  const message =
    availability === 'identity_pending'
      ? `which transcript ${session} writes is not known yet; ask again after its first turn`
      : `${host} has no transcript of the session ${session}`;
  return { status: 404, json: { ...receipt, error: availability, message } };
}
