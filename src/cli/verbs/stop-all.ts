import { CodedError, isCoded } from '../../base/errors.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import {
  type BrakePulled,
  brakePulledSchema,
  type PullBrake,
  pullBrakeSchema,
} from '../../contract/http/brake.ts';
import { rehearsal } from '../../contract/http/rehearsal.ts';
import { printJson } from '../command-line/output.ts';
import { DRY_RUN, printRehearsal, rehearseRequest } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { daemonOrNone, pullBrakeFile, whenBooted } from '../daemon-client/brake-without-daemon.ts';
import type { DaemonClient } from '../daemon-client/client.ts';

type Options = { kill?: boolean; note?: string; dryRun?: boolean; json?: boolean };

/** `svc stop-all`: the emergency brake. Nothing new is started until `svc resume-all`. */
export const verb: Verb = {
  name: 'stop-all',
  summary: 'Emergency brake: start nothing new on this host',
  register(command, context, exit) {
    command
      .option('--kill', 'also end the workers that run; each is then held')
      .option('--note <text>', 'why, for whoever finds the brake on')
      .option(...DRY_RUN)
      .option('--json', 'answer as JSON')
      .action(async (options: Options) => exit(await run(context, options)));
  },
};

async function run(context: CliContext, options: Options): Promise<ExitCode> {
  const settings = readSettings(context.env);
  const daemon = await daemonOrNone(settings);
  if (options.dryRun === true) {
    if (daemon !== null) await rehearseRequest(context, daemon, '/brake', bodyOf(options), options);
    else printRehearsal(context, rehearsal('put the brake on for the next daemon; none runs'), options);
    return EXIT.ok;
  }
  if (daemon !== null) return pullThere(context, settings, daemon, options);
  return pullHere(context, settings, options, null);
}

async function pullThere(
  context: CliContext,
  settings: Settings,
  daemon: DaemonClient,
  options: Options,
): Promise<ExitCode> {
  try {
    const pulled = await whenBooted(context, () => daemon.post('/brake', bodyOf(options), brakePulledSchema));
    return tell(context, pulled, options);
  } catch (error) {
    // The poller of a daemon whose listener hangs takes up the file by itself.
    if (!isCoded(error, 'daemon_unreachable') && !isCoded(error, 'booting')) throw error;
    return pullHere(context, settings, options, daemon);
  }
}

/** The brake is a file, so it can be put on without a daemon, or beside a `silent` one. */
async function pullHere(
  context: CliContext,
  settings: Settings,
  options: Options,
  silent: DaemonClient | null,
): Promise<ExitCode> {
  const asked = pullBrakeSchema.safeParse(bodyOf(options));
  if (!asked.success)
    throw new CodedError(
      'invalid_request',
      `--note: ${asked.error.issues[0]?.message ?? 'it cannot be used'}`,
    );
  const { path, was } = pullBrakeFile(context, settings, asked.data.note ?? null);
  // One that was started meanwhile may have looked for the file before it was there.
  const late = silent === null ? await daemonOrNone(settings) : null;
  if (late !== null) return pullThere(context, settings, late, options);
  const not_ended = options.kill === true;
  const why =
    silent === null
      ? 'No daemon runs'
      : `The daemon (pid ${silent.daemon.pid}) does not answer; it takes up the file with its next tick if it still ticks`;
  if (options.json) printJson(context, { stopped: true, changed: !was, file: path, daemon: false });
  else {
    context.out(
      `${was ? 'The brake was on already' : 'The brake is on'}, by its file ${path}. ${why}; nothing new is started.\n`,
    );
    context.out('Let work start again with: svc resume-all\n');
  }
  if (not_ended)
    context.err(
      'svc: no worker was ended: only a daemon can do that; run: svc daemon start, then: svc stop-all --kill\n',
    );
  return not_ended ? EXIT.refused : EXIT.ok;
}

function bodyOf(options: Options): PullBrake {
  return {
    ...(options.kill ? { kill: true } : {}),
    ...(options.note === undefined ? {} : { note: options.note }),
  };
}

function tell(context: CliContext, pulled: BrakePulled, options: Options): ExitCode {
  if (options.json) printJson(context, pulled);
  else {
    context.out(`${pulled.changed ? 'Stopped' : 'Stopped already'}: nothing new is started.\n`);
    if (pulled.killed.length > 0) context.out(`Ended and held: ${names(pulled.killed)}\n`);
    for (const { fiber_id, message } of pulled.not_killed)
      context.err(`svc: ${fiber_id} was not ended: ${message}\n`);
    const goesOn = pulled.running.filter((id) => !pulled.not_killed.some((one) => one.fiber_id === id));
    if (goesOn.length > 0) context.out(`Still at work: ${names(goesOn)}; end them too with --kill\n`);
    context.out('Let work start again with: svc resume-all\n');
  }
  if (pulled.fault !== undefined) context.err(`svc: ${pulled.fault}\n`);
  return pulled.not_killed.length === 0 && pulled.fault === undefined ? EXIT.ok : EXIT.refused;
}

function names(fibers: readonly string[]): string {
  return fibers.join(', ');
}
