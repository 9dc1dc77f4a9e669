import { readSettings } from '../../config/settings.ts';
import { type State, stateSchema } from '../../contract/http/state.ts';
import { formatDuration, formatMoment, formatTable } from '../command-line/output.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

/** `svc ps`: the running workers. */
export const verb = defineVerb({
  summary: 'List the running workers',
  examples: [['svc ps', 'the workers that run now']],
  json: stateSchema.shape.running,
  async run(context) {
    const { running } = await (await connectDaemon(readSettings(context.env))).get('/state', stateSchema);
    const text =
      running.length === 0 ? 'No worker runs.\n' : runningTable(running, context.clock.now(), context.width);
    return { json: running, text };
  },
});

/** One line for each running worker. */
export function runningTable(running: State['running'], now: number, width?: number): string {
  return formatTable(
    ['fiber', 'agent', 'phase', 'for', 'last sign', 'session'],
    running.map((run) => [
      run.fiber_id,
      run.agent,
      run.state === 'running' ? run.phase : run.state,
      formatDuration(now - run.started_at),
      run.last_activity_at === null ? '-' : formatMoment(run.last_activity_at, now),
      run.mux_session ?? `(${run.surface})`,
    ]),
    width,
  );
}
