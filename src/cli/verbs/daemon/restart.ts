import { readSettings } from '../../../config/settings.ts';
import { defineVerb } from '../../command-line/verb.ts';
import { startDaemon, startedSchema, timeout } from './start.ts';
import { stopDaemon } from './stop.ts';

/** `svc daemon restart`: stops the daemon if it runs and starts it; the result is that of the start. */
export const verb = defineVerb({
  summary: 'Stop the daemon and start it again',
  options: { timeout: timeout('seconds to wait for its end, then for an answer of the new one') },
  examples: [['svc daemon restart', 'takes over changed settings or a new version']],
  page: 'daemon.md',
  json: startedSchema,
  async run(context, given) {
    const settings = readSettings(context.env);
    await stopDaemon(context, settings, given.timeout);
    return startDaemon(context, settings, given.timeout);
  },
});
