import { z } from 'zod';
import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import {
  type Incident,
  type IncidentReply,
  incidentReplySchema,
  incidentSchema,
} from '../../contract/http/incidents.ts';
import { stateSchema } from '../../contract/http/state.ts';
import { argument, DRY_RUN, option } from '../command-line/options.ts';
import { formatMoment, formatTable } from '../command-line/output.ts';
import { rehearseRequest } from '../command-line/rehearsal.ts';
import { defineVerb, EXIT, type Example, type Verb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

/** `svc incident`: the workers that a lost tmux server ended (P2). */
export const list = defineVerb({
  summary: 'List lost tmux servers; restart the workers they took down',
  options: { all: option('--all', 'on a terminal: every fiber, however many there are') },
  examples: [['svc incident', 'lists what is open']],
  page: 'setup.md',
  json: z.object({ incidents: z.array(incidentSchema) }),
  async run(context, { all }) {
    const daemon = await connectDaemon(readSettings(context.env));
    const { incidents } = await daemon.get('/state', stateSchema);
    const text =
      incidents.length === 0
        ? 'No incident.\n'
        : incidentLines(incidents, context.clock.now(), context.width, all);
    return { json: { incidents }, text };
  },
});

export const resume = settling('resume', 'Dispatch the fibers whose workers an incident ended', [
  'svc incident resume --all',
  'starts its fibers again',
]);
export const dismiss = settling('dismiss', 'Remove an incident from the list; its fibers stay held', [
  'svc incident dismiss --all',
  'removes them from the list and starts nothing',
]);

function settling(name: 'resume' | 'dismiss', summary: string, example: Example): Verb {
  return defineVerb({
    summary,
    arguments: { id: argument('[id]', 'id of the incident; dismiss takes the run id of a lost capture too') },
    options: { all: option('--all', 'every incident'), dry_run: DRY_RUN },
    examples: [example],
    page: 'setup.md',
    json: incidentReplySchema,
    exits: { 1: 'a fiber was refused' },
    async run(context, { id, all, dry_run }) {
      if ((id === undefined) === (all !== true))
        throw new CodedError(
          'invalid_request',
          'name one incident, or give --all; `svc incident` lists them',
        );
      const daemon = await connectDaemon(readSettings(context.env));
      const body = { id };
      if (dry_run === true) return rehearseRequest(daemon, `/incidents/${name}`, body);
      const reply = await daemon.post(`/incidents/${name}`, body, incidentReplySchema);
      const { fault, fibers } = reply;
      const whole = fault === undefined && fibers.every(({ outcome }) => outcome !== 'refused');
      return {
        json: reply,
        text: outcomes(reply, id),
        faults: fault === undefined ? [] : [fault],
        exit: whole ? EXIT.ok : EXIT.refused,
      };
    },
  });
}

function outcomes({ fibers }: IncidentReply, id: string | undefined): string {
  if (fibers.length === 0) return id === undefined ? 'No incident.\n' : `Taken off the list: ${id}\n`;
  const lines = fibers
    .filter(({ outcome }) => outcome !== 'queued')
    .map(({ fiber_id, outcome, message }) => {
      const more = message === null ? '' : `: ${message}`;
      return `${outcome.replace('_', ' ')}  ${fiber_id}${more}\n`;
    });
  const queued = fibers.length - lines.length;
  const next = `The daemon starts ${queued} more, one after the other. Those that still wait: svc incident\n`;
  return `${lines.join('')}${queued === 0 ? '' : next}`;
}

const CAUSES: Record<Incident['cause'], string> = {
  server_lost: 'the tmux server is gone',
  server_replaced: 'the tmux server is gone, another one runs',
  reboot: 'the machine was restarted',
  memory_limit: 'a worker was killed for its memory',
};

/** How many fibers of one incident are shown on a terminal. */
const FIBERS_SHOWN = 10;

/** Each incident with its fibers, those first whose start was refused, and how to resume them. */
export function incidentLines(
  incidents: readonly Incident[],
  now: number,
  width: number,
  all = false,
): string {
  const is_terminal = Number.isFinite(width);
  return incidents
    .map(({ id, cause, at, fibers, message }) => {
      const sorted = fibers.toSorted((a, b) => Number(b.refused !== null) - Number(a.refused !== null));
      const shown = all || !is_terminal ? sorted : sorted.slice(0, FIBERS_SHOWN);
      const more = fibers.length - shown.length;
      const rows = shown.map((fiber) => [fiber.fiber_id, fiber.mux_session, fiber.refused ?? '-']);
      return (
        `${id}: ${CAUSES[cause]}${message === undefined ? '' : ` (${message})`}, ${formatMoment(at, now)}\n` +
        `${formatTable(['fiber', 'session', 'refused'], rows, width)}` +
        `${more === 0 ? '' : `and ${more} more: svc incident --all\n`}` +
        `Start them again with: svc incident resume ${id}\n`
      );
    })
    .join('\n');
}
