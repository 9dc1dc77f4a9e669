import { readSettings, type Settings } from '../../config/settings.ts';
import { brakeReleasedSchema, type ReleaseBrake } from '../../contract/http/brake.ts';
import { rehearsal } from '../../contract/http/rehearsal.ts';
import { DRY_RUN } from '../command-line/options.ts';
import { rehearsed, rehearseRequest } from '../command-line/rehearsal.ts';
import { type Answer, type CliContext, defineVerb } from '../command-line/verb.ts';
import { daemonOrNone, removeBrake, whenBooted } from '../daemon-client/brake-without-daemon.ts';
import type { DaemonClient } from '../daemon-client/client.ts';

/** `svc resume-all`: releases the emergency brake, and no hold on a fiber. */
export const verb = defineVerb({
  summary: 'Let work start again after stop-all',
  options: { dry_run: DRY_RUN },
  examples: [['svc resume-all', 'releases the brake']],
  page: 'why.md',
  json: brakeReleasedSchema,
  async run(context, { dry_run }) {
    const settings = readSettings(context.env);
    const body: ReleaseBrake = {};
    const daemon = await daemonOrNone(settings);
    if (dry_run === true)
      return daemon === null
        ? rehearsed(rehearsal('let the brake go for the next daemon; none runs'))
        : rehearseRequest(daemon, '/brake/release', body);
    return daemon === null ? releaseHere(context, settings, body) : releaseThere(context, daemon, body);
  },
});

async function releaseThere(context: CliContext, daemon: DaemonClient, body: ReleaseBrake): Promise<Answer> {
  const released = await whenBooted(context, () => daemon.post('/brake/release', body, brakeReleasedSchema));
  const { changed, held } = released;
  const done = changed ? 'The brake is off; work starts again.\n' : 'The brake was off already.\n';
  const rest =
    held.length === 0 ? '' : `Still held: ${held.join(', ')}; svc status says what lets each one start\n`;
  return { json: released, text: `${done}${rest}` };
}

/** The brake is a file, so it can be released without a daemon. */
async function releaseHere(context: CliContext, settings: Settings, body: ReleaseBrake): Promise<Answer> {
  const { path, was } = removeBrake(settings);
  // A daemon that was started meanwhile may have read the file before it was removed.
  const late = await daemonOrNone(settings);
  if (late !== null) return releaseThere(context, late, body);
  return {
    json: { stopped: false, changed: was, file: path, daemon: false },
    text: `${was ? 'The brake is off' : 'The brake was off already'}. No daemon runs; start one with: svc daemon start\n`,
  };
}
