import { homedir, hostname } from 'node:os';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, within } from '../../base/clock.ts';
import { CodedError, isCoded } from '../../base/errors.ts';
import { validateByCli } from '../../config/cli-validator.ts';
import { type HostFile, hostClass, parseHostFile, roleStoreOf } from '../../config/host-file.ts';
import { normaliseHostName } from '../../config/host-identity.ts';
import { digestOf, type OperatorChange, readExactText } from '../../config/operator-change.ts';
import { OperatorFiles } from '../../config/operator-files.ts';
import {
  changePathList,
  type PathListEdit,
  type PathListKind,
  type PathListWrite,
  planPathList,
  readProjects,
} from '../../config/path-lists.ts';
import { OPERATOR_FILES, operatorFilePaths } from '../../config/paths.ts';
import { changeRemote, planRemote, type RemoteWrite } from '../../config/remotes.ts';
import { type AgentEffort, type AgentEffortReply, agentEffortReplySchema } from '../../contract/agent.ts';
import type {
  ConfigWritten,
  FolderChoice,
  OperatorFileError,
  ProjectsWritten,
  StoreOrigin,
  StoresWritten,
  WriteProjects,
} from '../../contract/http/config.ts';
import type { RemoteWritten } from '../../contract/http/fleet.ts';
import { type Rehearsal, rehearsal } from '../../contract/http/rehearsal.ts';
import type { OperatorFileId } from '../../contract/operator-files.ts';
import type { CallInput } from '../../contract/threads/call-table.ts';
import type { pollerCalls } from '../../contract/threads/poller.ts';
import { rehearsedFile } from '../../fibers/rehearsed-write.ts';
import { unifiedDiff } from '../../fibers/text-diff.ts';
import { planAgentEffort, setAgentEffort } from '../../harness/agents/agent-effort.ts';
import { hideEnv, parseRegistry } from '../../harness/agents/registry.ts';
import { hasMacDesktop } from '../../platform/desktop-session.ts';
import { answersNow, type Disks, unansweredWords } from '../../platform/disks.ts';
import type { LockOwner } from '../../platform/file-lock.ts';
import type { ProcessRunner } from '../../platform/process.ts';
import type { PoolCaller } from '../../threads/pool-caller.ts';
import { hostMemory } from '../run-directory/worker-memory.ts';
import type { StoresOnDisk } from '../stores/stores-on-disk.ts';
import type { ExternalCli } from '../world/external-cli.ts';
import type { PollerSettings } from '../world/poller-settings.ts';
import type { World } from '../world/world.ts';
import { perform, type Write } from '../world/write.ts';
import { FolderDialogs } from './folder-dialogs.ts';

/** How long a request waits to hear that a disk answers, in milliseconds. */
const DISK_LIMIT_MS = 2_000;

type Asked<N extends keyof typeof pollerCalls> = CallInput<typeof pollerCalls, N>;
type TakenUp = Pick<ConfigWritten, 'in_force' | 'note' | 'restart_required'>;

type PlannedEffort = ReturnType<typeof planAgentEffort>;
/** `made`: what becomes of the folder that is added. */
type PlannedProjects = {
  made: { root: string; initialised: boolean } | null;
  edit: PathListEdit;
  change: OperatorChange;
};

export type OperatorCallsOptions = {
  settings: PollerSettings;
  stores: StoresOnDisk;
  surroundings: { runner: ProcessRunner; world: Pick<World, 'cli'> };
  disks: Pick<Disks, 'check' | 'prove' | 'mountOf' | 'isSilent'>;
  clock: Clock;
  pool: PoolCaller;
  owner: LockOwner;
  /** The list of stores was changed. */
  onStores(): void;
};

/** What the daemon does with the operator files of this host (OPF, WPL-14, WPL-15, WPL-20). */
export class OperatorCalls {
  readonly #options: OperatorCallsOptions;
  readonly #files: OperatorFiles;
  readonly #dialogs: FolderDialogs;

