import { z } from 'zod';
import { isCoded } from '../../base/errors.ts';
import { ownEntryFault, readRemotes } from '../../config/remotes.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import { type Fleet, type FleetRow, fleetSchema } from '../../contract/http/fleet.ts';
import { type State, stateSchema } from '../../contract/http/state.ts';
import { type Version, versionSchema } from '../../contract/http/version.ts';
import { clockFault } from '../clock-fault.ts';
import { formatDuration, formatTable } from '../command-line/output.ts';
import { defineVerb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { isOpen } from './status/place.ts';

/** What is shown of this host. */
const hereSchema = z.object({
  ...versionSchema.pick({ host: true, version: true, git_short_sha: true, host_class: true }).shape,
  workers: z.object({ running: z.number().int(), needs_you: z.number().int() }),
});
type Here = z.infer<typeof hereSchema>;

/** `svc fleet`: every host as it is now (RPL-9). */
export const verb = defineVerb({
  summary: 'Show all hosts: reach, workers, who needs you, build',
  examples: [['svc fleet', 'every host on one line, and why one does not answer']],
  page: 'other-hosts.md',
  json: fleetSchema.extend({ here: hereSchema }),
  async run(context) {
    const settings = readSettings(context.env);
    const daemon = await connectDaemon(settings);
    const [fleet, version, state] = await Promise.all([
      daemon.get('/fleet', fleetSchema),
      daemon.get('/version', versionSchema),
      daemon.get('/state', stateSchema),
    ]);
    const now = context.clock.now();
    const needs_you = state.running.filter((run) => isOpen(run, now)).length;
    const here = hereSchema.parse({ ...version, workers: { running: state.running.length, needs_you } });
    return {
      json: { ...fleet, here },
      text: `${fleetPage(fleet, here, now, context.width)}${ownEntryLine(ownEntryIn(settings, here.host, state))}`,
    };
  },
});

/**
 * The daemon does not tell of such an entry. `svc doctor` tells of a file with a fault, and the disk of one that the daemon
 * cannot read may not answer here either.
 */
function ownEntryIn(
  settings: Settings,
  host: string,
  { operator_file_errors }: Pick<State, 'operator_file_errors'>,
): ReturnType<typeof ownEntryFault> {
  if (operator_file_errors.some(({ file }) => file === 'remotes')) return null;
  try {
    return ownEntryFault(settings, readRemotes(settings).remotes, host);
  } catch (error) {
    if (isCoded(error)) return null;
    throw error;
  }
}

/** The line below a table of hosts; empty without a fault. */
export function ownEntryLine(fault: ReturnType<typeof ownEntryFault>): string {
  if (fault === null) return '';
  const { what, mend } = fault;
  return `\n${what.charAt(0).toUpperCase()}${what.slice(1)}; ${mend}\n`;
}

/** One line for each host, and below them why one cannot be asked. */
export function fleetPage(
  { remotes }: Pick<Fleet, 'remotes'>,
  here: Here,
  now: number,
  width = Number.POSITIVE_INFINITY,
): string {
  const rows = [
    [here.host, 'this host', '-', ...countsOf(here.workers), here.version],
    ...remotes.map((row) => [
      row.name,
      reachOf(row),
      row.reach.last_ok_at === null ? '-' : formatDuration(now - row.reach.last_ok_at),
      ...countsOf(row.workers),
      row.build === null ? '-' : buildOf(row.build, here),
    ]),
  ];
  const table = formatTable(['host', 'reach', 'age', 'working', 'needs you', 'build'], rows, width);
  const faults = remotes.flatMap((row) => {
    const reason = reasonOf(row, now);
    return reason === null ? [] : [`${reason} Check it with: svc remotes check ${row.name}\n`];
  });
  const clocks = remotes.flatMap((row) => {
    const fault = clockFault(row);
    return fault === null ? [] : [`The clock of ${row.name} is ${fault.what}; ${fault.mend}.\n`];
  });
  const candidates = remotes.flatMap(({ name, source, address }) =>
    source === 'file'
      ? []
      : [`${name} was found in the tailnet; to add it: svc remotes add ${name} --url http://${address}\n`],
  );
  const none =
    remotes.length === 0 ? ['No other host is known; name one with: svc remotes add <user>@<host>\n'] : [];
  return `${table}${[...none, ...faults, ...clocks, ...candidates].map((line) => `\n${line}`).join('')}`;
}

const REACH: Readonly<Record<FleetRow['reach']['state'], string>> = {
  answers: 'answers',
  no_answer: 'no answer',
  no_address: 'no address',
};

/** A daemon behind a socket of this machine is reached by a tunnel. */
function reachOf({ source, address, reach }: FleetRow): string {
  if (source === 'discovered') return 'found';
  return reach.state === 'answers' && address?.startsWith('/') === true ? 'tunnel' : REACH[reach.state];
}

/** What is wrong with a host, or with what it tells of its fibers. The command beside it finds out what of the way there is down. */
export function reasonOf({ name, address, reach, feed }: FleetRow, now: number): string | null {
  if (reach.error === null) {
    if (feed?.error == null) return null;
    const { last_ok_at, error } = feed;
    const how = last_ok_at === null ? 'not known' : `shown as of ${formatDuration(now - last_ok_at)} ago`;
    return `The fibers of ${name} are ${how}: ${error.message}`.replace(/\.?$/, '.');
  }
  const { code, message } = reach.error;
  if (code === 'remote_unreachable' && address !== null) return `${name} does not answer at ${address}.`;
  return (message.includes(name) ? message : `${name}: ${message}`).replace(/\.?$/, '.');
}

/** A worker that waits for a person does not work, as `svc status` has it. */
function countsOf(workers: FleetRow['workers']): string[] {
  if (workers === null) return ['-', '-'];
  return [String(workers.running - workers.needs_you), String(workers.needs_you)];
}

type Build = Pick<Version, 'version' | 'git_short_sha'>;

/** A host of another build than this one may not know what is asked of it. */
function buildOf({ version, git_short_sha }: Build, here: Build): string {
  return version === here.version && git_short_sha !== here.git_short_sha
    ? `${version} (another build)`
    : version;
}
