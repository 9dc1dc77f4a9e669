import { readSettings } from '../../../config/settings.ts';
import { type Released, releasedSchema } from '../../../contract/http/dispatch.ts';
import { type State, stateSchema } from '../../../contract/http/state.ts';
import { confirm } from '../../command-line/confirm.ts';
import { DRY_RUN, option } from '../../command-line/options.ts';
import { rehearseRequest } from '../../command-line/rehearsal.ts';
import { holdWords, letGo } from '../../command-line/screen-words.ts';
import { defineVerb, EXIT } from '../../command-line/verb.ts';
import { connectDaemon } from '../../daemon-client/client.ts';

/** `svc daemon release`: names what the start of the daemon holds (WPL-25), asks, and lets it start. */
export const verb = defineVerb({
  summary: 'Start what a restart of the daemon holds back',
  options: {
    yes: option('-y, --yes', 'do not ask; without a terminal nothing is asked'),
    dry_run: DRY_RUN,
  },
  examples: [
    ['svc daemon release --dry-run', 'names the fibers that a restart of the daemon holds back'],
    ['svc daemon release', 'names them, asks on a terminal, and lets them start'],
  ],
  page: 'daemon.md',
  json: releasedSchema,
  exits: { 1: 'the question was not answered with yes; nothing was released' },
  async run(context, { yes, dry_run, json }) {
    const daemon = await connectDaemon(readSettings(context.env));
    if (dry_run === true) return rehearseRequest(daemon, '/quarantine/release', {});
    let was_active = false;
    if (json !== true) {
      // Refused while the daemon cannot tell what runs, for its state then names nothing that is held.
      await rehearseRequest(daemon, '/quarantine/release', {});
      const state = await daemon.get('/state', stateSchema);
      was_active = state.boot_quarantine.active;
      const names = heldByStart(state);
      context.out(listed(names));
      const asks = yes !== true && names.length > 0 && context.stdin.isTTY === true;
      const go_on = !asks || (await confirm(context, questionOn(names)));
      if (!go_on) {
        context.out('Nothing was released.\n');
        return EXIT.refused;
      }
    }
    const released = await daemon.post('/quarantine/release', {}, releasedSchema);
    return { json: released, text: describe(released, was_active) };
  },
});

function heldByStart({ pending_launch }: State): string[] {
  return pending_launch.filter(({ reason }) => reason === 'boot_quarantine').map(({ fiber_id }) => fiber_id);
}

/** Printed first, so that it is on the screen whatever becomes of the release. */
function listed(names: readonly string[]): string {
  return names.length === 0
    ? ''
    : `Held since the daemon started:\n${names.map((name) => `  ${name}\n`).join('')}`;
}

function questionOn(names: readonly string[]): string {
  return names.length === 1 ? 'Let it start?' : `Let these ${names.length} start?`;
}

/** `was_active`: a restart held back what becomes due, also while no fiber waited. */
function describe({ pending, held }: Released, was_active: boolean): string {
  const done =
    pending === 0
      ? was_active
        ? 'Released: what becomes due starts by itself again. No fiber was waiting.\n'
        : 'Nothing was held back.\n'
      : `Released ${pending} held ${pending === 1 ? 'fiber' : 'fibers'}.\n`;
  const rest = held.map(
    ({ fiber_id, reason }) => `  ${fiber_id} (${holdWords(reason, null)}): ${letGo(reason, fiber_id)}\n`,
  );
  return rest.length === 0 ? done : `${done}Still held:\n${rest.join('')}`;
}