  constructor(options: OperatorCallsOptions) {
    this.#options = options;
    const { settings, owner, surroundings } = options;
    const { cli } = settings;
    this.#files = new OperatorFiles({
      settings,
      owner,
      checkAgents: parseRegistry,
      validateByCli:
        cli === null
          ? null
          : (id, file, text) =>
              validateByCli(
                {
                  file: cli,
                  env: process.env,
                  runner: surroundings.runner,
                  timeout_ms: settings.cli_timeout_ms,
                },
                id,
                file,
                text,
              ),
    });
    this.#dialogs = new FolderDialogs({ runner: surroundings.runner, env: process.env });
  }

  /** Throws `file_unavailable` where the disk of one of these files does not answer: this thread would wait for it. */
  async requireDisk(...ids: OperatorFileId[]): Promise<void> {
    const silent = (await this.#silentAmong(ids)).values().next().value;
    if (silent !== undefined) throw new CodedError('file_unavailable', silent);
  }

  async list() {
    await this.requireDisk(...OPERATOR_FILES);
    return { files: this.#files.list() };
  }

  /** What is wrong with the files as they are now. */
  async errors(): Promise<OperatorFileError[]> {
    const paths = operatorFilePaths(this.#options.settings);
    const silent = await this.#silentAmong(OPERATOR_FILES);
    return OPERATOR_FILES.map((file) => {
      const error = silent.get(file);
      return error === undefined ? this.#files.error(file) : { file, path: paths[file], error };
    }).filter((error) => error !== null);
  }

  async read(id: Asked<'config_read'>['id']) {
    await this.requireDisk(id);
    return this.#files.read(id);
  }

  /** `POST /config/<id>`. */
  async write<Q extends Asked<'config_write'>>(asked: Q) {
    const { id, expected_digest } = asked;
    await this.requireDisk(id);
    const write: Write<Asked<'config_write'>, OperatorChange, Rehearsal, ConfigWritten> = {
      plan: ({ text }) => this.#files.plan(id, text, expected_digest),
      show: rehearseChange,
      apply: async (planned) => {
        const change = await this.#files.write(planned, expected_digest);
        if (id === 'stores' && change.after !== change.before) await this.#takeUpStores(change.after);
        const { file, before, after } = change;
        const { overridden_by } = this.#files.entry(id);
        return {
          id,
          path: file,
          digest: digestOf(after),
          changed: after !== before,
          removed: after === null && before !== null,
          overridden_by,
          ...(id === 'host' ? this.#takeUpHost(file, after) : this.#takeUp(overridden_by)),
        };
      },
    };
    return perform(write, asked);
  }

  /** Both lists as they are in force, and what this host can show a person (RPL-6, REC-8). */
  async lists(): Promise<StoreOrigin> {
    const { settings, stores, surroundings } = this.#options;
    const files = operatorFilePaths(settings);
    await this.requireDisk('stores', 'projects');
    const desktop = await hasMacDesktop({ platform: process.platform, runner: surroundings.runner });
    return {
      stores: [...stores.roots],
      projects: projectsOf(settings),
      stores_digest: digestOf(readExactText(files.stores)),
      projects_digest: digestOf(readExactText(files.projects)),
      browser_capable: desktop,
      native_folder_picker: (await this.#dialogs.find(desktop)) !== null,
    };
  }

  /** `POST /fiber-stores`. */
  async writeStores<Q extends Asked<'write_stores'>>(asked: Q) {
    const { stores: paths, expected_digest } = asked;
    await this.requireDisk('stores');
    const write: Write<Asked<'write_stores'>, OperatorChange, Rehearsal, StoresWritten> = {
      plan: () => this.#planList('stores', { paths }, expected_digest),
      show: rehearseChange,
      apply: async () => {
        const written = await this.#changeList('stores', { paths }, expected_digest);
        if (written.changed && written.overridden_by === null) {
          this.#options.stores.set(written.paths, written.followed);
          this.#options.onStores();
        }
        return { stores: written.paths, ...this.#written(written) };
      },
    };
    return perform(write, asked);
  }

  /** `POST /agents/effort` (WPL-17). */
  async writeEffort<Q extends AgentEffort>(asked: Q) {
    const { settings, surroundings } = this.#options;
    const { cli } = surroundings.world;
    if (cli !== null) return setEffortBy(cli, asked);
    const { id, effort } = asked;
    await this.requireDisk('agents');
    const write: Write<AgentEffort, PlannedEffort, Rehearsal, AgentEffortReply> = {
      plan: () => planAgentEffort(settings, id, effort),
      show: (planned) =>
        rehearsedFile(`write the default effort of ${planned.agent.id}`, planned.path, planned),
      apply: async () => ({ agent: hideEnv(await setAgentEffort(settings, id, effort)) }),
    };
    return perform(write, asked);
  }

  /** `POST /fleet/remotes` (WPL-18). */
  async writeRemote<Q extends Asked<'write_remote'>>(asked: Q) {
    const { name, remote, expected_digest } = asked;
    await this.requireDisk('remotes');
    const { settings, owner } = this.#options;
    const { name: _other, ...keys } = remote ?? {};
    const entry = remote === null ? null : { name, ...keys };
    const write: Write<
      Asked<'write_remote'>,
      RemoteWrite & { change: OperatorChange },
      Rehearsal,
      RemoteWritten
    > = {
      plan() {
        try {
          return planRemote(settings, name, entry, { expected_digest });
        } catch (error) {
          throw asRefusal(error);
        }
      },
      show: ({ change }) => rehearseChange(change),
      async apply() {
        const written = await changeRemote(settings, name, entry, { expected_digest, owner });
        const { names: remotes, file: path, digest, changed } = written;
        return { remotes, path, digest, changed };
      },
    };
    return perform(write, asked);
  }

  /** `POST /projects`: the whole list, or one more folder, which is made a store where it is none. */
  async writeProjects<Q extends WriteProjects>(asked: Q) {
    const { path, projects: paths = [], expected_digest } = asked;
    await this.requireDisk('projects');
    const write: Write<WriteProjects, PlannedProjects, Rehearsal, ProjectsWritten> = {
      plan: async () => {
        const made = path === undefined ? null : await this.#initStore(path, true);
        const edit = made === null ? { paths } : { add: made.root };
        return { made, edit, change: this.#planList('projects', edit, expected_digest) };
      },
      show({ made, change }) {
        const shown = rehearseChange(change);
        return made?.initialised === true
          ? { ...shown, would: `make ${made.root} a store and ${shown.would}` }
          : shown;
      },
      apply: async ({ edit }) => {
        const made = path === undefined ? null : await this.#initStore(path, false);
        const written = await this.#changeList('projects', edit, expected_digest);
        const { root: project = null, initialised = false } = made ?? {};
        return { projects: written.paths, ...this.#written(written), project, initialised };
      },
    };
    return perform(write, asked);
  }

  chooseFolder(dialog: string, title: string | undefined): Promise<FolderChoice> {
    return this.#dialogs.ask(dialog, { title: title ?? 'Choose a folder', start: homedir() });
  }

  endDialog(dialog: string): Record<string, never> {
    this.#dialogs.end(dialog);
    return {};
  }

  /** Ends a dialog that waits for an answer which nobody could be given any more. */
  stop(): void {
    this.#dialogs.stop();
  }

  /** Of the files whose disk does not answer, that it does not, and what to do. */
  async #silentAmong(ids: readonly OperatorFileId[]): Promise<Map<OperatorFileId, string>> {
    const { settings, disks, clock } = this.#options;
    // All at once: the files may lie on several disks, and a silent one says nothing of the others.
    const looks = ids.map(async (id): Promise<[OperatorFileId, string][]> => {
      const path = operatorFilePaths(settings)[id];
      const found = answersNow(disks, path);
      const proof = (await within(clock, DISK_LIMIT_MS, found)) ? await found : 'unchecked';
      return proof === 'answers'
        ? []
        : [[id, `${unansweredWords(path, proof)}. The daemon goes on with what it read last`]];
    });
    return new Map((await Promise.all(looks)).flat());
  }

  async #initStore(path: string, dry_run: boolean): Promise<{ root: string; initialised: boolean }> {
    // A thread that a disk holds is lost to every other job.
    const proof = await this.#options.disks.prove(path);
    if (proof !== 'answers') throw new CodedError('store_unavailable', unansweredWords(path, proof));
    const { value } = await this.#options.pool.run('init_store', { path, dry_run });
    return value;
  }

  async #changeList(
    kind: PathListKind,
    edit: PathListEdit,
    expected_digest: string | undefined,
  ): Promise<PathListWrite> {
    const { settings, owner } = this.#options;
    try {
      return await changePathList(settings, kind, edit, { expected_digest, owner });
    } catch (error) {
      throw asRefusal(error);
    }
  }

  #planList(kind: PathListKind, edit: PathListEdit, expected_digest: string | undefined): OperatorChange {
    try {
      return planPathList(this.#options.settings, kind, edit, { expected_digest }).change;
    } catch (error) {
      throw asRefusal(error);
    }
  }

  #written({ file, digest, changed, overridden_by }: PathListWrite) {
    const { in_force, note } = this.#takeUp(overridden_by);
    return { path: file, digest, changed, overridden_by, in_force, note };
  }

  async #takeUpStores(text: string | null): Promise<void> {
    const { settings, stores } = this.#options;
    if (settings.stores !== null) return;
    if (text === null) stores.set([]);
    else await stores.look();
    this.#options.onStores();
  }

  #takeUp(overridden_by: string | null): TakenUp {
    if (overridden_by === null) return { in_force: true, note: null, restart_required: false };
    const note = `${overridden_by} is set where the daemon was started and counts instead of this file; unset it and run: svc daemon restart`;
    return { in_force: false, note, restart_required: true };
  }

  /** The host id is frozen for the life of the daemon (DSP-3), and so is what else this file says. */
  #takeUpHost(file: string, text: string | null): TakenUp {
    const { settings } = this.#options;
    const next: HostFile = text === null ? {} : parseHostFile(file, text);
    const id = settings.host ?? next.host?.trim() ?? normaliseHostName(hostname());
    const same =
      id === settings.host_id &&
      hostClass(next) === settings.host_class &&
      (next.max_concurrent ?? null) === settings.max_concurrent &&
      (next.count_resting ?? false) === settings.count_resting &&
      roleStoreOf(next) === settings.role_store &&
      isDeepStrictEqual(hostMemory(next), settings.host_memory);
    if (same) return { in_force: true, note: null, restart_required: false };
    const notes = ['The daemon goes by this once it is restarted: svc daemon restart.'];
    if (id !== settings.host_id)
      notes.push(
        `It is then the host "${id}", and does not start fibers whose svc.host is "${settings.host_id}".`,
      );
    if (hostClass(next) === 'exposed' && !settings.listen.startsWith('unix:'))
      notes.push('A host of class exposed takes no TCP listener: set SVC_LISTEN=unix:/path first.');
    return { in_force: false, note: notes.join(' '), restart_required: true };
  }
}

