import { isCoded } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { killedSchema } from '../../contract/http/dispatch.ts';
import { printJson } from '../command-line/output.ts';
import { DRY_RUN, rehearseRequest } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode, type Verb } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';

/** `svc kill <fiber>`: stops its worker (WPL-4); a worker that is gone already counts as stopped. */
export const verb: Verb = {
  name: 'kill',
  summary: 'Stop the worker of a fiber',
  register(command, context, exit) {
    command
      .argument('<fiber>', 'canonical id or uid')
      .option(...DRY_RUN)
      .option('--json', 'answer as JSON')
      .action(async (fiber: string, options: Options) => exit(await run(context, fiber, options)));
  },
};

type Options = { dryRun?: boolean; json?: boolean };

async function run(context: CliContext, fiber: string, options: Options): Promise<ExitCode> {
  const daemon = await connectDaemon(readSettings(context.env));
  try {
    if (options.dryRun === true) {
      await rehearseRequest(context, daemon, '/kill', { fiber_id: fiber }, options);
      return EXIT.ok;
    }
    const killed = await daemon.post('/kill', { fiber_id: fiber }, killedSchema);
    if (options.json) printJson(context, killed);
    else {
      const how = killed.already_killed ? 'Stopped already, nothing runs for' : 'Stopped';
      const session = killed.mux_session === null ? '' : ` (${killed.mux_session})`;
      context.out(`${how} ${killed.fiber_id}${session}\n`);
    }
  } catch (error) {
    if (!isCoded(error, 'no_worker')) throw error;
    if (options.json) printJson(context, { killed: false, fiber_id: fiber, mux_session: null });
    else context.out(`No worker runs for ${fiber}\n`);
  }
  return EXIT.ok;
}
