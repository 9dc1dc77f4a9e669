import { CodedError } from '../base/errors.ts';
import { momentQuerySchema, momentSchema } from '../contract/http/moment.ts';
import { transcriptWordsQuerySchema, transcriptWordsSchema } from '../contract/http/transcript-words.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import type { TranscriptPlaces } from './transcript-places.ts';

/** What was said in a session: around a point in time, and from one stretch of its transcript to the next. */
export function momentRows(
  callers: Pick<Callers, 'pool'>,
  context: Pick<RouteContext, 'host'>,
  places: TranscriptPlaces,
): Row[] {
  const { host } = context;
  const placeOf = async (session: string, { believe }: { believe: boolean }) => {
    const place = await places.findOne(session, { believe });
    if (place.kind !== 'found') throw noTranscript(session, host);
    return place;
  };
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/moment',
      summary: 'What was said in a session around a time',
      example: { query: 'session=0198c0de-0000-4000-8000-000000000001&at=1786203000000' },
      needs: 'session',
      routing: 'local',
      state: 'ready',
      query: momentQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: momentSchema },
      async handler({ query: { session, at, within_ms } }) {
        const { path, harness } = await placeOf(session, { believe: true });
        const { value } = await callers.pool.run('read_moment', { path, harness, at, within_ms });
        return { status: 200, json: { host, session, harness, at, ...value } };
      },
    }),
    defineRow({
      method: 'GET',
      path: '/api/v1/transcript/words',
      summary: 'What was said in a session, a stretch of its transcript at a time, the end first',
      example: { query: 'session=0198c0de-0000-4000-8000-000000000001' },
      needs: 'session',
      routing: { param: 'host' },
      state: 'ready',
      query: transcriptWordsQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: transcriptWordsSchema },
      async handler({ query: { session, before_byte, after_byte } }) {
        const { path, harness } = await placeOf(session, { believe: false });
        const wish = { path, harness, before_byte, after_byte };
        const { value } = await callers.pool.run('read_transcript_page', wish);
        return { status: 200, json: { host, session, harness, ...value } };
      },
    }),
  ];
}

function noTranscript(session: string, host: string): CodedError {
  const message = `${host} has no transcript of the session ${session}; ask the host that ran it`;
  return new CodedError('transcript_missing', message, { details: { session, host } });
}
