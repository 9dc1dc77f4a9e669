import { CodedError, isCoded, messageOf } from '../../../base/errors.ts';
import { shellLine } from '../../../base/shell-word.ts';
import { remoteAddress } from '../../../config/remotes.ts';
import { wantsTunnel } from '../../../config/tunnels.ts';
import { refusalOf } from '../../../contract/http/errors.ts';
import type { FleetRow } from '../../../contract/http/fleet.ts';
import { type Version, versionSchema } from '../../../contract/http/version.ts';
import type { Remote } from '../../../contract/operator-files.ts';
import { placeOf, type RemoteAddress } from '../../../contract/remote-address.ts';
import { UNKNOWN_BUILD } from '../../../platform/build-stamp.ts';
import { failureWords } from '../../../platform/failure-words.ts';
import { requestJson } from '../../../platform/http-client.ts';
import { serverAt } from '../../../platform/own-socket.ts';
import type { ProcessRunner } from '../../../platform/process.ts';
import { sshFault } from '../../../platform/ssh-fault.ts';
import { type Finding, fail, ok, warn } from '../doctor/check.ts';

/** For a connection by SSH and for the answer of a daemon, in milliseconds. */
const SSH_MS = 20_000;
const ANSWER_MS = 5_000;
const MOST_BYTES = 1024 * 1024;

type Build = Pick<Version, 'version' | 'git_short_sha'>;

/** What of the machine a check needs. */
export type CheckSurroundings = {
  env: NodeJS.ProcessEnv;
  runner: Pick<ProcessRunner, 'run'>;
  /** The path of `ssh`; null without it. */
  ssh: string | null;
  /** The build of this command. */
  own: Build;
  /** The id of this host. */
  host: string;
};

/** How the daemon of this host reaches a remote; null where none runs here, or it does not know it. */
export type SeenByDaemon = (name: string) => Promise<Pick<FleetRow, 'reach' | 'build'> | null>;

/** What a person would want to know of a remote that does not answer, from the nearest to the farthest. */
export async function checkRemote(
  remote: Remote,
  surroundings: CheckSurroundings,
  seenByDaemon: SeenByDaemon,
): Promise<Finding[]> {
  const [ssh, daemon] = await Promise.all([
    remote.ssh === undefined ? [] : checkSsh(remote, remote.ssh, surroundings),
    checkDaemon(remote, surroundings, seenByDaemon),
  ]);
  return [...ssh, ...daemon];
}

async function checkSsh(
  { ssh_flags: flags = [] }: Remote,
  alias: string,
  surroundings: CheckSurroundings,
): Promise<Finding[]> {
  const asked = await askSsh({ alias, flags }, 'true', surroundings);
  return ['fault' in asked ? asked.fault : ok('ssh', `${alias} lets this user in`)];
}

/** The exit code of `ssh` itself, where it did not reach a command of the other host. */
const SSH_FAILED = 255;

/** Runs a command on another host, without a question to anybody; a fault where SSH does not lead there. */
export async function askSsh(
  { alias, flags }: { alias: string; flags: readonly string[] },
  command: string,
  { env, runner, ssh }: CheckSurroundings,
): Promise<{ code: number; stdout: string } | { fault: Finding }> {
  if (ssh === null) return { fault: fail('ssh', 'ssh is not on the PATH', 'install the OpenSSH client') };
  const quick = ['-o', 'BatchMode=yes', '-o', 'ConnectTimeout=10', '-o', 'ClearAllForwardings=yes'];
  const result = await runner.run({
    file: ssh,
    args: [...quick, ...flags, '-T', '--', alias, command],
    env,
    cwd: '/',
    timeout_ms: SSH_MS,
    max_output_bytes: MOST_BYTES,
  });
  if (result.kind === 'exited' && result.code !== SSH_FAILED) return result;
  const said =
    result.kind === 'exited'
      ? result.stderr
      : result.kind === 'timed_out'
        ? 'timed out'
        : failureWords(result);
  const { why, mend } = sshFault(said, alias, shellLine(['ssh', ...flags, '--', alias]));
  return { fault: fail('ssh', `${alias}: ${why}`, mend) };
}

