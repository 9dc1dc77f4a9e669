import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { FakeClock } from '../../../src/base/clock.ts';
import { CodedError } from '../../../src/base/errors.ts';
import { createLogger, type Logger } from '../../../src/base/logger.ts';
import { HoldFiles } from '../../../src/config/hold-files.ts';
import { readSettings } from '../../../src/config/settings.ts';
import type { Agent } from '../../../src/contract/agent.ts';
import type { ContextUse, FiberRow } from '../../../src/contract/fiber.ts';
import type { PollerState, StoreLease } from '../../../src/contract/http/state.ts';
import type { SessionLine } from '../../../src/contract/ledger.ts';
import type { DueMessage } from '../../../src/contract/threads/host.ts';
import { Dispatcher } from '../../../src/dispatch/dispatcher.ts';
import { Feed } from '../../../src/dispatch/feed.ts';
import { Brake } from '../../../src/dispatch/holds/brake.ts';
import { BreakerBook } from '../../../src/dispatch/holds/breaker-book.ts';
import { IncidentBook } from '../../../src/dispatch/holds/incidents.ts';
import { LastDeaths } from '../../../src/dispatch/holds/last-deaths.ts';
import type { Memory } from '../../../src/dispatch/holds/memory.ts';
import { Quarantine } from '../../../src/dispatch/holds/quarantine.ts';
import { Refusals } from '../../../src/dispatch/holds/refusals.ts';
import {
  type FreeResources,
  StartGate,
  type StartPolicy,
  startPolicy,
} from '../../../src/dispatch/holds/start-gate.ts';
import { UsageLimitBook } from '../../../src/dispatch/holds/usage-limit-book.ts';
import { Rows } from '../../../src/dispatch/rows.ts';
import { Runs } from '../../../src/dispatch/run/runs.ts';
import { RunDirectories } from '../../../src/dispatch/run-directory/run-directories.ts';
import type { MemoryEnd, WorkerMemory } from '../../../src/dispatch/run-directory/worker-memory.ts';
import { viewState } from '../../../src/dispatch/state-view.ts';
import type { DirectoryLook, World } from '../../../src/dispatch/world/world.ts';
import {
  type HarnessAdapter,
  type LaunchRequest,
  PROMPT,
  type TranscriptProbe,
  type TranscriptQuery,
} from '../../../src/harness/adapter.ts';
import type { HookState } from '../../../src/harness/hooks/hook-state.ts';
import type { PastSession } from '../../../src/harness/transcripts/past-session.ts';
import type { TurnEnd } from '../../../src/harness/transcripts/turn-end.ts';
import type { UsageSign } from '../../../src/harness/transcripts/usage-limit.ts';
import type { WorktreePlace } from '../../../src/platform/git-worktrees.ts';
import type { MachinePressure } from '../../../src/platform/machine-pressure.ts';
import type { TerminalLaunch, TerminalLaunched } from '../../../src/platform/terminal-kitty.ts';
import { FakeAppServer } from './fake-app-server.ts';
import { FakeDocuments } from './fake-documents.ts';
import { FakeMachine } from './fake-machine.ts';

export const HOST = 'host-a';
const DAEMON = 'machine-a/000000000001';
/** The lease of every store, for a daemon that is alone. */
export const LEASE: StoreLease = { state: 'held', holder: null, detail: null };
export const AGENT: Agent = {
  id: 'demo',
  harness: 'claude',
  cli: '/opt/demo',
  model: null,
  args: [],
  effort_levels: ['low', 'high'],
  default_effort: null,
  default: true,
  aliases: [],
  env: {},
  source: 'file',
};
/** An agent whose harness assigns its own session ids. */
export const LEARNING: Agent = { ...AGENT, id: 'learning', harness: 'codex', default: false };

/** Run directories are synced to the disk; in memory that costs nothing, and hundreds of launches are made. */
const TEMP = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Thrown where a daemon is made to crash. */
class Crash extends Error {}

/** One daemon on the imagined machine: the real dispatcher, reconciler and rows. */
export type Daemon = {
  world: World;
  memory: Memory;
  dispatcher: Dispatcher;
  rows: Rows;
  feed: Feed;
  /** One round as the poll loop makes it, without a listing of the store. */
  round(): Promise<void>;
  row(id: string): FiberRow | undefined;
  state(): PollerState;
};

