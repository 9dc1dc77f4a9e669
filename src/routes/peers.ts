import { isCoded } from '../base/errors.ts';
import { harnessNameSchema } from '../contract/harness-name.ts';
import { type Peers, peersQuerySchema, peersSchema } from '../contract/http/peers.ts';
import type { State } from '../contract/http/state.ts';
import { printAddress } from '../contract/session-address.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';

/** Which sessions can be written to (RPL-15). */
export function peersRows(
  { poller, fleet }: Pick<Callers, 'poller' | 'fleet'>,
  { host }: Pick<RouteContext, 'host'>,
): Row[] {
  const own = async (): Promise<Peers> => {
    try {
      const { running } = await poller.call('state', {});
      return { host, sessions: running.flatMap((run) => sessionOf(host, run)), gaps: [] };
    } catch (error) {
      return { host, sessions: [], gaps: [{ host, error: codeOf(error) }] };
    }
  };
  /** Other hosts are not asked, and an answer that left them out would look whole. */
  const others = async (): Promise<Peers['gaps']> => {
    const remotes = await fleet.call('state', {}).catch(() => null);
    return (remotes?.remotes ?? []).map(({ name }) => ({ host: name, error: 'not_forwarded' }));
  };
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/peers',
      summary: 'The running sessions that can be written to, by their addresses',
      example: { query: 'local=true' },
      page: 'messages.md',
      routing: 'fan-in',
      state: 'always',
      shared: true,
      query: peersQuerySchema,
      body_limit: 0,
      replies: { 200: peersSchema },
      async handler({ query }) {
        const [mine, gaps] = await Promise.all([own(), query.local === true ? [] : others()]);
        return { status: 200, json: { ...mine, gaps: [...mine.gaps, ...gaps] } };
      },
    }),
  ];
}

function sessionOf(host: string, run: State['running'][number]): Peers['sessions'] {
  const { fiber_id, uid, surface, agent, phase, session_uuid, thread_id, transcript_session_uuid } = run;
  const harness = harnessNameSchema.safeParse(run.harness);
  const native_id = thread_id ?? session_uuid;
  if (native_id === null || !harness.success) return [];
  const transcript = transcript_session_uuid ?? native_id;
  return [
    {
      address: printAddress({ host, harness: harness.data, native_id }),
      fiber: fiber_id,
      fiber_uid: uid,
      ...(transcript === native_id ? {} : { transcript_id: transcript }),
      ...{ surface, agent, phase },
    },
  ];
}

function codeOf(error: unknown): string {
  return isCoded(error) ? error.code : 'internal';
}
