import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ulid } from 'ulid';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { dataPaths } from '../config/paths.ts';
import type { HarnessName } from '../contract/harness-name.ts';
import { FIBERS_FOLDER } from '../fibers/fiber-id.ts';
import { accountOf } from '../harness/account.ts';
import { createAdapters } from '../harness/adapters.ts';
import { AgentsOnDisk } from '../harness/agents/agents-on-disk.ts';
import { resolveAgent } from '../harness/agents/registry.ts';
import { createAppServer } from '../harness/app-server/app-server.ts';
import { createCapabilities } from '../harness/capabilities.ts';
import { guardAdapters, silentAmong } from '../harness/guarded-adapter.ts';
import { HARNESSES, harnessFolder, setupCommand } from '../harness/harnesses.ts';
import { compareSkills } from '../harness/hooks/worker-skills.ts';
import { coarseUse } from '../harness/transcripts/context-use.ts';
import { lastSaid } from '../harness/transcripts/last-said.ts';
import { findPastSession } from '../harness/transcripts/past-session.ts';
import { readTail } from '../harness/transcripts/transcript-tail.ts';
import { appendLineSync } from '../ledgers/append-line.ts';
import type { Mux, MuxListing } from '../mux/mux.ts';
import { createTmux } from '../mux/tmux.ts';
import { withoutTmux } from '../mux/without-tmux.ts';
import { readBootId } from '../platform/boot-id.ts';
import type { Disks } from '../platform/disks.ts';
import { findExecutable, silentFolders } from '../platform/find-executable.ts';
import { createGitWorktrees } from '../platform/git-worktrees.ts';
import { readMachinePressure } from '../platform/machine-pressure.ts';
import { machineMemory, readMachineResources } from '../platform/machine-resources.ts';
import { openMemoryGroups } from '../platform/memory-groups.ts';
import { findMuxOwner, type MuxOwner } from '../platform/mux-owner.ts';
import { networkVariables } from '../platform/network-environment.ts';
import { packageRoot } from '../platform/package-root.ts';
import type { ProcessRunner } from '../platform/process.ts';
import { commandsFrom } from '../platform/process-commands.ts';
import { createProcessFacts, isAlive } from '../platform/process-facts.ts';
import { endProcessTree } from '../platform/process-tree.ts';
import { launchInKitty } from '../platform/terminal-kitty.ts';
import { localZone } from './due/standing.ts';
import { createExternalCli } from './external-cli.ts';
import { StartGate, startPolicy } from './holds/start-gate.ts';
import { HookSpool } from './run-directory/hook-spool.ts';
import { RunDirectories } from './run-directory/run-directories.ts';
import { writeSvcCommand } from './run-directory/svc-command.ts';
import { createWorkerMemory, memoryLimits } from './run-directory/worker-memory.ts';
import type { Documents } from './world/documents.ts';
import type { ExternalCli } from './world/external-cli.ts';
import type { PollerSettings } from './world/poller-settings.ts';
import { directoryLook, type World } from './world/world.ts';

/** The world of a real daemon, and what only the poller's own rooms need of it. */
export type Surroundings = {
  world: World;
  hooks: Pick<HookSpool, 'dropped' | 'stop'>;
  runner: ProcessRunner;
  agents: Pick<AgentsOnDisk, 'registry' | 'look'>;
  breakerFile: string;
  usageLimitsFile: string;
  incidentsFile: string;
  /** What roots the server of this listing [MUX-4]. */
  muxOwner(listing: MuxListing): Promise<MuxOwner>;
  /** What of this machine holds new starts back. */
  startGate(): StartGate;
  /** How the installed worker skills compare with those of this package, as found at boot (VER-3). */
  skills: Awaited<ReturnType<typeof compareSkills>>;
};

