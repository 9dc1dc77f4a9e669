import { readSettings } from '../../config/settings.ts';
import { type State, stateSchema } from '../../contract/http/state.ts';
import { formatDuration, formatMoment, formatTable, printJson } from '../command-line/output.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

/** `svc ps`: the workers that run. */
export const verb: Verb = {
  name: 'ps',
  summary: 'List the running workers',
  register(command, context, exit) {
    command
      .option('--json', 'answer as JSON')
      .action(async (options: { json?: boolean }) => exit(await run(context, options)));
  },
};

async function run(context: CliContext, options: { json?: boolean }): Promise<ExitCode> {
  const state = await (await connectDaemon(readSettings(context.env))).get('/state', stateSchema);
  if (options.json) printJson(context, state.running);
  else if (state.running.length === 0) context.out('No worker runs.\n');
  else context.out(runningTable(state.running, context.clock.now()));
  return EXIT.ok;
}

/** One line for each running worker. */
export function runningTable(running: State['running'], now: number): string {
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
  );
}
