import { CodedError } from '../base/errors.ts';
import { momentQuerySchema, momentSchema } from '../contract/http/moment.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import type { TranscriptPlaces } from './transcript-places.ts';

/** `GET /moment`: the words around a point in time, from the transcript of a session. */
export function momentRows(
  callers: Pick<Callers, 'pool'>,
  context: Pick<RouteContext, 'host'>,
  places: TranscriptPlaces,
): Row[] {
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
        const [place] = await places.find([session], { believe: true });
        if (place?.kind !== 'found') throw noTranscript(session, context.host);
        const { path, harness } = place;
        const { value } = await callers.pool.run('read_moment', { path, harness, at, within_ms });
        return { status: 200, json: { host: context.host, session, harness, at, ...value } };
      },
    }),
  ];
}

function noTranscript(session: string, host: string): CodedError {
  const message = `${host} has no transcript of the session ${session}; ask the host that ran it`;
  return new CodedError('transcript_missing', message, { details: { session, host } });
}
