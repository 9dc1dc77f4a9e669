import { z } from 'zod';
import { within } from '../../base/clock.ts';
import { CodedError, isCoded } from '../../base/errors.ts';
import { shellWord } from '../../base/shell-word.ts';
import { readSettings } from '../../config/settings.ts';
import { type KillRequest, killedSchema } from '../../contract/http/dispatch.ts';
import { rehearsal, rehearsalSchema } from '../../contract/http/rehearsal.ts';
import { stateSchema } from '../../contract/http/state.ts';
import { fibersCalled, severalCalled } from '../../fibers/fiber-reference.ts';
import { endsWorkers } from '../command-line/confirm.ts';
import { DRY_RUN, ON_HOST, option, SERVED_FIBER } from '../command-line/options.ts';
import { rehearsed, rehearseRequest } from '../command-line/rehearsal.ts';
import { type Answer, type CliContext, defineVerb, EXIT } from '../command-line/verb.ts';
import { captureCalled, captureName } from '../daemon-client/captures.ts';
import { connectDaemon, type DaemonClient } from '../daemon-client/client.ts';
import { askForFiber } from '../daemon-client/daemon-of-fiber.ts';
import {
  endWorkersHere,
  isSilent,
  SOON_MS,
  type WorkerHere,
  workersHere,
} from '../daemon-client/end-workers-here.ts';

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
    /** `daemon`: false where the worker was ended without it. */
    killedSchema.extend({ daemon: z.literal(false).optional() }),
    z.object({ killed: z.literal(false), fiber_id: z.string(), mux_session: z.null() }),
  ]),
  asks: (_given, shown) => endsWorkers(shown),
  exits: { 1: 'the worker was ended, but the hold could not be written' },
  async run(context, { fiber, note, host, dry_run }) {
    let meant = fiber;
    let asked: DaemonClient | null = null;
    let is_here = host === undefined;
    try {
      return await askForFiber(context, { fiber, host }, async ({ daemon, fiber: fiber_id, host: at }) => {
        meant = fiber_id;
        asked = daemon;
        is_here = host === undefined && at === null;
        const body: KillRequest = { fiber_id, note };
        if (dry_run === true)
          return rehearsed(await askSoon(context, daemon, { ...body, dry_run }, rehearsalSchema, is_here));
        const killed = await askSoon(context, daemon, body, killedSchema, is_here);
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
      if (is_here && isSilent(error))
        return await killHere(context, { reference: meant, note, dry_run, asked, fault: error });
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

/**
 * Asks for the kill. Where a worker of that name runs here, throws `daemon_unreachable` for a daemon that does not answer
 * soon, nor tells soon what the kill would do: to end a worker may take longer.
 */
async function askSoon<S extends z.ZodType>(
  { clock, env }: CliContext,
  daemon: DaemonClient,
  body: KillRequest,
  schema: S,
  is_here: boolean,
): Promise<z.output<S>> {
  const over = new AbortController();
  const ask = <T extends z.ZodType>(more: object, as: T) =>
    daemon.post('/kill', { ...body, ...more }, as, over.signal);
  const isSoon = (answer: Promise<unknown>) => within(clock, SOON_MS, answer);
  const answer = ask({}, schema);
  try {
    const is_heard =
      !is_here || (await isSoon(answer)) || (await isSoon(ask({ dry_run: true }, rehearsalSchema)));
    if (!is_heard && (await workersCalled(env, body.fiber_id)).length > 0)
      throw new CodedError('daemon_unreachable', `the daemon (pid ${daemon.daemon.pid}) has not answered`);
    return await answer;
  } finally {
    over.abort();
  }
}

/** By the whole name alone: nobody says what else its beginning may mean. */
async function workersCalled(env: CliContext['env'], reference: string): Promise<WorkerHere[]> {
  return fibersCalled(reference, await workersHere(readSettings(env)));
}

/** Ends the worker by the files of its run, where the daemon does not; throws `fault` where they know none. */
async function killHere(
  context: CliContext,
  {
    reference,
    note,
    dry_run,
    asked,
    fault,
  }: {
    reference: string;
    note: string | undefined;
    dry_run: boolean | undefined;
    asked: DaemonClient | null;
    fault: unknown;
  },
): Promise<Answer> {
  const workers = await workersCalled(context.env, reference);
  const [worker] = workers;
  if (worker === undefined) throw fault;
  const { id, mux_session } = worker;
  if (workers.some((one) => one.id !== id))
    throw new CodedError(
      'ambiguous_fiber',
      severalCalled(
        reference,
        workers.map((one) => one.id),
      ),
    );
  const why = asked === null ? 'no daemon runs' : `the daemon (pid ${asked.daemon.pid}) has not answered`;
  if (dry_run === true)
    return rehearsed(rehearsal(`end the worker of ${id} by the files of its run: ${why}`, { ends: [id] }));
  const { not_ended } = await endWorkersHere(context, readSettings(context.env), workers);
  const [left] = not_ended;
  if (left !== undefined)
    throw new CodedError('daemon_unreachable', `${id} was not ended: ${why}, and ${left.message}`);
  return {
    json: { killed: true, fiber_id: id, mux_session, daemon: false },
    text: `Stopped ${id}, by the files of its run: ${why}.\nThe daemon holds it once it sees that; let it go on with: svc resume ${shellWord(id)}\n`,
    warnings: note === undefined ? [] : ['the note is not kept, since only the daemon writes it'],
  };
}
