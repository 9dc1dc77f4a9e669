import { readSettings } from '../../config/settings.ts';
import { type State, stateSchema } from '../../contract/http/state.ts';
import { option } from '../command-line/options.ts';
import { formatDuration, formatMoment, formatTable } from '../command-line/output.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { contextText } from './status/context-text.ts';
import { isOpen } from './status/place.ts';

/** `svc ps`: the running workers. */
export const verb = defineVerb({
  summary: 'List the running workers',
  options: { verbose: option('-v, --verbose', 'the session of each too') },
  examples: [['svc ps', 'the workers that run now']],
  json: stateSchema.shape.running,
  async run(context, { verbose = false }) {
    const { running } = await (await connectDaemon(readSettings(context.env))).get('/state', stateSchema);
    const now = context.clock.now();
    const text =
      running.length === 0 ? 'No worker runs.\n' : runningTable(running, now, context.width, verbose);
    return { json: running, text };
  },
});

/** One line for each running worker. */
function runningTable(running: State['running'], now: number, width: number, verbose: boolean): string {
  return formatTable(
    ['fiber', 'agent', 'phase', 'for', 'last sign', 'context', ...(verbose ? ['session'] : [])],
    running.map((run) => [
      run.fiber_id,
      run.agent,
      run.state === 'running' ? phaseWords(run, now) : STATE_WORDS[run.state],
      formatDuration(now - run.started_at),
      run.last_activity_at === null ? '-' : formatMoment(run.last_activity_at, now),
      contextText(run.context),
      ...(verbose ? [run.mux_session ?? `(${run.surface})`] : []),
    ]),
    width,
  );
}

function phaseWords(run: State['running'][number], now: number): string {
  if (isOpen(run, now)) return 'needs you';
  return run.phase === 'idle' ? 'idle' : run.phase === 'unknown' ? 'not known' : 'working';
}

const STATE_WORDS = { claimed: 'starting', starting: 'starting', unknown: 'not known' } as const;
