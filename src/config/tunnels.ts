import { dirname } from 'node:path';
import { CodedError } from '../base/errors.ts';
import type { TunnelUnit } from '../contract/http/fleet.ts';
import type { Remote } from '../contract/operator-files.ts';
import { findExecutable } from '../platform/find-executable.ts';
import {
  findServiceManager,
  type ServiceManager,
  type ServiceSurroundings,
  type ServiceUnit,
  serviceManagerOf,
} from '../platform/service-manager.ts';
import type { ServiceJob } from '../platform/service-units.ts';
import { noRemoteCalled } from './remotes.ts';

/** An SSH tunnel to the daemon of a remote. */
export type Tunnel = {
  remote: string;
  /** Where it begins on this machine. */
  near: { socket: string } | { port: number };
  /** The alias of the host for `ssh`, and the flags of its entry. */
  alias: string;
  flags: readonly string[];
  /** What `ssh` is called with for the tunnel. */
  args: string[];
};

/** The port that a daemon listens on unless it is told otherwise. */
const DAEMON_PORT = 4000;
const UNIT_PREFIX = 'fiber-dispatch-tunnel-';
const SERVICE_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

/**
 * The options of every tunnel. The first value of a `-o` counts, and the last `-S`, so that neither the flags of an entry,
 * which stand between the two lists, nor the configuration of SSH change them:
 *
 * - it asks nobody for a password, and ends where the near end cannot be opened, instead of looking as if it worked;
 * - it ends within 60 s after the other host is gone, and is then restarted;
 * - it never shares the connection of another `ssh`, with which its forward would vanish;
 * - a socket that an earlier one left is replaced, and only this user can use the new one.
 */
const TUNNEL_OPTIONS = [
  ...['-o', 'BatchMode=yes', '-o', 'ControlMaster=no'],
  ...['-o', 'ExitOnForwardFailure=yes', '-o', 'ConnectTimeout=15'],
  ...['-o', 'ServerAliveInterval=15', '-o', 'ServerAliveCountMax=3'],
  ...['-o', 'StreamLocalBindUnlink=yes', '-o', 'StreamLocalBindMask=0177'],
];
const TUNNEL_FLAGS = ['-N', '-T', '-S', 'none'];

/** Whether a remote is reached through a tunnel of this machine. */
export function wantsTunnel({ ssh, socket, port, tunnel }: Remote): boolean {
  return ssh !== undefined && tunnel !== false && (socket ?? port) !== undefined;
}

/** The tunnel that an entry of `remotes.json` asks for; throws `invalid_config` where it asks for none. */
export function tunnelOf(remote: Remote): Tunnel {
  const { name, ssh, ssh_flags = [], socket, port, remote_socket, remote_port = DAEMON_PORT } = remote;
  const refuse = (why: string): never => {
    throw new CodedError('invalid_config', `the entry of ${name} in remotes.json ${why}`, {
      details: { origin: name },
    });
  };
  if (!wantsTunnel(remote) || ssh === undefined)
    return refuse('asks for no tunnel: it needs "ssh", a "socket" or a "port", and no "tunnel": false');
  for (const word of [ssh, ...ssh_flags])
    if (/\p{Cc}/u.test(word)) refuse('has a control character in "ssh" or "ssh_flags"; rewrite them');
  for (const path of [socket, remote_socket])
    if (path !== undefined && !isPlain(path))
      refuse(
        `names the socket ${JSON.stringify(path)}, which has characters that ssh would expand; use letters, digits and /._-+@`,
      );
  const near = socket === undefined ? `127.0.0.1:${port}` : socket;
  const far = remote_socket ?? `127.0.0.1:${remote_port}`;
  return {
    remote: name,
    near: socket === undefined ? { port: port! } : { socket },
    alias: ssh,
    flags: ssh_flags,
    args: [...TUNNEL_OPTIONS, ...ssh_flags, ...TUNNEL_FLAGS, '-L', `${near}:${far}`, '--', ssh],
  };
}

/** ssh expands `%`, `~` and `${…}` in the paths of a forward, and a colon ends one. */
function isPlain(path: string): boolean {
  return /^\/[\w./+@-]*$/.test(path);
}

/** The tunnels of these remotes, or of all that want one; throws `not_found`, and what `tunnelOf` throws. */
export function tunnelsOf(remotes: readonly Remote[], names?: readonly string[]): Tunnel[] {
  if (names === undefined || names.length === 0) return remotes.filter(wantsTunnel).map(tunnelOf);
  return names.map((name) => {
    const remote = remotes.find((one) => one.name === name);
    if (remote !== undefined) return tunnelOf(remote);
    throw noRemoteCalled(
      name,
      remotes.map((one) => one.name),
    );
  });
}

/**
 * What an install of tunnels would do; `files` are the files of its units, before and after. `fault`: nothing would keep
 * them up here.
 */
export type TunnelPlan = {
  manager: ServiceManager;
  units: TunnelUnit[];
  files: { path: string; before: string | null; after: string }[];
  fault: CodedError | null;
};

/**
 * Plans to keep up the tunnels of these remotes, or of all that want one. Throws what `tunnelsOf` throws, and
 * `invalid_config` without `ssh`.
 */
