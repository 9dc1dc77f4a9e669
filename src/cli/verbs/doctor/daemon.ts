import { isCoded } from '../../../base/errors.ts';
import { type Version, versionSchema } from '../../../contract/http/version.ts';
import { readBuildStamp } from '../../../platform/build-stamp.ts';
import { createDaemonClient } from '../../daemon-client/client.ts';
import { type Check, type Finding, fail, ok, warn } from './check.ts';

const SERVERS = { uws: 'the native HTTP server', node: 'Node’s own HTTP server' };

/** Whether the daemon runs, is the same build as this command, and all its components work. */
export const checkDaemon: Check = async ({ daemon: found }) => {
  if (found.kind === 'unreadable')
    return [fail('daemon', `${found.path}: ${found.detail}`, 'remove that file, then run: svc daemon start')];
  if (found.kind === 'denied') return [fail('daemon', found.what, found.mend)];
  if (found.kind !== 'running')
    return [warn('daemon', 'the daemon does not run', 'start it with: svc daemon start')];
  const { daemon } = found;
  try {
    const version = await createDaemonClient(daemon).get('/version', versionSchema);
    return [running(daemon.pid, version), sameBuild(version), ...parts(version), ...contract(version)];
  } catch (error) {
    if (!isCoded(error)) throw error;
    return [fail('daemon', error.message, 'run: svc daemon restart')];
  }
};

function running(pid: number, version: Version): Finding {
  const server = version.server === null ? '' : `, over ${SERVERS[version.server]}`;
  const what = `pid ${pid}, at ${version.listen.join(', ')}${server}`;
  return version.ready
    ? ok('daemon', what)
    : warn('daemon', `${what}, still starting`, 'find out what it waits for with: svc daemon logs');
}

function sameBuild(version: Version): Finding {
  const own = readBuildStamp();
  const theirs = `${version.version} (${version.git_short_sha})`;
  const ours = `${own.version} (${own.git_short_sha})`;
  return theirs === ours
    ? ok('build', ours)
    : warn(
        'build',
        `the daemon is ${theirs} and svc is ${ours}`,
        'run the same build with: svc daemon restart',
      );
}

/** Only the skews that the daemon knows; other checks compare what is installed for the agent programs. */
function contract(version: Version): Finding[] {
  return version.skew
    .filter(({ of }) => of === 'cli' || of === 'prompt')
    .map(({ of, where, what, mend }) =>
      of === 'cli' ? warn('SVC_CLI', `${where}: ${what}`, mend) : warn('launch messages', what, mend),
    );
}

function parts(version: Version): Finding[] {
  return version.components
    .filter((part) => part.state === 'failed')
    .map((part) =>
      fail(
        `component ${part.name}`,
        `it has failed: ${part.last_error ?? 'no reason'}`,
        'run: svc daemon restart',
      ),
    );
}
