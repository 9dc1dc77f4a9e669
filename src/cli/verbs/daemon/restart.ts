import { CodedError } from '../../../base/errors.ts';
import { readSettings, type Settings } from '../../../config/settings.ts';
import { defineVerb } from '../../command-line/verb.ts';
import { findDaemon } from '../../daemon-client/daemon-file.ts';
import { operatorFiles } from '../../operator-files.ts';
import { startDaemon, startedSchema, timeout } from './start.ts';
import { stopDaemon } from './stop.ts';

/**
 * `svc daemon restart`: stops the daemon if it runs and starts it; the result is that of the start. A daemon that runs is
 * not stopped while the next one could not start, or would lose what an operator file said before.
 */
export const verb = defineVerb({
  summary: 'Stop the daemon and start it again',
  options: { timeout: timeout('seconds to wait for its end, then for an answer of the new one') },
  examples: [['svc daemon restart', 'takes over changed settings or a new version']],
  page: 'daemon.md',
  json: startedSchema,
  async run(context, given) {
    const settings = readSettings(context.env);
    const found = await findDaemon(settings);
    if (found.kind === 'running') await requireStartable(settings, found.daemon.listen);
    await stopDaemon(context, settings, given.timeout);
    return startDaemon(context, settings, given.timeout);
  },
});

/** Throws `invalid_config` with everything that the next daemon would not accept. */
async function requireStartable(settings: Settings, held: readonly string[]): Promise<void> {
  const { findBootFaults } = await import('../../../daemon-check.ts');
  const of_files = operatorFiles(settings)
    .errors()
    .map(({ error }) => error);
  // A broken file keeps the daemon from booting with the same sentence.
  const faults = [...new Set([...of_files, ...(await findBootFaults(settings, held))])];
  if (faults.length === 0) return;
  throw new CodedError(
    'invalid_config',
    `the daemon was not stopped and goes on as before: ${faults.join('\n')}`,
  );
}
