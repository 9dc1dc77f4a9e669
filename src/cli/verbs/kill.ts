import { z } from 'zod';
import { isCoded } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import { readSettings } from '../../config/settings.ts';
import { type KillRequest, killedSchema } from '../../contract/http/dispatch.ts';
import { stateSchema } from '../../contract/http/state.ts';
import { endsWorkers } from '../command-line/confirm.ts';
import { DRY_RUN, ON_HOST, option, SERVED_FIBER } from '../command-line/options.ts';
import { rehearseRequest } from '../command-line/rehearsal.ts';
import { type Answer, type CliContext, defineVerb, EXIT } from '../command-line/verb.ts';
import { captureCalled, captureName } from '../daemon-client/captures.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { askForFiber } from '../daemon-client/daemon-of-fiber.ts';

/** `svc kill <fiber>`: stops its worker and holds the fiber (WPL-4); succeeds if none runs. */
export const verb = defineVerb({
  summary: 'Stop the worker of a fiber, and hold the fiber',
  arguments: { fiber: SERVED_FIBER },
  options: {
    note: option('--note <text>', 'why, for whoever finds it held'),
    host: ON_HOST,
    dry_run: DRY_RUN,
  },
  examples: [
    ['svc kill say-hello --note "wrong branch"', 'stops its worker; `svc resume say-hello` lets it go on'],
  ],
  json: z.union([
    killedSchema,
    z.object({ killed: z.literal(false), fiber_id: z.string(), mux_session: z.null() }),
  ]),
  asks: (_given, shown) => endsWorkers(shown),
  exits: { 1: 'the worker was ended, but the hold could not be written' },
  async run(context, { fiber, note, host, dry_run }) {
    let meant = fiber;
    try {
      return await askForFiber(context, { fiber, host }, async ({ daemon, fiber: fiber_id }) => {
        meant = fiber_id;
        const body: KillRequest = { fiber_id, note };
        if (dry_run === true) return rehearseRequest(daemon, '/kill', body);
        const killed = await daemon.post('/kill', body, killedSchema);
        const how = killed.already_killed ? 'Stopped already, nothing runs for' : 'Stopped';
        const { fault } = killed;
        return {
          json: killed,
          text: `${how} ${killed.fiber_id}.\nIt is held, also when the daemon is restarted; let it go on with: svc resume ${shellWord(killed.fiber_id)}\n`,
          faults: fault === undefined ? [] : [fault],
          exit: fault === undefined ? EXIT.ok : EXIT.refused,
        };
      });
    } catch (error) {
      if (host === undefined && isCoded(error, 'fiber_not_found'))
        return await killCapture(context, fiber, { dry_run, fault: error });
      if (!isCoded(error, 'no_worker')) throw error;
      return {
        json: { killed: false, fiber_id: meant, mux_session: null },
        text: `No worker runs for ${meant}\n`,
      };
    }
  },
});

/** Ends a capture of this host, whose reference means no fiber; throws `fault` where it means no capture either. */
async function killCapture(
  context: CliContext,
  reference: string,
  { dry_run, fault }: { dry_run: boolean | undefined; fault: Error },
): Promise<Answer> {
  const daemon = await connectDaemon(readSettings(context.env));
  const state = await daemon.get('/state', stateSchema.pick({ captures: true })).catch(() => null);
  const mux_session = state === null ? null : captureCalled(state, reference);
  if (mux_session === null) throw fault;
  const body: KillRequest = { fiber_id: mux_session };
  if (dry_run === true) return rehearseRequest(daemon, '/kill', body);
  const killed = await daemon.post('/kill', body, killedSchema);
  return {
    json: killed,
    text: `Stopped ${captureName({ mux_session })}, a capture without a fiber. Its text is kept; see: svc daemon status\n`,
  };
}
