import { isCoded } from '../base/errors.ts';
import { harnessNameSchema } from '../contract/harness-name.ts';
import { type Peers, peersQuerySchema, peersSchema } from '../contract/http/peers.ts';
import type { State } from '../contract/http/state.ts';
import { printAddress } from '../contract/session-address.ts';
import { Pieces } from '../http/pieces.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { inTime } from './remote-parts.ts';

/** Which sessions of all hosts can be written to (RPL-15). */
export function peersRows(
  { poller, fleet }: Pick<Callers, 'poller' | 'fleet'>,
  context: Pick<RouteContext, 'host' | 'clock' | 'remote_answer_ms'>,
): Row[] {
  const { host } = context;
  const own = async (): Promise<Peers> => {
    try {
      const { running } = await poller.call('state', {});
      return { host, sessions: running.flatMap((run) => sessionOf(host, run)), gaps: [] };
    } catch (error) {
      return { host, sessions: [], gaps: [{ host, error: codeOf(error) }] };
    }
  };
  /** The rows of other hosts, with commas between them: they are encoded on the fleet thread. */
  const others = async (): Promise<{ rows: Uint8Array; gaps: Peers['gaps'] }> => {
    try {
      const { value, bulk } = await inTime(context, fleet.exchange('remote_peers', {}));
      return { rows: bulk ?? NO_ROWS, gaps: value.gaps };
    } catch (error) {
      // An answer that left them out would look whole.
      return { rows: NO_ROWS, gaps: names.map((name) => ({ host: name, error: codeOf(error) })) };
    }
  };
  let names: readonly string[] = [];
  fleet.onEvent('remotes_changed', ({ remotes }) => {
    names = remotes.map(({ name }) => name).filter((name) => name !== host);
  });
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/peers',
      summary: 'The running sessions of all hosts that can be written to, by their addresses',
      example: { query: 'local=true' },
      page: 'messages.md',
      routing: 'fan-in',
      state: 'always',
      shared: true,
      query: peersQuerySchema,
      body_limit: 0,
      replies: { 200: peersSchema },
      async handler({ query }) {
        if (query.local === true || names.length === 0) return { status: 200, json: await own() };
        const [mine, { rows, gaps }] = await Promise.all([own(), others()]);
        const first = JSON.stringify(mine.sessions).slice(0, -1);
        const between = mine.sessions.length > 0 && rows.length > 0 ? ',' : '';
        const rest = `],"gaps":${JSON.stringify([...mine.gaps, ...gaps])}}`;
        const pieces = new Pieces([
          Buffer.from(`{"host":${JSON.stringify(host)},"sessions":${first}${between}`),
          rows,
          Buffer.from(rest),
        ]);
        return { status: 200, pieces, content_type: 'application/json' };
      },
    }),
  ];
}

const NO_ROWS = new Uint8Array(0);

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