/** The default effort by the program of `SVC_CLI` (WPL-17). */
async function setEffortBy(
  cli: ExternalCli,
  { id, effort, dry_run }: AgentEffort,
): Promise<AgentEffortReply> {
  if (dry_run === true)
    throw new CodedError('invalid_request', 'the program in SVC_CLI does not support dry_run; leave it out');
  const words = effort === null ? ['--reset', '--', id] : ['--', id, effort];
  return cli.ask(['agents', 'effort', '--json', ...words], agentEffortReplySchema, 'invalid_request');
}

/** The projects as they are in force; none while their file cannot be used, which `GET /config/projects` tells of. */
function projectsOf(settings: PollerSettings): string[] {
  try {
    return readProjects(settings).paths;
  } catch (error) {
    if (isCoded(error, 'invalid_config')) return [];
    throw error;
  }
}

/** What the check of a list does not let pass is a fault of the request. */
function asRefusal(error: unknown): unknown {
  return isCoded(error, 'invalid_config')
    ? new CodedError('validator_refused', error.message, { details: error.details, cause: error })
    : error;
}

function rehearseChange({ file, before, after }: OperatorChange): Rehearsal {
  if (after === before) return rehearsal(`write nothing: ${file} has this content already`);
  const written = { path: file, diff: unifiedDiff(basename(file), before, after) };
  return rehearsal(after === null ? `remove ${file}` : `write ${file}`, { documents: [written] });
}
