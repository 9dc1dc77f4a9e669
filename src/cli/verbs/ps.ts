import { z } from 'zod';
import { readSettings } from '../../config/settings.ts';
import { fiberRowSchema } from '../../contract/fiber.ts';
import { captureViewSchema } from '../../contract/http/capture.ts';
import { type State, stateSchema } from '../../contract/http/state.ts';
import { option } from '../command-line/options.ts';
import { formatDuration, formatMoment, formatTable } from '../command-line/output.ts';
import { notOursWords, sharedWith } from '../command-line/screen-words.ts';
import { defineVerb } from '../command-line/verb.ts';
import { captureName, openCaptures } from '../daemon-client/captures.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { contextText } from './status/context-text.ts';
import { isOpen } from './status/place.ts';

/** A worker, or a capture that has no fiber yet. */
const workerSchema = stateSchema.shape.running.element.or(captureViewSchema.extend({ fiber_id: z.null() }));

/** `svc ps`: the running workers. */
export const verb = defineVerb({
  summary: 'List the running workers',
  options: { verbose: option('-v, --verbose', 'the session of each too') },
  examples: [['svc ps', 'the workers that run now']],
  json: z.array(workerSchema),
  async run(context, { verbose = false, json }) {
    const daemon = await connectDaemon(readSettings(context.env));
    const state = await daemon.get('/state', stateSchema);
    const { running, not_ours = [] } = state;
    const captures = openCaptures(state);
    const others = not_ours.map((one) => `${one.fiber_id}: ${notOursWords(one)}\n`).join('');
    const workers = [...running, ...captures.map((one) => ({ ...one, fiber_id: null }))];
    if (workers.length === 0 || json === true) return { json: workers, text: `No worker runs.\n${others}` };
    const { fibers } = await daemon.get('/fibers', rowsSchema);
    const shared = new Map(fibers.map((row) => [row.id, row.shares_folder_with ?? []]));
    const now = context.clock.now();
    const table = runningTable(running, captures, { shared, now, width: context.width, verbose });
    return { json: workers, text: `${table}${others}` };
  },
});

const rowsSchema = z.object({
  fibers: z.array(fiberRowSchema.pick({ id: true, shares_folder_with: true })),
});
type Shown = {
  /** By fiber, those that work in the same folder. */
  shared: ReadonlyMap<string, readonly string[]>;
  now: number;
  width: number;
  verbose: boolean;
};

/** One line for each running worker; who shares a folder with whom is a column for programs, and below for a person. */
function runningTable(
  running: State['running'],
  captures: ReturnType<typeof openCaptures>,
  { shared, now, width, verbose }: Shown,
): string {
  const sharing = (id: string) => shared.get(id) ?? [];
  const isPiped = width === Number.POSITIVE_INFINITY;
  const table = formatTable(
    [
      ...['fiber', 'agent', 'phase', 'for', 'last sign', 'context'],
      ...(isPiped ? ['same folder'] : []),
      ...(verbose ? ['session'] : []),
    ],
    [
      ...running.map((run) => [
        run.fiber_id,
        run.agent,
        run.state === 'running' ? phaseWords(run, now) : STATE_WORDS[run.state],
        formatDuration(now - run.started_at),
        run.last_activity_at === null ? '-' : formatMoment(run.last_activity_at, now),
        contextText(run.context),
        ...(isPiped ? [sharing(run.fiber_id).join(', ') || '-'] : []),
        ...(verbose ? [run.mux_session ?? `(${run.surface})`] : []),
      ]),
      ...captures.map((one) => [
        captureName(one),
        one.agent,
        one.state === 'running'
          ? 'no fiber yet'
          : STATE_WORDS[one.state === 'starting' ? 'starting' : 'unknown'],
        formatDuration(now - one.captured_at),
        ...['-', '-'],
        ...(isPiped ? ['-'] : []),
        ...(verbose ? [one.mux_session] : []),
      ]),
    ],
    width,
  );
  if (isPiped) return table;
  const lines = running.flatMap(({ fiber_id: id }) =>
    sharing(id).length === 0 ? [] : [`${id} ${sharedWith(sharing(id))}\n`],
  );
  return `${table}${lines.join('')}`;
}

function phaseWords(run: State['running'][number], now: number): string {
  if (isOpen(run, now)) return 'needs you';
  return run.phase === 'idle' ? 'idle' : run.phase === 'unknown' ? 'not known' : 'working';
}

const STATE_WORDS = { claimed: 'starting', starting: 'starting', unknown: 'not known' } as const;
