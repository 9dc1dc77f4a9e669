import { z } from 'zod';
import { isCoded, messageOf } from '../../../base/errors.ts';
import { readSettings } from '../../../config/settings.ts';
import { type State, stateSchema } from '../../../contract/http/state.ts';
import { type Version, versionSchema } from '../../../contract/http/version.ts';
import type { DaemonFile } from '../../../contract/operator-files.ts';
import { readBuildStamp } from '../../../platform/build-stamp.ts';
import { formatMoment, formatTable } from '../../command-line/output.ts';
import { defineVerb, EXIT } from '../../command-line/verb.ts';
import { createDaemonClient, type DaemonClient } from '../../daemon-client/client.ts';
import { type DaemonLookup, findDaemon } from '../../daemon-client/daemon-file.ts';
import { internalsPage } from './internals.ts';

/** `svc daemon status`: whether the daemon runs, and what it reports about itself. */
export const verb = defineVerb({
  summary: 'Show the daemon and its parts (exit 3 when it does not run)',
  examples: [['svc daemon status --json', 'the daemon, its version and its components as JSON']],
  page: 'daemon.md',
  json: z.union([
    z.looseObject({ running: z.literal(true) }),
    z.object({ running: z.literal(false), reason: z.string() }),
  ]),
  exits: { 3: 'no daemon runs, or it does not answer' },
  async run(context) {
    const found = await findDaemon(readSettings(context.env));
    if (found.kind !== 'running')
      return { json: { running: false, reason: found.kind }, text: absence(found), exit: EXIT.unreachable };
    const { version = null, error = null, state = null } = await ask(found.daemon);
    const now = context.clock.now();
    const { width } = context;
    const page = presence(found.daemon, version ?? String(error), now, width);
    return {
      json: { running: true, ...found.daemon, answer: version, error, state },
      text: state === null ? page : `${page}${internalsPage(state, now, width)}`,
      exit: version === null ? EXIT.unreachable : EXIT.ok,
    };
  },
});

async function ask(daemon: DaemonFile): Promise<{ version?: Version; state?: State; error?: string }> {
  const client = createDaemonClient(daemon);
  try {
    const version = await client.get('/version', versionSchema);
    return version.ready ? { version, ...(await askForState(client)) } : { version };
  } catch (error) {
    if (!isCoded(error)) throw error;
    return { error: messageOf(error) };
  }
}

/** A daemon whose poller is being restarted has no state to tell. */
async function askForState(client: DaemonClient): Promise<{ state?: State; error?: string }> {
  try {
    return { state: await client.get('/state', stateSchema) };
  } catch (error) {
    if (!isCoded(error)) throw error;
    return { error: messageOf(error) };
  }
}

function absence(found: Exclude<DaemonLookup, { kind: 'running' }>): string {
  if (found.kind === 'stale')
    return `The daemon does not run: pid ${found.daemon.pid} ended without saying so. Start it with: svc daemon start\n`;
  if (found.kind === 'unreadable')
    return `${found.path} does not name a daemon: ${found.detail}. Start one with: svc daemon start\n`;
  if (found.kind === 'denied') return `${found.what}; ${found.mend}\n`;
  return 'The daemon does not run. Start it with: svc daemon start\n';
}

/** The page of a daemon whose process runs; `answer` is its version, or why it does not answer. */
export function presence(daemon: DaemonFile, answer: Version | string, now: number, width: number): string {
  const since = formatMoment(Date.parse(daemon.booted_at), now);
  const head = `daemon   pid ${daemon.pid}, started ${since}, at ${daemon.listen.join(', ')}\n`;
  if (typeof answer === 'string') return `${head}answer   ${answer}\n`;
  const version = answer;
  return [
    head,
    `version  ${version.version} (${version.git_short_sha})${skew(version)}\n`,
    `host     ${version.host} (${version.host_class})\n`,
    `state    ${version.ready ? 'ready' : 'still starting'}\n`,
    '\n',
    formatTable(
      ['component', 'state', 'restarts', 'last error'],
      version.components.map((part) => [
        part.name,
        part.state,
        String(part.restarts),
        part.last_error ?? '-',
      ]),
      width,
    ),
  ].join('');
}

/** A note if this command and the daemon are different builds. */
function skew(version: Version): string {
  const own = readBuildStamp();
  if (own.version === version.version && own.git_short_sha === version.git_short_sha) return '';
  return `, while svc is ${own.version} (${own.git_short_sha}); bring it up to date with: svc daemon restart`;
}