/** A machine, a disk and a data dir on which daemons are started one after the other. */
export class FakeWorld {
  readonly clock = new FakeClock();
  readonly data_dir = mkdtempSync(join(TEMP, 'svc-world-'));
  readonly machine = new FakeMachine(this.clock);
  readonly documents = new FakeDocuments(() => this.clock.now());
  /** Outlives daemons, as tmux does; a daemon is told of it only where `app_configured` says so. */
  readonly app = new FakeAppServer();
  app_configured = true;
  readonly ledger: SessionLine[] = [];
  readonly logs: { level: number; msg: string; [key: string]: unknown }[] = [];
  readonly directories = new Map<string, DirectoryLook>();
  readonly looked: string[] = [];
  /** Git worktrees by their path. */
  readonly worktrees = new Map<string, WorktreePlace>();
  /** What making one comes to. */
  makeWorktree: (place: WorktreePlace) => Promise<void> = async () => {};
  /** By launch id, for a session that is not known yet. */
  readonly transcripts = new Map<string, TranscriptProbe>();
  /** By session id. */
  readonly conversations = new Map<string, TranscriptProbe>();
  /** Folders in which alone the program finds a conversation. */
  readonly conversation_folders = new Map<string, string>();
  /** The end of a turn that no hook tells of, by the path of its transcript. */
  readonly contexts = new Map<string, ContextUse>();
  readonly turn_ends = new Map<string, TurnEnd>();
  /** What the end of a transcript says of a usage limit, by its path. */
  readonly usage = new Map<string, UsageSign>();
  /** What an agent said last, by the path of its transcript. */
  readonly said = new Map<string, string>();
  /** What the adapters were asked to plan, in order. */
  readonly planned: LaunchRequest[] = [];
  /** What the adapters were asked to find, in order. */
  readonly queries: (TranscriptQuery & { harness: string })[] = [];
  /** Transcripts by session id alone. */
  readonly past = new Map<string, PastSession>();
  /** The state of the hooks of every agent. */
  hooks: HookState['state'] = 'current';
  readonly terminals: TerminalLaunch[] = [];
  terminal: TerminalLaunched = { kind: 'opened', terminal: 'kitty' };
  agents: Agent[] = [AGENT, LEARNING];
  boot_id = 'boot-1';
  env: Record<string, string> = {};
  /** `max_concurrent` of the daemons started from now on. */
  most_workers: number | null = null;
  /** A worker that rests keeps its place for so long; null for as long as it runs. */
  place_kept_ms: number | null = null;
  /** Messages of the daemon's own. */
  sent: DueMessage[] = [];
  /** What of the machine is free for new starts, and what they need. */
  free: FreeResources = {
    memory: null,
    workers_memory: null,
    processes: null,
    descriptors: null,
    terminals: null,
  };
  pressure: MachinePressure = { load: 0, cores: 2, waiting: null, memory: null };
  start_policy: StartPolicy = startPolicy(readSettings({}), {
    machine: 24e9,
    worker: 12e9,
    total: 20.4e9,
  });
  /** What the memory group of a run told at its end, by launch id. */
  readonly memory_ends = new Map<string, MemoryEnd>();
  readonly released_groups: string[] = [];
  readonly worker_memory: WorkerMemory = {
    entry: () => null,
    readEnd: (run_dir) => this.memory_ends.get(basename(run_dir)) ?? null,
    release: (run_dir) => void this.released_groups.push(basename(run_dir)),
    sweep: () => {},
    headroom: () => null,
    close: () => {},
    view: () => ({ mechanism: 'none', detail: 'imagined', worker_bytes: null, total_bytes: null }),
  };
  lease: StoreLease = LEASE;
  /** What became of the data folder; null while all is well. */
  data_dir_fault: string | null = null;
  #ids = 0;
  #generation = 0;
  /** Counts down to the crash; null for none. */
  #crash_in: number | null = null;
  crashed_at: string | null = null;
  #logger: Logger;

