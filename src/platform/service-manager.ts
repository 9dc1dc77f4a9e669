import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { CodedError, systemCode } from '../base/errors.ts';
import { writeFileAtomic } from './atomic-write.ts';
import { failureWords } from './failure-words.ts';
import { findExecutable } from './find-executable.ts';
import { folderNames } from './folder-names.ts';
import { makeFolder } from './make-folder.ts';
import type { ProcessRunner } from './process.ts';
import { READ_LIMITS } from './read-limits.ts';
import { readRegularTextSync } from './regular-file.ts';
import { launchdPlist, type ServiceJob, systemdUnit } from './service-units.ts';

/** The file of a job, as it is or would be installed. */
export type ServiceUnit = { name: string; path: string; content: string };

/** What the manager says of a job; `restarting` while it waits to restart it. */
export type ServiceState = 'active' | 'restarting' | 'failed' | 'inactive';

/** What keeps the programs of this user running. */
export type ServiceManager = {
  kind: 'systemd' | 'launchd';
  /** False on many login nodes and in containers, where nothing can be installed; what is there can be told all the same. */
  answers(): Promise<boolean>;
  unitOf(job: ServiceJob): ServiceUnit;
  /** The text of the unit that is installed under this name; null for none. */
  installed(name: string): string | null;
  /** The units whose name begins so. */
  named(prefix: string): ServiceUnit[];
  state(name: string): Promise<ServiceState>;
  /** Writes the unit, and starts it, or starts it again. Throws `service_manager_failed`. */
  install(unit: ServiceUnit): Promise<void>;
  /** Ends what the unit runs, and starts it again. Throws `service_manager_failed`. */
  restart(name: string): Promise<void>;
  /** Stops the unit and removes its file. Throws `service_manager_failed`. */
  remove(name: string): Promise<void>;
};

export type ServiceSurroundings = {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  home: string;
  uid: number;
  runner: Pick<ProcessRunner, 'run'>;
};

const ANSWER_MS = 10_000;
const MOST_OUTPUT_BYTES = 256 * 1024;

/** The service manager that the system of this user has, if one answers. */
export function serviceManagerOf(surroundings: ServiceSurroundings): ServiceManager {
  const { platform, env, home, uid } = surroundings;
  if (platform === 'darwin') return launchd(asker(surroundings, 'launchctl'), `gui/${uid}`, home);
  const ask = asker(surroundings, 'systemctl');
  return systemd((args) => ask(['--user', ...args]), configFolder(env, home));
}

/** The service manager of this user; null where none answers. */
export async function findServiceManager(surroundings: ServiceSurroundings): Promise<ServiceManager | null> {
  const manager = serviceManagerOf(surroundings);
  return (await manager.answers()) ? manager : null;
}

function configFolder(env: NodeJS.ProcessEnv, home: string): string {
  const given = env.XDG_CONFIG_HOME;
  return given?.startsWith('/') ? given : join(home, '.config');
}

type Said = { ok: boolean; stdout: string; detail: string };
type Ask = (args: readonly string[]) => Promise<Said>;

function asker({ env, runner }: ServiceSurroundings, program: string): Ask {
  return async (args) => {
    const file = await findExecutable(program, env.PATH ?? '');
    if (file === null) return { ok: false, stdout: '', detail: `${program} is not on the PATH` };
    const limits = { timeout_ms: ANSWER_MS, max_output_bytes: MOST_OUTPUT_BYTES };
    const result = await runner.run({ file, args, env, cwd: '/', ...limits });
    const stdout = result.kind === 'exited' ? result.stdout : '';
    return { ok: result.kind === 'exited' && result.code === 0, stdout, detail: failureWords(result) };
  };
}

/** `isDone` looks at the effect where the program says that it failed. */
async function must(said: Promise<Said>, what: string, isDone = async () => false): Promise<void> {
  const { ok, detail } = await said;
  if (!ok && !(await isDone())) throw new CodedError('service_manager_failed', `${what} failed: ${detail}`);
}

