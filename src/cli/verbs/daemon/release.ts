import type { Settings } from '../../../config/settings.ts';
import { releasedSchema } from '../../../contract/http/dispatch.ts';
import { printJson } from '../../command-line/output.ts';
import { rehearseRequest } from '../../command-line/rehearsal.ts';
import { type CliContext, EXIT, type ExitCode } from '../../command-line/verb.ts';
import { connectDaemon } from '../../daemon-client/client.ts';

/** Releases the boot quarantine (WPL-25). */
export async function runRelease(
  context: CliContext,
  settings: Settings,
  options: { dryRun?: boolean; json?: boolean },
): Promise<ExitCode> {
  const daemon = await connectDaemon(settings);
  if (options.dryRun === true) {
    await rehearseRequest(context, daemon, '/quarantine/release', {}, options);
    return EXIT.ok;
  }
  const released = await daemon.post('/quarantine/release', {}, releasedSchema);
  if (options.json) printJson(context, released);
  else if (released.pending === 0) context.out('Nothing was held back.\n');
  else context.out(`Released ${released.pending} held ${released.pending === 1 ? 'fiber' : 'fibers'}.\n`);
  return EXIT.ok;
}
