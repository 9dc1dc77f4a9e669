import { isCoded, messageOf } from '../../../base/errors.ts';
import type { Settings } from '../../../config/settings.ts';
import { type Version, versionSchema } from '../../../contract/http/version.ts';
import type { DaemonFile } from '../../../contract/operator-files.ts';
import { readBuildStamp } from '../../../platform/build-stamp.ts';
import { formatMoment, formatTable, printJson } from '../../command-line/output.ts';
import { type CliContext, EXIT, type ExitCode } from '../../command-line/verb.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { type DaemonLookup, findDaemon } from '../../daemon-client/daemon-file.ts';

/** Says whether the daemon runs, and what it says of itself. */
export async function runStatus(
  context: CliContext,
  settings: Settings,
  options: { json?: boolean },
): Promise<ExitCode> {
  const found = await findDaemon(settings);
  if (found.kind !== 'running') {
    if (options.json) printJson(context, { running: false, reason: found.kind });
    else context.out(absence(found));
    return EXIT.unreachable;
  }
  const answer = await ask(found.daemon);
  if (options.json)
    printJson(context, {
      running: true,
      ...found.daemon,
      answer: 'version' in answer ? answer.version : null,
      error: 'error' in answer ? answer.error : null,
    });
  else context.out(presence(found.daemon, answer, context.clock.now()));
  return 'version' in answer ? EXIT.ok : EXIT.unreachable;
}

type Answer = { version: Version } | { error: string };

async function ask(daemon: DaemonFile): Promise<Answer> {
  try {
    return { version: await createDaemonClient(daemon).get('/version', versionSchema) };
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
  return 'The daemon does not run. Start it with: svc daemon start\n';
}

/** One page on a daemon whose process runs. */
export function presence(daemon: DaemonFile, answer: Answer, now: number): string {
  const since = formatMoment(Date.parse(daemon.booted_at), now);
  const head = `daemon   pid ${daemon.pid}, started ${since}, at ${daemon.listen.join(', ')}\n`;
  if ('error' in answer) return `${head}answer   ${answer.error}\n`;
  const { version } = answer;
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
    ),
  ].join('');
}

/** Says so where this command and the daemon are different builds. */
function skew(version: Version): string {
  const own = readBuildStamp();
  if (own.version === version.version && own.git_short_sha === version.git_short_sha) return '';
  return `, while svc is ${own.version} (${own.git_short_sha}); bring it up to date with: svc daemon restart`;
}
