import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../src/base/clock.ts';
import { CodedError } from '../../../src/base/errors.ts';
import { createLogger, type Logger } from '../../../src/base/logger.ts';
import { type HeldDataDirMark, markDataDir } from '../../../src/config/data-dir-fault.ts';
import { dataPaths } from '../../../src/config/paths.ts';
import { readSettings } from '../../../src/config/settings.ts';
import type { SessionLine } from '../../../src/contract/ledger.ts';
import type { CallInput, CallOutput } from '../../../src/contract/threads/call-table.ts';
import { pollerCalls } from '../../../src/contract/threads/poller.ts';
import { type MachineLook, StartGate, startPolicy } from '../../../src/dispatch/holds/start-gate.ts';
import { startPoller } from '../../../src/dispatch/poller.ts';
import { RunDirectories } from '../../../src/dispatch/run-directory/run-directories.ts';
import type { WorkerMemory } from '../../../src/dispatch/run-directory/worker-memory.ts';
import type { Documents } from '../../../src/dispatch/world/documents.ts';
import type { PollerSettings } from '../../../src/dispatch/world/poller-settings.ts';
import type { DirectoryLook, World } from '../../../src/dispatch/world/world.ts';
import { identifyStore } from '../../../src/fibers/identify-store.ts';
import { readDocuments, sweepStore } from '../../../src/fibers/sweep.ts';
import { type HarnessAdapter, PROMPT, type TranscriptProbe } from '../../../src/harness/adapter.ts';
import type { CreateSession, Mux, MuxListing } from '../../../src/mux/mux.ts';
import { parseWorkerSessionName } from '../../../src/mux/session-name.ts';
import type { Disks } from '../../../src/platform/disks.ts';
import type { PoolCaller } from '../../../src/threads/pool-caller.ts';
import type { RunningComponent } from '../../../src/threads/worker-main.ts';
import { FakeMachine, type Worker } from '../../dispatch/world/fake-machine.ts';
import { AGENT } from '../../dispatch/world/fake-world.ts';
import type { Seeded } from '../../faults/seeded.ts';
import { answeringDisks } from '../../kit/answering-disks.ts';
import type { DiskUser, SimulatedDisks } from './simulated-disks.ts';
import { hostClock, type SimulatedTime } from './simulated-time.ts';

/** How a host's tmux answers. */
export type MuxFault = 'silent' | 'slow';
/** What becomes of a call: its answer, its refusal, or nothing that the caller hears of. */
export type Called<T> =
  | { kind: 'answered'; value: T }
  | { kind: 'refused'; error: unknown }
  | { kind: 'lost' };
type Calls = typeof pollerCalls;
type StoreWatch = NonNullable<Parameters<typeof startPoller>[1]>['watch'];

/** Milliseconds after which a look at a disk is given up. */
const LOOK_MS = 5_000;
/** Milliseconds after which the tmux driver gives up. */
const MUX_LIMIT_MS = 5_000;
/** Short times, so that the end of a pause is reached soon. */
const TIMES = {
  SVC_LISTING_TIMEOUT_MS: '10000',
  SVC_PREFLIGHT_COOLDOWN_MS: '60000',
  SVC_BREAKER_PAUSE_MS: '120000',
  SVC_STARTUP_CONFIRM_MS: '30000',
  SVC_BREAKER_QUICK_MS: '20000',
};

/** A machine on which no worker waits for room. */
const ROOMY = { machine: 24e9, worker: 12e9, total: 20.4e9 };
const PLENTY: MachineLook = {
  free: { memory: null, workers_memory: null, processes: null, descriptors: null, terminals: null },
  pressure: { load: 0, cores: 1, waiting: null, memory: null },
};
const NO_MEMORY_GROUPS: WorkerMemory = {
  entry: () => null,
  readEnd: () => null,
  release: () => {},
  sweep: () => {},
  close: () => {},
  headroom: () => null,
  view: () => ({ mechanism: 'none', detail: 'imagined', worker_bytes: null, total_bytes: null }),
};

/** No fiber of the simulation asks for a git worktree. */
const NO_WORKTREES: World['worktrees'] = {
  plan: () => Promise.reject(new CodedError('worktree_unavailable', 'no repository is simulated')),
  make: async () => null,
  requireClean: async () => {},
  remove: async () => ({ branch_kept: null }),
};

