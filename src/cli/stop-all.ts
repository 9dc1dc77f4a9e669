import { readSettings } from '../config/settings.ts';
import { brakePulledSchema, type PullBrake } from '../contract/http/brake.ts';
import { connectDaemon } from './daemon-client.ts';
import { printJson } from './output.ts';
import { DRY_RUN, rehearseRequest } from './rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from './verb.ts';

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
  const body: PullBrake = {
    ...(options.kill ? { kill: true } : {}),
    ...(options.note === undefined ? {} : { note: options.note }),
  };
  const daemon = await connectDaemon(readSettings(context.env));
  if (options.dryRun === true) {
    await rehearseRequest(context, daemon, '/brake', body, options);
    return EXIT.ok;
  }
  const pulled = await daemon.post('/brake', body, brakePulledSchema);
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
  return pulled.not_killed.length === 0 ? EXIT.ok : EXIT.refused;
}

function names(fibers: readonly string[]): string {
  return fibers.join(', ');
}