async function checkDaemon(
  remote: Remote,
  { own, host: this_host }: CheckSurroundings,
  seenByDaemon: SeenByDaemon,
): Promise<Finding[]> {
  const { name } = remote;
  const address = remoteAddress(remote);
  if (address === null)
    return [fail('address', 'its entry names no address', `svc remotes add ${name} --socket <path>`)];
  const place = placeOf(address);
  const mend = wantsTunnel(remote)
    ? `have its tunnel kept up: svc tunnels install ${name}; or in a terminal: svc tunnels run ${name}`
    : `see that its daemon runs there and that ${place} leads to it`;
  let told: Told;
  try {
    told = await versionAt(address);
  } catch (error) {
    // The message of an untrusted socket has its fix already.
    if (isCoded(error, 'invalid_config'))
      return [fail('address', 'its socket is not trusted', messageOf(error))];
    // The daemon of this host may have a way that this command has not, as through tailscaled.
    const seen = 'url' in address ? await seenByDaemon(name) : null;
    if (seen?.reach.state === 'answers' && seen.build !== null)
      return [
        ok('daemon', `answers the daemon of this host at ${place}, where this command cannot connect`),
        ok('host id', name),
        checkBuild(seen.build, own, remote),
      ];
    return [fail('daemon', `no answer at ${place}: ${messageOf(error)}`, mend)];
  }
  if ('refusal' in told) {
    const { code, sentence } = told.refusal;
    return [
      fail('daemon', `answers at ${place}, and refuses this host: ${sentence}`, refusalMend(code, name)),
    ];
  }
  if (told.version === null) return [fail('daemon', strangerAt(place), mend)];
  const { version } = told;
  const { host, ready } = version;
  const answer = ready
    ? ok('daemon', `answers at ${place}`)
    : warn('daemon', `answers at ${place} and is still starting`, 'wait a moment');
  if (host !== name) {
    const is_here = host === this_host;
    return [
      answer,
      fail(
        'host id',
        `${place} leads to ${is_here ? 'this host, ' : ''}${host}, so nothing is passed on to it`,
        is_here
          ? `correct the address, or remove the entry: svc remotes rm ${name}`
          : `correct the address; or, where ${host} is meant: svc remotes rm ${name}, then svc remotes add ${host}`,
      ),
    ];
  }
  return [answer, ok('host id', host), checkBuild(version, own, remote)];
}

/** `version` is null for a program that is no daemon of this kind. */
type Told = { version: Version | null } | { refusal: NonNullable<ReturnType<typeof refusalOf>> };

/** What the daemon at an address says of itself, or why it does not. */
async function versionAt(address: RemoteAddress): Promise<Told> {
  const limits = { deadline_ms: ANSWER_MS, most_bytes: MOST_BYTES };
  const to = await serverAt(address);
  const { status, body } = await requestJson({ to, method: 'GET', path: '/api/v1/version', ...limits });
  const refusal = status === 200 ? null : refusalOf(body);
  return refusal === null ? { version: versionSchema.safeParse(body).data ?? null } : { refusal };
}

function refusalMend(code: string, name: string): string {
  return code === 'peer_refused'
    ? 'lead the connection there as the user that its daemon runs as'
    : `change that on ${name}, and check again`;
}

function strangerAt(place: string): string {
  return `what answers at ${place} is not a daemon of this kind`;
}

/** The build of the daemon of a remote, to be pinned; throws where another host answers, or none, with that fix. */
export async function presentBuild(remote: Remote, seenByDaemon: SeenByDaemon, fix: string): Promise<string> {
  const { name } = remote;
  const refused = (code: string, why: string) => new CodedError(code, `${why}; nothing was written. ${fix}`);
  const address = remoteAddress(remote);
  if (address === null) throw refused('invalid_config', `the entry of ${name} names no address`);
  const place = placeOf(address);
  const told = await versionAt(address).catch(async (error: unknown) => {
    const seen = 'url' in address ? await seenByDaemon(name) : null;
    if (seen?.reach.state === 'answers' && seen.build !== null)
      return { version: { host: name, ...seen.build } };
    throw refused('remote_unreachable', `no answer at ${place}: ${messageOf(error)}`);
  });
  if ('refusal' in told)
    throw refused(told.refusal.code, `what answers at ${place} refuses this host: ${told.refusal.sentence}`);
  const { version } = told;
  if (version === null) throw refused('remote_unreachable', strangerAt(place));
  if (version.host !== name) throw refused('misdirected', `${place} leads to ${version.host}`);
  return requireKnownBuild(name, version.git_short_sha);
}

/** A daemon that runs from files without their history does not know its build. */
export function requireKnownBuild(name: string, build: string): string {
  if (build !== UNKNOWN_BUILD) return build;
  throw new CodedError(
    'invalid_config',
    `the daemon of ${name} does not know of which build it is, so that there is nothing to pin; install it there from its package, or run it from a clone`,
  );
}

function checkBuild(there: Build, own: Build, { name, build }: Pick<Remote, 'name' | 'build'>): Finding {
  const is = ({ version, git_short_sha }: Build) => `${version} (${git_short_sha})`;
  if (build !== undefined && there.git_short_sha !== build)
    return fail(
      'build',
      `${is(there)}, and its entry pins ${build}, so nothing is passed on to it`,
      `if that is right: svc remotes pin ${name}`,
    );
  return is(there) === is(own)
    ? ok('build', is(there))
    : warn(
        'build',
        `${is(there)}, while this one is ${is(own)}`,
        'bring the older of both up to date: what only one knows the other refuses',
      );
}