/** Connects the dispatcher to this machine. */
export async function connectWorld(options: {
  sendMessage: World['sendMessage'];
  settings: PollerSettings;
  clock: Clock;
  logger: Logger;
  documents: Documents;
  /** The stores that are polled. */
  roots(): readonly string[];
  /** The multiplexer server that answered last. */
  serverPid(): number | null;
  runner: ProcessRunner;
  disks: Disks;
}): Promise<Surroundings> {
  const { settings, clock, logger, runner, disks } = options;
  const paths = dataPaths(settings);
  const facts = createProcessFacts({ platform: process.platform, runner });
  const capabilities = createCapabilities({ runner, env: process.env });
  const uid = process.getuid?.() ?? null;
  const guard = { disks, clock, env: process.env };
  const adapters = guardAdapters(createAdapters({ env: process.env, uid, capabilities }), guard);
  const agents = new AgentsOnDisk(settings, { disks, logger });
  writeSvcCommand(paths.bin_dir, logger);
  const openTerminal: World['openTerminal'] = (launch) =>
    launchInKitty(launch, { named: settings.terminal_socket, env: process.env, folder: '/tmp', uid });
  const limits = memoryLimits(machineMemory(), settings.host_memory);
  const { platform, env } = process;
  const mechanism = await openMemoryGroups({
    data_dir: settings.data_dir,
    total_bytes: limits.total,
    ...{ platform, uid, env, runner },
  });
  const workerMemory = createWorkerMemory({ mechanism, limits, logger });
  const { data_dir, events_file, commits_file } = paths;
  const hooks = new HookSpool({
    data_dir,
    events_file,
    commits_file,
    host: settings.host_id,
    runner,
    clock,
    logger,
  });
  hooks.start();
  const world: World = {
    host: settings.host_id,
    daemonId: settings.daemon_id,
    zone: localZone(),
    settings,
    clock,
    logger,
    documents: options.documents,
    mux: await connectMux({ settings, clock, logger, runner, openTerminal }),
    runDirectories: new RunDirectories({ data_dir: settings.data_dir, logger, hooks }),
    workerMemory,
    app: settings.app_server === null ? null : createAppServer({ address: settings.app_server, clock }),
    harness: {
      agent: (id) => resolveAgent(agents.registry, id),
      agents: () => agents.registry.agents,
      adapter: (name: HarnessName) => adapters[name],
      async findPastSession(agent, session) {
        const silent = await silentAmong([harnessFolder(agent, process.env)], disks);
        return silent === null
          ? findPastSession(agent, session, process.env)
          : { kind: 'unknown', detail: silent };
      },
      async hooks(agent) {
        const folder = harnessFolder(agent, process.env);
        return (await HARNESSES[agent.harness].setup.compareHooks(folder, process.env)).state;
      },
      setupCommand: (agent) => setupCommand(agent, process.env),
      async probe(agent) {
        // Finds out which folders `workerEnv` leaves out.
        await silentFolders(process.env.PATH ?? '');
        await capabilities.probe(agent);
      },
      account: (agent) => accountOf(agent, process.env),
      lastSaid,
      async contextUse(name, transcript) {
        const use = HARNESSES[name].records.contextUse(await readTail(transcript));
        return use === null ? null : coarseUse(use);
      },
      async turnEnd(name, transcript) {
        return HARNESSES[name].records.turnEnd(await readTail(transcript));
      },
      async usage(name, transcript) {
        return HARNESSES[name].records.usageSign(await readTail(transcript), localZone());
      },
    },
    processes: {
      look: (identity) => isAlive(facts, identity),
      end: async (identity) => {
        await endProcessTree(identity, { grace_ms: settings.kill_grace_ms, facts, clock });
      },
      async identify(pid) {
        const found = await facts.lookUp(pid);
        return found.kind === 'found' ? { pid, start_time: found.row.start_time } : null;
      },
      commands: (pid) => commandsFrom(pid, { facts, platform: process.platform, runner }),
    },
    async lookAtDirectory(path) {
      const folders = options
        .roots()
        .map((root) => join(root, FIBERS_FOLDER))
        .filter((folder) => !disks.isSilent(folder));
      const [look, ...documents] = await Promise.all([path, ...folders].map((one) => disks.check(one)));
      return directoryLook(
        look!,
        documents.flatMap((one) => (one.kind === 'directory' ? [one.real] : [])),
      );
    },
    worktrees: createGitWorktrees({ runner, env: process.env }),
    disks,
    openTerminal,
    sendMessage: options.sendMessage,
    recordSession(line) {
      try {
        appendLineSync(paths.sessions_file, line);
      } catch (error) {
        logger.error(
          { err: error, fiber: line.fiber, session: line.mux },
          'the sessions ledger was not written',
        );
      }
    },
    get workerEnv() {
      return workerEnv(settings, paths.bin_dir, (folder) => disks.isSilent(folder));
    },
    cli: settings.cli === null ? null : connectCli(settings.cli, options),
    role_store: settings.role_store,
    skillsDir: join(packageRoot(), 'ops', 'skills'),
    bootId: await readBootId({ platform: process.platform, runner }),
    newUuid: () => randomUUID(),
    newUlid: () => ulid(clock.now()),
  };
  const skills = await compareSkills(process.env);
  return {
    world,
    hooks,
    runner,
    agents,
    breakerFile: join(paths.state_dir, 'breaker.json'),
    usageLimitsFile: join(paths.state_dir, 'usage-limits.json'),
    incidentsFile: join(paths.state_dir, 'incidents.json'),
    startGate: () =>
      new StartGate({
        policy: startPolicy(settings, limits),
        look: () => ({
          free: {
            ...readMachineResources({ platform, uid, server_pid: options.serverPid() }),
            workers_memory: workerMemory.headroom(),
          },
          pressure: readMachinePressure(platform),
        }),
        clock,
      }),
    muxOwner: createMuxOwner(runner),
    skills,
  };
}