export async function planTunnels(
  remotes: readonly Remote[],
  names: readonly string[] | undefined,
  surroundings: ServiceSurroundings,
): Promise<TunnelPlan> {
  const tunnels = tunnelsOf(remotes, names);
  const manager = serviceManagerOf(surroundings);
  const fault = (await manager.answers()) ? null : noServiceManager(tunnels.map(({ remote }) => remote));
  const ssh = await sshProgram(surroundings.env);
  const units = await tunnelUnits(manager, tunnels, ssh);
  const files = units.map(({ name, path, content }) => ({
    path,
    before: manager.installed(name),
    after: content,
  }));
  return { manager, units, files, fault };
}

/** What `installTunnels` does with a plan, after "Would". */
export function whatToInstall({ units, fault }: Pick<TunnelPlan, 'units' | 'fault'>): string {
  const started = units.filter(({ state }) => state !== 'active');
  if (units.length === 0) return 'install nothing: no entry of remotes.json asks for a tunnel';
  if (started.length === 0) return 'write nothing: these tunnels are up already';
  const install = `install and start ${started.map(({ name }) => name).join(', ')}`;
  return fault === null ? install : `${install}, which cannot be done: ${fault.message}`;
}

/**
 * Installs the units and starts them; one that runs with this text already is left alone. Throws `no_service_manager` where
 * nothing would keep them up, and `service_manager_failed`.
 */
export async function installTunnels({ manager, units, fault }: TunnelPlan): Promise<TunnelUnit[]> {
  const installed: TunnelUnit[] = [];
  for (const { remote, state, ...unit } of units) {
    if (state !== 'active') {
      if (fault !== null) throw fault;
      await manager.install(unit);
    }
    installed.push({ remote, ...unit, state: await manager.state(unit.name) });
  }
  return installed;
}

/** The units of these tunnels as they should be, each with what is there instead. */
export function tunnelUnits(
  manager: ServiceManager,
  tunnels: readonly Tunnel[],
  ssh: string,
): Promise<TunnelUnit[]> {
  return Promise.all(
    tunnels.map(async (tunnel) => {
      const unit = manager.unitOf(jobOf(tunnel, ssh));
      const there = manager.installed(unit.name);
      const is_current = there === unit.content;
      const state = is_current
        ? await manager.state(unit.name)
        : there === null
          ? 'not_installed'
          : 'outdated';
      return { remote: tunnel.remote, ...unit, state };
    }),
  );
}

/** The job that keeps a tunnel up; `ssh` is the path of that program. */
export function jobOf(tunnel: Tunnel, ssh: string): ServiceJob {
  return {
    name: `${UNIT_PREFIX}${tunnel.remote}`,
    description: `Fiber Dispatch: tunnel to ${tunnel.remote}`,
    argv: [ssh, ...tunnel.args],
    folder: 'socket' in tunnel.near ? dirname(tunnel.near.socket) : null,
    path: SERVICE_PATH,
  };
}

/**
 * Starts the tunnel to a remote again, where the service manager keeps it up; answers whether it does. Throws
 * `service_manager_failed`.
 */
export async function restartTunnel(remote: Remote, surroundings: ServiceSurroundings): Promise<boolean> {
  if (!wantsTunnel(remote)) return false;
  const manager = await findServiceManager(surroundings);
  const name = `${UNIT_PREFIX}${remote.name}`;
  if (manager === null || manager.installed(name) === null) return false;
  await manager.restart(name);
  return true;
}

/** The units that stayed behind when their remote was removed or lost its tunnel. */
export function leftUnits(manager: ServiceManager, tunnels: readonly Tunnel[]): TunnelUnit[] {
  const wanted = new Set(tunnels.map(({ remote }) => remote));
  return manager
    .named(UNIT_PREFIX)
    .map((unit) => ({ remote: unit.name.slice(UNIT_PREFIX.length), ...unit, state: 'left_over' as const }))
    .filter(({ remote }) => !wanted.has(remote));
}

/** The installed unit of a remote; throws `not_found`. */
export function installedUnit(manager: ServiceManager, remote: string): ServiceUnit {
  const name = `${UNIT_PREFIX}${remote}`;
  const unit = manager.named(name).find((one) => one.name === name);
  if (unit !== undefined) return unit;
  throw new CodedError('not_found', `no tunnel to ${remote} is installed here`, {
    details: { name: remote },
  });
}

/** The path of `ssh`; throws `invalid_config` without it. */
export async function sshProgram(env: NodeJS.ProcessEnv): Promise<string> {
  const file = await findExecutable('ssh', env.PATH ?? '');
  if (file !== null) return file;
  throw new CodedError('invalid_config', 'ssh is not on the PATH; install the OpenSSH client');
}

/** Where nothing keeps a tunnel up by itself: what a person can do instead. */
export function noServiceManager(remotes: readonly string[], effect = ''): CodedError {
  const commands = remotes.map((name) => `svc tunnels run ${name}`).join(', ');
  const by_hand = commands === '' ? '' : `; keep a tunnel up in a terminal or in tmux with: ${commands}`;
  return new CodedError(
    'no_service_manager',
    `${effect}no service manager of this user answers here (on Linux, systemctl --user)${by_hand}`,
  );
}