/** What a host is told of its surroundings. */
export type HostPlaces = {
  /** One capital letter. */
  name: string;
  /** The host id of its daemon. */
  host_id: string;
  data_dir: string;
  /** Where the daemons of one machine tell of each other. */
  runtime_folder: string;
  stores: readonly string[];
  max_concurrent: number | null;
};

/** One daemon's poller thread: the real one, from its start to its end. */
type Process = DiskUser & { running: RunningComponent<Calls> | null };

/** A machine with a tmux server, a data dir and a daemon that is started, crashes, and is started again. */
export class SimulatedHost {
  readonly places: HostPlaces;
  readonly machine: FakeMachine;
  readonly clock: Clock;
  skew_ms = 0;
  mux_fault: MuxFault | null = null;
  /** What the disks say of a `project_dir`; one that is not named here is a directory. */
  readonly directories: Map<string, DirectoryLook>;
  /** Stores whose listings never come back. */
  readonly hung: Set<string>;
  readonly logs: { level: number; msg: string; [key: string]: unknown }[] = [];
  /** The sessions ledger, which outlasts daemons; null once it could not be written. */
  sessions: SessionLine[] | null = [];
  /** Called with each worker as it starts, and when its start was asked for. */
  onStart: (worker: Worker, asked_at: number) => void = () => {};
  readonly #mark: HeldDataDirMark;
  readonly #time: SimulatedTime;
  readonly #disks: SimulatedDisks;
  readonly #random: Seeded;
  readonly #logger: Logger;
  readonly #conversations = new Map<string, TranscriptProbe>();
  readonly #sessions = new Map<string, string>();
  readonly #watches = new Set<{ folders: Set<string>; hint: (folder: string) => void }>();
  #process: Process;
  #ids = 0;

