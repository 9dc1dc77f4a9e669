import { readSettings } from '../../../config/settings.ts';
import { type Released, releasedSchema } from '../../../contract/http/dispatch.ts';
import { type State, stateSchema } from '../../../contract/http/state.ts';
import { DRY_RUN } from '../../command-line/options.ts';
import { rehearseRequest } from '../../command-line/rehearsal.ts';
import { defineVerb } from '../../command-line/verb.ts';
import { connectDaemon } from '../../daemon-client/client.ts';
import { letGo } from '../status/hold.ts';

/** `svc daemon release`: releases the boot quarantine (WPL-25), after it has named what that lets start. */
export const verb = defineVerb({
  summary: 'Start what a restart of the daemon holds back',
  options: { dry_run: DRY_RUN },
  examples: [
    ['svc daemon release --dry-run', 'names the fibers that a restart of the daemon holds back'],
    ['svc daemon release', 'names them, and lets them start'],
  ],
  page: 'daemon.md',
  json: releasedSchema,
  async run(context, { dry_run, json }) {
    const daemon = await connectDaemon(readSettings(context.env));
    if (dry_run === true) return rehearseRequest(daemon, '/quarantine/release', {});
    if (json !== true) context.out(heldByStart(await daemon.get('/state', stateSchema)));
    const released = await daemon.post('/quarantine/release', {}, releasedSchema);
    return { json: released, text: describe(released) };
  },
});

/** Printed first, so that it is on the screen whatever becomes of the release. */
function heldByStart({ pending_launch }: State): string {
  const names = pending_launch.filter(({ reason }) => reason === 'boot_quarantine');
  if (names.length === 0) return '';
  return `Held since the daemon started:\n${names.map(({ fiber_id }) => `  ${fiber_id}\n`).join('')}`;
}

function describe({ pending, held }: Released): string {
  const done =
    pending === 0
      ? 'Nothing was held back.\n'
      : `Released ${pending} held ${pending === 1 ? 'fiber' : 'fibers'}.\n`;
  const rest = held.map(({ fiber_id, reason }) => `  ${fiber_id} (${reason}): ${letGo(reason, fiber_id)}\n`);
  return rest.length === 0 ? done : `${done}Still held:\n${rest.join('')}`;
}