  constructor() {
    this.#logger = createLogger({
      component: 'poller',
      level: 'debug',
      destination: { write: (line: string) => void this.logs.push(JSON.parse(line)) },
    });
  }

  dispose(): void {
    rmSync(this.data_dir, { recursive: true, force: true });
  }

  ulid(): string {
    this.#ids += 1;
    return `01K${String(this.#ids).padStart(23, '0')}`;
  }

  /** Writes an armed fiber and lists it; gives its path. */
  fiber(id: string, svc: Record<string, string> = {}, top: Record<string, string | null> = {}): string {
    const block = { kind: 'oneshot', host: HOST, project_dir: '/srv/dev', ...svc };
    const fields = {
      id: this.ulid(),
      name: id,
      status: 'active',
      'created-at': '2026-01-01T00:00:00.000Z',
      ...top,
    };
    const lines = [
      ...Object.entries(fields).flatMap(([key, value]) => (value === null ? [] : [`${key}: ${value}`])),
      'svc:',
      ...Object.entries(block).map(([key, value]) => `  ${key}: ${value}`),
    ];
    const path = this.documents.write(id, lines.join('\n'));
    this.documents.list();
    return path;
  }

  /** Starts a daemon; the one before is gone as if it had been killed. */
  boot(options: { released?: boolean } = {}): Daemon {
    this.#generation += 1;
    const generation = this.#generation;
    const check = (step: string) => {
      if (generation !== this.#generation) throw new Crash('this daemon is gone');
      if (this.#crash_in === null) return;
      this.#crash_in -= 1;
      if (this.#crash_in > 0) return;
      this.#crash_in = null;
      this.#generation += 1;
      this.crashed_at = step;
      throw new Crash(step);
    };
    const { data_dir } = this;
    const isGone = () => generation !== this.#generation;
    const settings = {
      ...readSettings({ SVC_DATA_DIR: data_dir, ...this.env }),
      // What a daemon does after its end, in a `catch` or a `finally`, must not reach the disk either.
      get data_dir() {
        if (isGone()) throw new Crash('this daemon is gone');
        return data_dir;
      },
    };
    const runDirectories = new RunDirectories({ data_dir: this.data_dir, logger: this.#logger });
    // What a daemon that is gone would still write must not reach the disk.
    for (const name of ['claim', 'update', 'writeEnd', 'withdrawForcedStart', 'writeScreen'] as const) {
      const original = runDirectories[name].bind(runDirectories) as (...args: unknown[]) => void;
      Object.defineProperty(runDirectories, name, {
        value: (...args: unknown[]) => {
          check(`${name} a run directory`);
          original(...args);
          check(`${name} is done`);
        },
      });
    }
    const world: World = {
      host: HOST,
      daemonId: DAEMON,
      zone: 'UTC',
      settings,
      clock: this.clock,
      logger: this.#logger,
      documents: this.documents.seenBy(check, check),
      mux: this.machine.mux(check, check),
      runDirectories,
      workerMemory: this.worker_memory,
      app: this.app_configured ? this.app.port(check, check) : null,
      harness: {
        agent: (id) => {
          const found = this.agents.find((agent) => (id === null ? agent.default : agent.id === id));
          if (found === undefined) throw new CodedError('agent_unknown', `there is no agent ${id}`);
          return found;
        },
        agents: () => this.agents,
        adapter: (name) => this.#adapter(name),
        findPastSession: async (_agent, session) => this.past.get(session) ?? { kind: 'missing' },
        hooks: async () => this.hooks,
        setupCommand: (agent) => `svc setup ${agent.harness}`,
        probe: async () => {},
        account: (agent) => `${agent.harness}-${agent.env.ACCOUNT ?? 'own'}`,
        contextUse: async (_, transcript) => this.contexts.get(transcript) ?? null,
        lastSaid: async (_, transcript) => this.said.get(transcript) ?? null,
        turnEnd: async (_, transcript) => this.turn_ends.get(transcript) ?? null,
        usage: async (_, transcript) => this.usage.get(transcript) ?? { kind: 'none' },
      },
      processes: {
        look: async (process) => this.machine.look(process),
        end: async (process) => {
          check('end a process');
          this.machine.end(process);
        },
        identify: async (pid) => ({ pid, start_time: `t${pid}` }),
        commands: async (pid) => this.machine.commands(pid),
      },
      lookAtDirectory: async (path) => {
        this.looked.push(path);
        return this.directories.get(path) ?? { kind: 'directory', real: path };
      },
      worktrees: {
        plan: async (of, name) => ({
          of,
          path: `${of}.worktrees/${name}`,
          folder: `${of}.worktrees/${name}`,
          branch: `fiber/${name}`,
        }),
        make: async (place) => {
          check('make a git worktree');
          await this.makeWorktree(place);
          this.worktrees.set(place.path, place);
          check('the git worktree is made');
          return null;
        },
        requireClean: async () => {},
        remove: async ({ path }) => {
          check('remove a git worktree');
          this.worktrees.delete(path);
          return { branch_kept: null };
        },
      },
      disks: {
        prove: async (path) => (this.directories.get(path)?.kind === 'silent' ? 'silent' : 'answers'),
        reportsChanges: () => true,
        isSilent: (path) => this.directories.get(path)?.kind === 'silent',
        onAnswer: () => () => {},
      },
      openTerminal: async (launch) => {
        this.terminals.push(launch);
        return this.terminal;
      },
      sendMessage: (message) => {
        this.sent.push(message);
        check('the message is sent');
      },
      recordSession: (line) => {
        check('write the ledger');
        this.ledger.push(line);
        check('the ledger is written');
      },
      workerEnv: {},
      cli: null,
      role_store: null,
      skillsDir: '/skills',
      bootId: this.boot_id,
      newUuid: () => `00000000-0000-4000-8000-${this.ulid().slice(-12)}`,
      newUlid: () => this.ulid(),
    };
    return this.#daemon(world, options.released === true, check);
  }

  #daemon(world: World, released: boolean, check: (step: string) => void): Daemon {
    const { settings } = world;
    const memory: Memory = {
      runs: new Runs(),
      refusals: new Refusals(),
      quarantine: new Quarantine({
        files: this.#holdFiles(check),
        logger: this.#logger,
        now: this.clock.now(),
      }),
      breaker: new BreakerBook({
        path: join(this.data_dir, 'breaker.json'),
        policy: {
          deaths: settings.breaker_deaths,
          quick_ends: settings.breaker_quick_ends,
          quick_ms: settings.breaker_quick_ms,
          pauses_ms: [settings.breaker_pause_ms, settings.breaker_long_pause_ms],
        },
        logger: this.#logger,
      }),
      incidents: new IncidentBook({ path: join(this.data_dir, 'incidents.json'), logger: this.#logger }),
      deaths: new LastDeaths(),
      starting: new Set(),
      unconcluded: new Map(),
      brake: new Brake({
        path: join(this.data_dir, 'brake.json'),
        logger: this.#logger,
        onChange: () => undefined,
      }),
      leases: { of: () => this.lease, confirm: () => this.lease },
      data_dir: { fault: null, look: () => this.data_dir_fault },
      mux_answers: false,
      adopted: false,
      not_ours: new Map(),
      most_workers: this.most_workers,
      place_kept_ms: this.place_kept_ms,
      starts: new StartGate({
        policy: this.start_policy,
        look: () => ({ free: this.free, pressure: this.pressure }),
        clock: this.clock,
      }),
      owed: new Map(),
      limits: new UsageLimitBook({ path: join(this.data_dir, 'usage-limits.json'), logger: this.#logger }),
    };
    Object.defineProperty(memory.data_dir, 'fault', { get: () => this.data_dir_fault });
    if (released) memory.quarantine.release(this.clock.now());
    const { index } = this.documents;
    const feed = new Feed({ host: HOST, nonce: 'n', now: this.clock.now() });
    const rows = new Rows({ world, memory, index, feed, onFeedMoved: () => {} });
    const dispatcher = new Dispatcher(world, memory, (keys) => rows.runtimeMoved(keys));
    return {
      world,
      memory,
      dispatcher,
      rows,
      feed,
      round: async () => {
        this.documents.list();
        rows.refreshAll([]);
        await dispatcher.reconcile();
        rows.lookedAtWorkers([]);
        await dispatcher.rounds.startDue();
        await dispatcher.watchStarts();
        await dispatcher.watchPhases();
        await dispatcher.watchActivity();
        rows.refreshAll([]);
      },
      row: (id) => {
        const { fibers } = JSON.parse(new TextDecoder().decode(feed.encode({ svc: false }).bytes));
        return fibers.find((row: FiberRow) => row.id === id);
      },
      state: () =>
        viewState({
          world,
          memory,
          dispatcher,
          health: { last_tick_at: null, last_tick_ms: null, ticks: 0, stores: [] },
          rebooted: false,
          cli_contract: 1,
          mux_owner: { kind: 'absent', name: null },
          operator_file_errors: [],
          skills: { generation: 'g', installed: [] },
          dropped_hook_events: 0,
        }),
    };
  }

  #holdFiles(check: (step: string) => void): HoldFiles {
    const files = new HoldFiles({ folder: join(this.data_dir, 'holds'), logger: this.#logger });
    const { write, remove } = files;
    files.write = (key, hold) => {
      check('write a hold');
      write.call(files, key, hold);
      check('a hold is written');
    };
    files.remove = (key) => {
      check('remove a hold');
      remove.call(files, key);
      check('a hold is removed');
    };
    return files;
  }

  /** Makes the running daemon crash at its n-th effect from now. */
  crashIn(effects: number | null): void {
    this.#crash_in = effects;
    this.crashed_at = null;
  }

  /** Lets fake time pass until the work is done, or until its daemon has crashed. */
  async run<T>(work: Promise<T>): Promise<T> {
    const generation = this.#generation;
    let outcome: { value: T } | { error: unknown } | null = null;
    work.then(
      (value) => {
        outcome = { value };
      },
      (error) => {
        outcome = { error };
      },
    );
    for (let turn = 0; turn < 2_000; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (generation !== this.#generation) throw new Crash(this.crashed_at ?? 'crashed');
      if (outcome !== null) break;
      this.clock.advance(5);
    }
    const done = outcome as { value: T } | { error: unknown } | null;
    if (done === null) throw new Error('the work did not come to an end');
    if ('error' in done) throw done.error;
    return done.value;
  }

  /** Runs the work; true when its daemon crashed on the way. */
  async crashes(work: Promise<unknown>): Promise<boolean> {
    try {
      await this.run(work);
      return false;
    } catch (error) {
      if (error instanceof Crash) return true;
      throw error;
    }
  }

  /** The worker hands off as `svc handoff` does it. */
  async handOff(name: string): Promise<void> {
    const worker = this.machine.worker(name);
    const runtime = this.documents.index.getUid(worker.session.name.split('-').at(-2) ?? '');
    if (runtime !== undefined) {
      this.clock.advance(1);
      await this.documents
        .seenBy(
          () => {},
          () => {},
        )
        .change(runtime, () => ({
          set: { 'svc.runtime.handed_off_at': new Date(this.clock.now()).toISOString() },
          unset: [],
        }));
    }
    this.machine.exit(worker, { signal: 'SIGHUP' });
  }

  /** Each agent's transcript, as the fiber's worker of this launch has it. */
  writesTranscript(launch_id: string, session_uuid: string, mtime_ms = this.clock.now()): void {
    this.transcripts.set(launch_id, { kind: 'found', session_uuid, path: '/t.jsonl', size: 1, mtime_ms });
  }

  /** The transcript of a conversation, as the worker of a fiber has written it. */
  writesConversation(
    session_uuid: string,
    written: { size?: number; mtime_ms?: number; path?: string } = {},
  ): void {
    const { size = 100, mtime_ms = this.clock.now(), path = `/t/${session_uuid}.jsonl` } = written;
    this.conversations.set(session_uuid, { kind: 'found', session_uuid, path, size, mtime_ms });
  }

  #adapter(name: HarnessAdapter['name']): HarnessAdapter {
    return {
      name,
      planLaunch: (request) => {
        this.planned.push(request);
        const fresh = name === 'codex' ? null : request.session_uuid;
        return {
          argv: [request.agent.cli, PROMPT],
          prompt_on_stdin: false,
          env: {},
          session_uuid: request.resume ?? fresh,
          files: [],
        };
      },
      findTranscript: async (query) => {
        this.queries.push({ ...query, harness: name });
        const session = query.session_uuid ?? '';
        const folder = this.conversation_folders.get(session) ?? query.project_dir;
        const known = folder === query.project_dir ? this.conversations.get(session) : undefined;
        return known ?? this.transcripts.get(query.marker) ?? { kind: 'missing' };
      },
      resumeArgv: (agent, session) => [agent.cli, 'resume', session],
      checkFirstRun: async () => [],
      signIn: async () => ({ signed_in: null, mend: null }),
    };
  }
}