  constructor(options: {
    places: HostPlaces;
    time: SimulatedTime;
    disks: SimulatedDisks;
    random: Seeded;
    directories: Map<string, DirectoryLook>;
    hung: Set<string>;
  }) {
    this.places = options.places;
    this.#time = options.time;
    this.#disks = options.disks;
    this.#random = options.random;
    this.directories = options.directories;
    this.hung = options.hung;
    this.#logger = createLogger({
      component: 'poller',
      level: 'warn',
      destination: { write: (line: string) => void this.logs.push(JSON.parse(line)) },
    });
    this.#mark = markDataDir(options.places.data_dir, []);
    this.clock = hostClock(this.#time, { skew: () => this.skew_ms, inside: (run) => run() });
    this.machine = new FakeMachine(this.clock);
    this.#process = this.#newProcess();
    this.#process.is_dead = true;
  }

  get is_up(): boolean {
    return !this.#process.is_dead;
  }

  /** Every worker that this machine had for a fiber, oldest first, and how it ended as its run script told. */
  runsOf(
    uid: string,
  ): { run_id: string; alive: boolean; exit: { code: number | null; signal: string | null } | null }[] {
    const read = (path: string) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null);
    return this.machine.workers
      .filter(({ session }) => parseWorkerSessionName(session.name)?.uid === uid)
      .flatMap(({ run_dir, alive }) => {
        const run = read(join(run_dir, 'run.json'));
        return run === null ? [] : [{ run_id: run.run_id, alive, exit: read(join(run_dir, 'exit.json')) }];
      });
  }

  /** Starts the daemon; the one before must have ended. */
  boot(): void {
    const process = this.#newProcess();
    this.#process = process;
    this.#watches.clear();
    this.#disks.inside(process, () => {
      startPoller(this.#context(process), {
        connect: this.#connect(process),
        watch: this.#watchOf(process),
        disks: () => this.#looksOf(process),
      }).then(
        (running) => {
          process.running = running;
        },
        (error) => {
          if (process.is_dead) return;
          this.logs.push({ level: 60, msg: 'the poller did not start', err: error });
          process.die();
        },
      );
    });
  }

  /** The daemon is killed, now or at its n-th change of a disk. */
  crash(changes = 0): void {
    if (changes === 0) this.#process.die();
    else this.#process.crash_in = changes;
  }

  /** It does not crash after all, and nobody interrupts it. */
  forgetCrash(): void {
    this.#process.crash_in = null;
    this.#process.interrupt = null;
  }

  /** Stops the daemon as `svc daemon stop` does. */
  async stop(): Promise<void> {
    const process = this.#process;
    const { running } = process;
    if (process.is_dead) return;
    if (running !== null) await this.#disks.inside(process, () => running.stop());
    process.die();
  }

  /** Somebody else changes a document after the daemon has read it and before it writes it. */
  interruptNextWrite(change: () => void): void {
    this.#process.interrupt = change;
  }

  /** The kernel tells of a change in these folders, to a daemon that watches them. */
  hint(folder: string): void {
    for (const watch of this.#watches) if (watch.folders.has(folder)) watch.hint(folder);
  }

  /** One call of the main thread to the poller, with its deadline. */
  async call<N extends keyof Calls & string>(
    name: N,
    input: CallInput<Calls, N>,
  ): Promise<Called<CallOutput<Calls, N>>> {
    const process = this.#process;
    const { running } = process;
    if (process.is_dead || running === null) return { kind: 'lost' };
    const handler = running.handlers[name] as (input: unknown) => unknown;
    const spec = pollerCalls[name];
    const answer = this.#disks.inside(process, async (): Promise<Called<never>> => {
      try {
        const value = await handler(spec.input.parse(input));
        return { kind: 'answered', value: value as never };
      } catch (error) {
        return process.is_dead ? { kind: 'lost' } : { kind: 'refused', error };
      }
    });
    const lost = this.#time.sleep(spec.deadline_ms).then((): Called<never> => ({ kind: 'lost' }));
    return Promise.race([answer, lost]);
  }

  #newProcess(): Process {
    const process: Process = {
      pid: this.#disks.nextPid(),
      is_dead: false,
      crash_in: null,
      interrupt: null,
      random: this.#random,
      running: null,
      clock: hostClock(this.#time, {
        skew: () => this.skew_ms,
        inside: (run) => {
          if (!process.is_dead) this.#disks.inside(process, run);
        },
      }),
      die: () => {
        process.is_dead = true;
      },
    };
    return process;
  }

  #context(process: Process): Parameters<typeof startPoller>[0] {
    const { places } = this;
    const settings: PollerSettings = {
      ...readSettings({
        ...TIMES,
        SVC_DATA_DIR: places.data_dir,
        SVC_CONFIG_DIR: join(places.data_dir, 'config'),
        SVC_STORES: places.stores.join(','),
      }),
      host_id: places.host_id,
      store_roots: places.stores,
      rebooted: false,
      cli_contract: 1,
      host_class: 'personal',
      max_concurrent: places.max_concurrent,
      count_resting: true,
      daemon_id: places.name,
      booted_at: process.clock.now(),
      runtime_folder: places.runtime_folder,
      data_dir_mark: this.#mark,
      host_memory: {},
      role_store: null,
    };
    return {
      settings,
      logger: this.#logger,
      clock: process.clock,
      host: { exchange: never, call: never } as never,
      pool: this.#pool(process),
      notify: () => true,
    };
  }

  /** The pool of another thread: what it reads takes a moment, and its deadline is met whatever the disk does. */
  #pool(process: Process): PoolCaller {
    const pool = {
      run: async (
        job: string,
        input: { root: string; most_new?: number },
        options: { bulk?: Uint8Array | null; deadline_ms?: number } = {},
      ) => {
        const { bulk = null, deadline_ms = 20_000 } = options;
        const { most_new = Number.POSITIVE_INFINITY } = input;
        if (this.hung.has(input.root)) {
          await this.#wait(process, deadline_ms);
          throw new CodedError('deadline_exceeded', `${job} did not answer within ${deadline_ms} ms`);
        }
        await this.#wait(process, this.#random.whole(1, 40));
        // By this moment no file has stood still for long, so that each is read again: times of the real disk say nothing here.
        const now = 0;
        if (job === 'identify_store') return { value: { identity: identifyStore(input.root) }, bulk: null };
        const done =
          job === 'sweep_store'
            ? sweepStore(input.root, bulk ?? new Uint8Array(), now, { most_new })
            : readDocuments(input.root, bulk ?? new Uint8Array(), now);
        await this.#wait(process, this.#random.whole(0, 40));
        return { value: {}, bulk: done };
      },
    };
    return pool as unknown as PoolCaller;
  }

  /** What a process of its own says of the disks, after its deadline where one is silent. */
  #looksOf(process: Process): Disks {
    const isHung = (path: string) => [...this.hung].some((root) => path.startsWith(`${root}/`));
    return {
      ...answeringDisks,
      check: async (path) => ({ kind: 'directory', real: path }),
      prove: async (path) => {
        if (!isHung(path)) return 'answers';
        await this.#wait(process, LOOK_MS);
        return 'silent';
      },
      isSilent: isHung,
      reportsChanges: () => true,
    };
  }

  async #look(process: Process, path: string): Promise<DirectoryLook> {
    const look = this.directories.get(path) ?? { kind: 'directory', real: path };
    await this.#wait(process, look.kind === 'silent' ? look.after_ms : 1);
    return look;
  }

  #watchOf(process: Process): StoreWatch {
    return (onHint) => {
      const watch = {
        folders: new Set<string>(),
        hint: (folder: string) => this.#disks.inside(process, () => onHint(folder, false)),
      };
      this.#watches.add(watch);
      return {
        watched: 0,
        degraded: null,
        complete: true,
        async update(next) {
          watch.folders = new Set(next);
          return true;
        },
        add: (further) => {
          for (const folder of further) watch.folders.add(folder);
        },
        drop: (former) => {
          for (const folder of former) watch.folders.delete(folder);
        },
        lostEvents: () => false,
        close: () => void this.#watches.delete(watch),
      };
    };
  }

  #connect(process: Process): typeof import('../../../src/dispatch/surroundings.ts').connectWorld {
    return async ({ settings, documents, logger }) => {
      const paths = dataPaths(settings);
      mkdirSync(paths.state_dir, { recursive: true });
      return {
        world: this.#world(process, settings, documents, logger),
        hooks: { dropped: 0, stop: async () => {} },
        runner: { run: never } as never,
        agents: {
          registry: {
            agents: [AGENT],
            default_id: AGENT.id,
            names: { demo: 'demo' },
            file: '',
            problem: null,
          },
          look: async () => true,
        },
        breakerFile: join(paths.state_dir, 'breaker.json'),
        brakeFile: join(paths.state_dir, 'brake.json'),
        usageLimitsFile: join(paths.state_dir, 'usage-limits.json'),
        incidentsFile: join(paths.state_dir, 'incidents.json'),
        muxOwner: async () => ({ kind: 'absent', name: null }),
        startGate: () =>
          new StartGate({ policy: startPolicy(settings, ROOMY), look: () => PLENTY, clock: process.clock }),
        skills: { generation: 'g', installed: [] },
      };
    };
  }

  #world(process: Process, settings: PollerSettings, documents: Documents, logger: Logger): World {
    const { machine } = this;
    return {
      host: settings.host_id,
      daemonId: this.places.name,
      zone: 'UTC',
      settings,
      clock: process.clock,
      logger,
      documents,
      mux: this.#mux(process),
      runDirectories: new RunDirectories({ data_dir: settings.data_dir, logger }),
      workerMemory: NO_MEMORY_GROUPS,
      app: null,
      worktrees: NO_WORKTREES,
      harness: {
        agent(id) {
          if (id === null || id === AGENT.id) return AGENT;
          throw new CodedError('agent_unknown', `there is no agent ${id}`);
        },
        agents: () => [AGENT],
        adapter: (name) => this.#adapter(name),
        findPastSession: async () => ({ kind: 'missing' }),
        hooks: async () => 'absent',
        setupCommand: ({ harness }) => `svc setup ${harness}`,
        probe: async () => {},
        account: () => 'own',
        lastSaid: async () => null,
        contextUse: async () => null,
        turnEnd: async () => null,
        usage: async () => ({ kind: 'none' }),
      },
      processes: {
        look: async (one) => machine.look(one),
        end: async (one) => {
          await this.#wait(process, this.#random.whole(1, 500));
          this.#disks.outside(() => machine.end(one));
        },
        identify: async (pid) => ({ pid, start_time: `t${pid}` }),
        commands: async (pid) => machine.commands(pid),
      },
      lookAtDirectory: (path) => this.#look(process, path),
      disks: this.#looksOf(process),
      openTerminal: async () => ({ kind: 'opened', terminal: 'kitty' }),
      sendMessage: () => {},
      recordSession: (line) => {
        if (process.is_dead) return;
        if (this.#disks.faults.has(settings.data_dir)) this.sessions = null;
        this.sessions?.push(line);
      },
      workerEnv: {},
      cli: null,
      role_store: null,
      skillsDir: '/skills',
      bootId: 'boot-1',
      newUuid: () => `00000000-0000-4000-8000-${this.#id().slice(-12)}`,
      newUlid: () => this.#id(),
    };
  }

  /** What was asked of tmux is done although its asker has died meanwhile. */
  #mux(process: Process): Mux {
    const { machine } = this;
    const ask = async <T>(work: () => T | Promise<T>, unanswered: T): Promise<T> => {
      const fault = this.mux_fault;
      const before = fault === 'slow' ? this.#random.whole(500, 2_000) : this.#random.whole(0, 10);
      await this.#time.sleep(before);
      // A server that does not answer may have heard all the same.
      const heard = fault !== 'silent' || this.#random.chance(0.3);
      const answer = heard ? await this.#disks.outside(async () => work()) : unanswered;
      await this.#time.sleep(fault === 'silent' ? MUX_LIMIT_MS - before : before);
      if (process.is_dead) return never();
      return fault === 'silent' ? unanswered : answer;
    };
    const unknown: MuxListing = { kind: 'unknown', detail: 'it does not answer' };
    return {
      list: () => ask(() => machine.list(), unknown),
      create: (spec) => {
        const asked_at = this.#time.now();
        return ask(() => this.#start(spec, asked_at), {
          kind: 'failed',
          code: 'mux_unavailable',
          detail: 'it did not answer',
        });
      },
      kill: (target) => ask(() => machine.kill(target), 'unknown'),
      rename: (target, name) => ask(() => machine.mux(pass, pass).rename(target, name), 'unknown'),
      capture: () => ask(() => '', null),
      screen: () => ask(() => ({ kind: 'gone' }), { kind: 'gone' }),
      panes: (target) => ask(() => machine.mux(pass, pass).panes(target), null),
      onChange: () => () => {},
      describe: () => ({ tmux: 'tmux', socket: null, attach_argv: (name) => ['tmux', name] }),
      stop: async () => {},
    };
  }

  async #start(spec: CreateSession, asked_at: number) {
    const created = await this.machine.create(spec, () => {});
    const worker = this.machine.workers.at(-1);
    if (created.kind !== 'created' || worker === undefined) return created;
    this.onStart(worker, asked_at);
    const session_uuid = this.#sessions.get(dirname(spec.command[1] ?? ''));
    this.#time.after(this.#random.whole(100, 5_000), () => {
      if (session_uuid === undefined || !worker.alive) return;
      const before = this.#conversations.get(session_uuid);
      this.#conversations.set(session_uuid, {
        kind: 'found',
        session_uuid,
        path: `/t/${session_uuid}.jsonl`,
        size: (before?.kind === 'found' ? before.size : 0) + 100,
        mtime_ms: this.clock.now(),
      });
    });
    return created;
  }

  #adapter(name: HarnessAdapter['name']): HarnessAdapter {
    return {
      name,
      planLaunch: (request) => {
        const session_uuid = request.resume ?? request.session_uuid;
        this.#sessions.set(request.run_dir, session_uuid);
        return {
          argv: [request.agent.cli, PROMPT],
          prompt_on_stdin: false,
          env: {},
          session_uuid,
          files: [],
        };
      },
      findTranscript: async ({ session_uuid }) =>
        (session_uuid === null ? undefined : this.#conversations.get(session_uuid)) ?? { kind: 'missing' },
      resumeArgv: (agent, session) => [agent.cli, 'resume', session],
      checkFirstRun: async () => [],
      signIn: async () => ({ signed_in: null, mend: null }),
    };
  }

  async #wait(process: Process, ms: number): Promise<void> {
    await this.#time.sleep(ms);
    if (process.is_dead) await never();
  }

  /** Two hosts never give the same one. */
  #id(): string {
    this.#ids += 1;
    return `01K${this.places.name}${String(this.#ids).padStart(22, '0')}`;
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}

function pass(): void {}
