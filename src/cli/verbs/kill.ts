import { z } from 'zod';
import { isCoded } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { killedSchema } from '../../contract/http/dispatch.ts';
import { DRY_RUN, SERVED_FIBER } from '../command-line/options.ts';
import { rehearseRequest } from '../command-line/rehearsal.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

/** `svc kill <fiber>`: stops its worker (WPL-4); succeeds if none runs. */
export const verb = defineVerb({
  summary: 'Stop the worker of a fiber',
  arguments: { fiber: SERVED_FIBER },
  options: { dry_run: DRY_RUN },
  examples: [['svc kill say-hello', 'stops its worker and holds the fiber']],
  json: z.union([
    killedSchema,
    z.object({ killed: z.literal(false), fiber_id: z.string(), mux_session: z.null() }),
  ]),
  async run(context, { fiber, dry_run }) {
    const daemon = await connectDaemon(readSettings(context.env));
    const body = { fiber_id: fiber };
    try {
      if (dry_run === true) return await rehearseRequest(daemon, '/kill', body);
      const killed = await daemon.post('/kill', body, killedSchema);
      const how = killed.already_killed ? 'Stopped already, nothing runs for' : 'Stopped';
      const session = killed.mux_session === null ? '' : ` (${killed.mux_session})`;
      return { json: killed, text: `${how} ${killed.fiber_id}${session}\n` };
    } catch (error) {
      if (!isCoded(error, 'no_worker')) throw error;
      return {
        json: { killed: false, ...body, mux_session: null },
        text: `No worker runs for ${fiber}\n`,
      };
    }
  },
});