function connectCli(
  file: string,
  { settings, runner, roots }: Pick<Parameters<typeof connectWorld>[0], 'settings' | 'runner' | 'roots'>,
): ExternalCli {
  return createExternalCli({
    file,
    env: () => ({ ...process.env, SVC_HOST: settings.host_id, SVC_STORES: roots().join(',') }),
    runner,
    timeout_ms: settings.cli_timeout_ms,
  });
}

/** Asks the system once for each server. */
function createMuxOwner(runner: ProcessRunner): Surroundings['muxOwner'] {
  let known: { server: string; owner: MuxOwner } | null = null;
  return async (listing) => {
    if (listing.kind === 'absent') return { kind: 'absent', name: null };
    if (listing.kind === 'unknown' || listing.server === undefined) return { kind: 'unknown', name: null };
    const server = `${listing.server.pid} ${listing.server.started_at}`;
    if (known?.server === server) return known.owner;
    const { platform, env } = process;
    const owner = await findMuxOwner(listing.server.pid, { platform, runner, env });
    if (owner.kind !== 'unknown') known = { server, owner };
    return owner;
  };
}

async function connectMux(options: {
  settings: PollerSettings;
  clock: Clock;
  logger: Logger;
  runner: ProcessRunner;
  openTerminal: World['openTerminal'];
}): Promise<Mux> {
  const tmux = await findExecutable('tmux', process.env.PATH ?? '');
  if (tmux === null) return withoutTmux();
  const { settings, ...rest } = options;
  return createTmux({ ...rest, tmux, socket: settings.tmux_socket, env: process.env, scope: 'auto' });
}

/** What every worker gets: `svc` first on its PATH, and this daemon's own settings, so that `svc` finds it. */
function workerEnv(
  settings: PollerSettings,
  bin_dir: string,
  isSilent: (folder: string) => boolean,
): Record<string, string> {
  const { PATH: path = '/usr/local/bin:/usr/bin:/bin' } = process.env;
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('SVC_') && value !== undefined ? [[name, value] as const] : [],
  );
  return {
    // A tmux server that was there before us may know nothing of them.
    ...networkVariables(process.env),
    ...Object.fromEntries(own),
    // A shell that looks for a program in a folder whose disk does not answer waits for it.
    PATH: [bin_dir, ...path.split(':').filter((folder) => !isSilent(folder))].join(':'),
    SVC_HOST: settings.host_id,
    SVC_DATA_DIR: settings.data_dir,
    SVC_CONFIG_DIR: settings.config_dir,
  };
}
