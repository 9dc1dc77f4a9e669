import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { type Incident, type IncidentReply, incidentReplySchema } from '../../contract/http/incidents.ts';
import { stateSchema } from '../../contract/http/state.ts';
import { formatMoment, formatTable, printJson } from '../command-line/output.ts';
import { DRY_RUN, rehearseRequest } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

type Options = { all?: boolean; dryRun?: boolean; json?: boolean };

/** `svc incident`: what a lost tmux server cut off, and the word to start it again (P2). */
export const verb: Verb = {
  name: 'incident',
  summary: 'List lost tmux servers; start what they cut off',
  register(command, context, exit) {
    command
      .option('--json', 'answer as JSON')
      .action(async (options: Options) => exit(await list(context, options)));
    for (const [name, summary] of [
      ['resume', 'Dispatch the fibers that an incident cut off'],
      ['dismiss', 'Take an incident off the list; what holds its fibers back stays'],
    ] as const)
      command
        .command(name)
        .description(summary)
        .argument('[id]', 'id of the incident')
        .option('--all', 'every incident')
        .option(...DRY_RUN)
        .option('--json', 'answer as JSON')
        .action(async (id: string | undefined, _options: Options, sub: { optsWithGlobals(): Options }) =>
          exit(await act(context, name, id, sub.optsWithGlobals())),
        );
  },
};

async function list(context: CliContext, options: Options): Promise<ExitCode> {
  const daemon = await connectDaemon(readSettings(context.env));
  const { incidents } = await daemon.get('/state', stateSchema);
  if (options.json) printJson(context, { incidents });
  else context.out(incidents.length === 0 ? 'No incident.\n' : incidentLines(incidents, context.clock.now()));
  return EXIT.ok;
}

async function act(
  context: CliContext,
  name: 'resume' | 'dismiss',
  id: string | undefined,
  options: Options,
): Promise<ExitCode> {
  if ((id === undefined) === (options.all !== true))
    throw new CodedError('invalid_request', 'name one incident, or give --all; `svc incident` lists them');
  const daemon = await connectDaemon(readSettings(context.env));
  const body = id === undefined ? {} : { id };
  if (options.dryRun === true) {
    await rehearseRequest(context, daemon, `/incidents/${name}`, body, options);
    return EXIT.ok;
  }
  const reply = await daemon.post(`/incidents/${name}`, body, incidentReplySchema);
  if (options.json) printJson(context, reply);
  else context.out(outcomes(reply));
  if (reply.fault !== undefined) context.err(`svc: ${reply.fault}\n`);
  const whole = reply.fault === undefined && reply.fibers.every(({ outcome }) => outcome !== 'refused');
  return whole ? EXIT.ok : EXIT.refused;
}

function outcomes({ fibers }: IncidentReply): string {
  if (fibers.length === 0) return 'No incident.\n';
  return fibers
    .map(({ fiber_id, outcome, message }) => {
      const more = message === null ? '' : `: ${message}`;
      return `${outcome.replace('_', ' ')}  ${fiber_id}${more}\n`;
    })
    .join('');
}

const CAUSES: Record<Incident['cause'], string> = {
  server_lost: 'the tmux server is gone',
  server_replaced: 'the tmux server is gone, another one runs',
  reboot: 'the machine was started anew',
  memory_limit: 'a worker was killed for its memory',
};

/** Each incident with the fibers it cut off, and how to go on. */
export function incidentLines(incidents: readonly Incident[], now: number): string {
  return incidents
    .map(({ id, cause, at, fibers, message }) => {
      const rows = fibers.map((fiber) => [fiber.fiber_id, fiber.mux_session, fiber.refused ?? '-']);
      return (
        `${id}: ${CAUSES[cause]}${message === undefined ? '' : ` (${message})`}, ${formatMoment(at, now)}\n` +
        `${formatTable(['fiber', 'session', 'refused'], rows)}` +
        `Start them again with: svc incident resume ${id}\n`
      );
    })
    .join('\n');
}