function systemd(ask: Ask, config: string): ServiceManager {
  const files = unitFiles(join(config, 'systemd', 'user'), '.service');
  const restart = (name: string) =>
    must(ask(['restart', `${name}.service`]), `systemctl --user restart ${name}`);
  return {
    kind: 'systemd',
    answers: async () => (await ask(['show-environment'])).ok,
    unitOf: (job) => ({ name: job.name, path: files.pathOf(job.name), content: systemdUnit(job) }),
    installed: files.read,
    named: files.named,
    async state(name) {
      const { stdout } = await ask(['show', '--property=ActiveState,SubState', `${name}.service`]);
      if (/^SubState=auto-restart/m.test(stdout)) return 'restarting';
      if (/^ActiveState=active$/m.test(stdout)) return 'active';
      return /^ActiveState=failed$/m.test(stdout) ? 'failed' : 'inactive';
    },
    async install(unit) {
      files.write(unit);
      await must(ask(['daemon-reload']), 'systemctl --user daemon-reload');
      await must(ask(['enable', `${unit.name}.service`]), `systemctl --user enable ${unit.name}`);
      // `enable --now` would leave a unit running that was started with an earlier text.
      await restart(unit.name);
    },
    restart,
    async remove(name) {
      await must(ask(['disable', '--now', `${name}.service`]), `systemctl --user disable --now ${name}`);
      files.remove(name);
      await must(ask(['daemon-reload']), 'systemctl --user daemon-reload');
    },
  };
}

function launchd(ask: Ask, session: string, home: string): ServiceManager {
  const files = unitFiles(join(home, 'Library', 'LaunchAgents'), '.plist');
  const isLoaded = async (name: string) => (await ask(['print', `${session}/${name}`])).ok;
  const unload = async (name: string) => {
    if (await isLoaded(name))
      await must(
        ask(['bootout', `${session}/${name}`]),
        `launchctl bootout ${name}`,
        async () => !(await isLoaded(name)),
      );
  };
  return {
    kind: 'launchd',
    answers: async () => (await ask(['print', session])).ok,
    unitOf(job) {
      const log = join(home, 'Library', 'Logs', `${job.name}.log`);
      return { name: job.name, path: files.pathOf(job.name), content: launchdPlist(job, log) };
    },
    installed: files.read,
    named: files.named,
    async state(name) {
      const { ok, stdout } = await ask(['print', `${session}/${name}`]);
      if (!ok) return 'inactive';
      return /^\s*state = running$/m.test(stdout) ? 'active' : 'restarting';
    },
    async install(unit) {
      files.write(unit);
      await unload(unit.name);
      await must(ask(['bootstrap', session, unit.path]), `launchctl bootstrap ${unit.name}`, () =>
        isLoaded(unit.name),
      );
    },
    restart: (name) => must(ask(['kickstart', '-k', `${session}/${name}`]), `launchctl kickstart -k ${name}`),
    async remove(name) {
      await unload(name);
      files.remove(name);
    },
  };
}

/** The files of units in their folder. */
function unitFiles(folder: string, suffix: string) {
  const pathOf = (name: string) => join(folder, `${name}${suffix}`);
  const read = (name: string): string | null => {
    try {
      return readRegularTextSync(pathOf(name), READ_LIMITS.operator_file);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return null;
      throw error;
    }
  };
  return {
    pathOf,
    read,
    named(prefix: string): ServiceUnit[] {
      return folderNames(folder)
        .filter((file) => file.startsWith(prefix) && file.endsWith(suffix))
        .map((file) => file.slice(0, -suffix.length))
        .flatMap((name) => {
          const content = read(name);
          return content === null ? [] : [{ name, path: pathOf(name), content }];
        })
        .toSorted((one, other) => one.name.localeCompare(other.name));
    },
    write({ path, content }: ServiceUnit): void {
      makeFolder(folder);
      writeFileAtomic(path, content, { mode: 0o644 });
    },
    remove: (name: string) => rmSync(pathOf(name), { force: true }),
  };
}
