import { readSettings } from '../../../config/settings.ts';
import { releasedSchema } from '../../../contract/http/dispatch.ts';
import { DRY_RUN } from '../../command-line/options.ts';
import { rehearseRequest } from '../../command-line/rehearsal.ts';
import { defineVerb } from '../../command-line/verb.ts';
import { connectDaemon } from '../../daemon-client/client.ts';

/** `svc daemon release`: releases the boot quarantine (WPL-25). */
export const verb = defineVerb({
  summary: 'Start the launches that a restart holds back',
  options: { dry_run: DRY_RUN },
  examples: [['svc daemon release', 'starts what a restart of the daemon held back']],
  page: 'daemon.md',
  json: releasedSchema,
  async run(context, { dry_run }) {
    const daemon = await connectDaemon(readSettings(context.env));
    if (dry_run === true) return rehearseRequest(daemon, '/quarantine/release', {});
    const released = await daemon.post('/quarantine/release', {}, releasedSchema);
    const { pending } = released;
    const text =
      pending === 0
        ? 'Nothing was held back.\n'
        : `Released ${pending} held ${pending === 1 ? 'fiber' : 'fibers'}.\n`;
    return { json: released, text };
  },
});
