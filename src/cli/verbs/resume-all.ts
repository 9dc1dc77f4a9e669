import { readSettings, type Settings } from '../../config/settings.ts';
import { brakeReleasedSchema, type ReleaseBrake } from '../../contract/http/brake.ts';
import { rehearsal } from '../../contract/http/rehearsal.ts';
import { printJson } from '../command-line/output.ts';
import { DRY_RUN, printRehearsal, rehearseRequest } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { daemonOrNone, removeBrake, whenBooted } from '../daemon-client/brake-without-daemon.ts';
import type { DaemonClient } from '../daemon-client/client.ts';

type Options = { held?: boolean; dryRun?: boolean; json?: boolean };

/** `svc resume-all`: lets the emergency brake go; with `--held` whatever was ended or lost starts again too. */
export const verb: Verb = {
  name: 'resume-all',
  summary: 'Let work start again after stop-all',
  register(command, context, exit) {
    command
      .option('--held', 'also release every fiber that is held: killed, lost or since a restart')
      .option(...DRY_RUN)
      .option('--json', 'answer as JSON')
      .action(async (options: Options) => exit(await run(context, options)));
  },
};

async function run(context: CliContext, options: Options): Promise<ExitCode> {
  const settings = readSettings(context.env);
  const daemon = await daemonOrNone(settings);
  if (options.dryRun === true) {
    if (daemon !== null) await rehearseRequest(context, daemon, '/brake/release', bodyOf(options), options);
    else printRehearsal(context, rehearsal('let the brake go for the next daemon; none runs'), options);
    return EXIT.ok;
  }
  return daemon === null ? releaseHere(context, settings, options) : releaseThere(context, daemon, options);
}

async function releaseThere(context: CliContext, daemon: DaemonClient, options: Options): Promise<ExitCode> {
  const released = await whenBooted(context, () =>
    daemon.post('/brake/release', bodyOf(options), brakeReleasedSchema),
  );
  if (options.json) printJson(context, released);
  else {
    context.out(released.changed ? 'The brake is off; work starts again.\n' : 'The brake was off already.\n');
    if (released.held.length > 0)
      context.out(`Still held: ${released.held.join(', ')}; let them start with: svc resume-all --held\n`);
  }
  return EXIT.ok;
}

/** The brake is a file, so it can be let go without a daemon. */
async function releaseHere(context: CliContext, settings: Settings, options: Options): Promise<ExitCode> {
  const { path, was } = removeBrake(settings);
  // One that was started meanwhile may have read the file before it was gone.
  const late = await daemonOrNone(settings);
  if (late !== null) return releaseThere(context, late, options);
  if (options.json) printJson(context, { stopped: false, changed: was, file: path, daemon: false });
  else
    context.out(
      `${was ? 'The brake is off' : 'The brake was off already'}. No daemon runs; start one with: svc daemon start\n`,
    );
  return EXIT.ok;
}

function bodyOf(options: Options): ReleaseBrake {
  return options.held ? { held: true } : {};
}
