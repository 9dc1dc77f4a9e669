import { readSettings } from '../config/settings.ts';
import { brakeReleasedSchema, type ReleaseBrake } from '../contract/http/brake.ts';
import { connectDaemon } from './daemon-client.ts';
import { printJson } from './output.ts';
import { DRY_RUN, rehearseRequest } from './rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from './verb.ts';

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
  const body: ReleaseBrake = options.held ? { held: true } : {};
  const daemon = await connectDaemon(readSettings(context.env));
  if (options.dryRun === true) {
    await rehearseRequest(context, daemon, '/brake/release', body, options);
    return EXIT.ok;
  }
  const released = await daemon.post('/brake/release', body, brakeReleasedSchema);
  if (options.json) printJson(context, released);
  else {
    context.out(released.changed ? 'The brake is off; work starts again.\n' : 'The brake was off already.\n');
    if (released.held.length > 0)
      context.out(`Still held: ${released.held.join(', ')}; let them start with: svc resume-all --held\n`);
  }
  return EXIT.ok;
}
