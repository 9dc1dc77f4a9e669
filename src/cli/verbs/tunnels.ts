import { homedir } from 'node:os';
import { z } from 'zod';
import { readRemotes } from '../../config/remotes.ts';
import { readSettings } from '../../config/settings.ts';
import {
  installedUnit,
  installTunnels,
  leftUnits,
  noServiceManager,
  planTunnels,
  sshProgram,
  type Tunnel,
  tunnelsOf,
  tunnelUnits,
  whatToInstall,
} from '../../config/tunnels.ts';
import { type TunnelUnit, type TunnelUnitState, tunnelUnitSchema } from '../../contract/http/fleet.ts';
import { rehearsedFiles } from '../../fibers/rehearsed-write.ts';
import { createRunner } from '../../platform/process.ts';
import { findServiceManager, type ServiceSurroundings } from '../../platform/service-manager.ts';
import { argument, DRY_RUN } from '../command-line/options.ts';
import { formatTable } from '../command-line/output.ts';
import { rehearsed } from '../command-line/rehearsal.ts';
import { type Answer, type CliContext, defineVerb, EXIT } from '../command-line/verb.ts';
import { keepUp } from './tunnels/keep-up.ts';

const NAMES = argument('[name...]', 'names of remotes; all that want a tunnel unless given');
const unitsSchema = z.object({
  /** Null where no service manager answers. */
  manager: z.enum(['systemd', 'launchd']).nullable(),
  units: z.array(tunnelUnitSchema),
});

const STATES: Readonly<Record<TunnelUnitState, string>> = {
  not_installed: 'not installed',
  outdated: 'installed for an earlier entry',
  active: 'runs',
  restarting: 'ended, is restarted',
  failed: 'failed',
  inactive: 'stopped',
  left_over: 'its remote is gone',
};

/** `svc tunnels list|install|remove|run`: the SSH tunnels that `remotes.json` asks for. */
export const list = defineVerb({
  summary: 'List the tunnels and what keeps each up',
  arguments: { names: NAMES },
  examples: [['svc tunnels', 'the tunnels of remotes.json']],
  page: 'other-hosts.md',
  json: unitsSchema,
  async run(context, { names }) {
    const { remotes } = readRemotes(readSettings(context.env));
    const tunnels = tunnelsOf(remotes, names);
    const manager = await findServiceManager(surroundingsOf(context));
    if (manager === null)
      return { json: { manager: null, units: [] }, text: listPage(tunnels, null, context.width) };
    const units = await tunnelUnits(manager, tunnels, await sshProgram(context.env));
    const left = names === undefined || names.length === 0 ? leftUnits(manager, tunnelsOf(remotes)) : [];
    const all = [...units, ...left];
    return { json: { manager: manager.kind, units: all }, text: listPage(tunnels, all, context.width) };
  },
});

export const install = defineVerb({
  summary: 'Have the service manager keep tunnels up',
  arguments: { names: NAMES },
  options: { dry_run: DRY_RUN },
  examples: [
    ['svc tunnels install host-b', 'a unit of systemd, or of launchd, that is started at once'],
    ['svc tunnels install --dry-run', 'the units of all tunnels, and what would change'],
  ],
  page: 'other-hosts.md',
  json: z.object({ units: z.array(tunnelUnitSchema) }),
  async run(context, { names, dry_run }) {
    const { remotes } = readRemotes(readSettings(context.env));
    const plan = await planTunnels(remotes, names, surroundingsOf(context));
    if (dry_run === true) return rehearsed(rehearsedFiles(whatToInstall(plan), plan.files));
    return shown(await installTunnels(plan), context);
  },
});

export const remove = defineVerb({
  summary: 'Stop tunnels, and have nothing keep them up',
  arguments: { names: argument('<name...>', 'names of remotes, also of those that are gone') },
  options: { dry_run: DRY_RUN },
  examples: [['svc tunnels remove host-b', 'stops its unit and removes its file']],
  page: 'other-hosts.md',
  json: z.object({ removed: z.array(z.string()) }),
  async run(context, { names, dry_run }) {
    const manager = await findServiceManager(surroundingsOf(context));
    if (manager === null) throw noServiceManager([], 'there is no unit to remove: ');
    const units = names.map((name) => installedUnit(manager, name));
    if (dry_run === true) {
      const files = units.map(({ path, content }) => ({ path, before: content, after: null }));
      return rehearsed(rehearsedFiles(`stop and remove ${units.map(({ name }) => name).join(', ')}`, files));
    }
    for (const { name } of units) await manager.remove(name);
    return { json: { removed: names }, text: units.map(({ path }) => `Removed ${path}\n`).join('') };
  },
});

export const run = defineVerb({
  summary: 'Keep one tunnel up in this terminal until it is told to stop',
  arguments: { name: argument('<name>', 'name of the remote') },
  examples: [['svc tunnels run host-b', 'for a machine without a service manager, in tmux for example']],
  page: 'other-hosts.md',
  no_json: 'it runs until it is told to stop',
  async run(context, { name }) {
    const [tunnel] = tunnelsOf(readRemotes(readSettings(context.env)).remotes, [name]) as [Tunnel];
    const stop = new AbortController();
    // Not `once`: a signal that nobody hears any more would end this process before its ssh.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
    await keepUp({
      tunnel,
      ssh: await sshProgram(context.env),
      env: context.env,
      clock: context.clock,
      runner: createRunner(),
      say: (sentence) => context.err(`svc: ${sentence}\n`),
      signal: stop.signal,
    });
    return EXIT.ok;
  },
});

export function surroundingsOf({ env }: CliContext): ServiceSurroundings {
  const { platform } = process;
  const home = env.HOME ?? homedir();
  return { platform, env, home, uid: process.geteuid?.() ?? 0, runner: createRunner() };
}

function shown(units: TunnelUnit[], { width }: CliContext): Answer {
  const failed = units.filter(({ state }) => state === 'failed' || state === 'restarting');
  return {
    json: { units },
    text:
      units.length === 0
        ? 'No entry of remotes.json asks for a tunnel.\n'
        : formatTable(
            ['remote', 'unit', 'state'],
            units.map(({ remote, name, state }) => [remote, name, STATES[state]]),
            width,
          ),
    faults: failed.map(
      ({ remote }) => `the tunnel to ${remote} is not up; see why with: svc remotes check ${remote}`,
    ),
  };
}

/** `units` is null where no service manager answers. */
function listPage(tunnels: readonly Tunnel[], units: readonly TunnelUnit[] | null, width: number): string {
  const left = (units ?? []).filter(({ state }) => state === 'left_over');
  if (tunnels.length === 0 && left.length === 0) return 'No entry of remotes.json asks for a tunnel.\n';
  const beginsAt = ({ near }: Tunnel) => ('socket' in near ? near.socket : `127.0.0.1:${near.port}`);
  const rows = tunnels.map((tunnel) => {
    const unit = units?.find(({ remote }) => remote === tunnel.remote);
    return [tunnel.remote, beginsAt(tunnel), unit === undefined ? '-' : STATES[unit.state]];
  });
  const table = formatTable(
    ['remote', 'begins at', 'state'],
    [...rows, ...left.map(({ remote, state }) => [remote, '-', STATES[state]])],
    width,
  );
  if (units !== null) return table;
  const commands = tunnels.map(({ remote }) => `  svc tunnels run ${remote}\n`).join('');
  return `${table}\nNothing keeps them up: no service manager of this user answers here.\nIn a terminal or in tmux:\n${commands}`;
}
