import { CodedError } from '../base/errors.ts';
import { Mutex } from '../base/mutex.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { DispatchRequest, Released } from '../contract/http/dispatch.ts';
import type { Why } from '../contract/http/why.ts';
import type { MuxListing } from '../mux/mux.ts';
import { Nudges } from './due/nudges.ts';
import { PollRounds } from './due/poll-rounds.ts';
import { explainFiber } from './due/why.ts';
import { type Memory, UNTOLD } from './holds/memory.ts';
import { Dispatches } from './requests/dispatches.ts';
import { Kills } from './requests/kills.ts';
import { type AskedPastSession, PastSessions } from './requests/past-session-terminal.ts';
import type { Run } from './run/run.ts';
import { isStarting } from './run/run-state.ts';
import { muxSessionOf } from './run/runs.ts';
import { WorkTrees } from './run/work-trees.ts';
import { Starter } from './start/starter.ts';
import { openSurfaces } from './surfaces/surfaces.ts';
import { PhaseWatch } from './surfaces/terminal/phase-watch.ts';
import { StartWatch } from './surfaces/terminal/start-watch.ts';
import { keyOf } from './world/documents.ts';
import type { World } from './world/world.ts';
import { perform } from './world/write.ts';

/**
 * The dispatch state machine: reads the documents and the world, asks the kernels, applies what they say.
 * One instance lives on the poller thread; `onMoved` is told the keys of fibers whose rows may have changed.
 */
export class Dispatcher {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #starter: Starter;
  readonly #starts: StartWatch;
  readonly #phases: PhaseWatch;
  readonly #dispatches: Dispatches;
  readonly #workTrees: WorkTrees;
  readonly #nudges: Nudges;
  /** What is started without a request. */
  readonly rounds: PollRounds;
  readonly kills: Kills;
  /** Captures and claims of each surface, and how a run of it is ended. */
  readonly surfaces: ReturnType<typeof openSurfaces>;
  readonly pastSessions: PastSessions;
  readonly #onMoved: (keys: Iterable<string>) => void;
  #reconciling = new Mutex();
  #stopped = false;
  #listing: MuxListing = { kind: 'unknown', detail: 'not asked yet' };

  constructor(world: World, memory: Memory, onMoved: (keys: Iterable<string>) => void) {
    this.#world = world;
    this.#memory = memory;
    this.#onMoved = onMoved;
    this.#starter = new Starter(world, memory, {
      cut: (run) => this.surfaces[run.surface].cut(run, 'forced_start'),
      onMoved,
      onFolderMade: (path) => {
        this.rounds
          .startMoved(new Set([path]))
          .catch((error) => world.logger.error({ err: error }, 'a poll step failed'));
      },
    });
    this.#starts = new StartWatch(world, memory);
    this.#phases = new PhaseWatch(world, memory);
    this.rounds = new PollRounds(world, memory, { starter: this.#starter, onMoved });
    const ports = {
      adopted: () => this.requireAdopted(),
      underWay: (key: string) => this.#starter.underWay(key),
      onMoved,
      reconcile: () => this.reconcile(),
    };
    this.surfaces = openSurfaces(world, memory, ports);
    this.kills = new Kills(world, memory, {
      adopted: ports.adopted,
      underWay: ports.underWay,
      cut: (run) => this.surfaces[run.surface].cut(run, 'kill'),
      isCapture: (mux_session) => this.surfaces.cli.captures.bySession(mux_session) !== undefined,
      endCapture: async (mux_session) =>
        (await this.surfaces.cli.endCaptures(mux_session)).includes(mux_session),
      moved: onMoved,
    });
    this.#dispatches = new Dispatches(world, memory, {
      adopted: ports.adopted,
      fresh: (fiber_id) => this.#fresh(fiber_id),
      starter: this.#starter,
      started: (key) => this.kills.forget(key),
    });
    this.#workTrees = new WorkTrees(world, memory.runs, onMoved);
    this.#nudges = new Nudges(world, memory);
    this.pastSessions = new PastSessions(world, memory, this.surfaces.cli.captures, ports.adopted);
  }

  /** Starts whose workers may live. */
  launchIds(): Set<string> {
    return new Set(this.#memory.runs.all().map((run) => run.launch_id));
  }

  /** Nothing more is to be started. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** What the multiplexer answered last. */
  get listing(): MuxListing {
    return this.#listing;
  }

  /** Holds the known runs against the world: ends, adoptions, workers that do not answer. */
  reconcile(): Promise<void> {
    return this.#reconciling.run(async () => {
      // A listing says nothing of a worker that was started after it was asked for.
      const started = this.#memory.runs.all().filter((run) => !isStarting(run.state));
      this.#listing = await this.#world.mux.list();
      const { reconciler } = this.surfaces.cli;
      const was_adopted = reconciler.adopted;
      const moved = await reconciler.reconcile(this.#listing, started);
      // What hooks told of workers before this daemon is shown with them.
      if (!was_adopted && reconciler.adopted) for (const key of await this.#phases.look()) moved.add(key);
      this.#memory.mux_answers = reconciler.adopted && this.#listing.kind !== 'unknown';
      await this.surfaces.cli.captures.reconcile(this.#listing);
      if (moved.size > 0) this.#onMoved(moved);
    });
  }

  /** True when some recorded process has ended without the multiplexer having said so. */
  async someProcessEnded(): Promise<boolean> {
    for (const run of this.#memory.runs.all()) {
      const agent = this.#world.runDirectories.agent(run.launch_id);
      if (agent.kind === 'found' && (await this.#world.processes.look(agent.value)) === 'gone') return true;
    }
    return this.surfaces.cli.captures.someEnded();
  }

  /** `POST /dispatch`. */
  dispatch<Q extends DispatchRequest>(asked: Q) {
    return this.#dispatches.dispatch(asked);
  }

  /** Why the poller does not start this fiber now; `look` also asks what reaches outside the daemon (DSP-4). */
  why(fiber_id: string, options: { look: boolean }): Promise<Why> {
    const document = this.#fresh(fiber_id);
    return explainFiber(this.#world, this.#memory, document, {
      ...options,
      mux_detail: this.#listing.kind === 'unknown' ? this.#listing.detail : null,
      waits_since: this.rounds.waitsSince(keyOf(document)),
    });
  }

  /** Resolves when no start of a run and none of a capture is under way. */
  async startsSettled(): Promise<void> {
    const { cli, app } = this.surfaces;
    await Promise.all([this.#starter.settled(), cli.captures.settled(), app.captures.settled()]);
  }

  /**
   * The fiber's running worker, once no start of it is under way. Where nobody can tell what runs, throws
   * `mux_unavailable` when it has to be `sure`, and answers what is known otherwise.
   */
  async workerOf(key: string, options: { sure: boolean }): Promise<Run | undefined> {
    if (options.sure) await this.requireAdopted();
    await this.#starter.underWay(key);
    return this.#memory.runs.get(key);
  }

  /** Whether a person has the terminal of this worker open. */
  async isWatched(run: Run): Promise<boolean> {
    const listing = await this.#world.mux.list();
    if (listing.kind !== 'alive') return false;
    return listing.sessions.some(({ name, attached }) => name === muxSessionOf(run) && attached > 0);
  }

  /** Lifts what the start of this daemon holds; answers which fibers may now be started, and which stay held. */
  release(): Released {
    const pending = this.rounds.pending();
    this.#memory.quarantine.release(this.#world.clock.now());
    this.#onMoved(pending.map((one) => keyOf(one.document)));
    const fibers = pending.filter(({ reason }) => reason === 'boot_quarantine');
    const held = pending.filter(({ reason }) => reason !== 'boot_quarantine');
    return {
      released: true,
      pending: fibers.length,
      fibers: fibers.map(({ document }) => document.id),
      held: held.map(({ document, reason }) => ({ fiber_id: document.id, reason })),
    };
  }

  /** Compares the runs of surfaces without the multiplexer with their servers; resolves when all have been looked at. */
  async watchSurfaces(): Promise<void> {
    if (!this.surfaces.cli.reconciler.adopted) return;
    for (const surface of Object.values(this.surfaces)) await surface.watch();
  }

  /** Looks after workers whose start is not confirmed yet (P9). */
  async watchStarts(): Promise<void> {
    const moved = await this.#starts.starts(this.#listing);
    if (moved.length > 0) this.#onMoved(moved);
    await this.surfaces.cli.captures.learn();
  }

  /** Takes over what the hooks of workers told. */
  async watchPhases(): Promise<void> {
    const moved = await this.#phases.look();
    if (moved.length > 0) this.#onMoved(moved);
  }

  /** Brings `last_activity_at` of confirmed workers up to date from their transcripts, and nudges those that are idle. */
  async watchActivity(): Promise<void> {
    // Not waited for: a disk may be silent.
    void this.#workTrees.look();
    const moved = await this.#starts.activity();
    if (moved.length > 0) this.#onMoved(moved);
    this.#nudges.look();
  }

  /** Starts nothing more; resolves when no start is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.rounds.stop();
    await this.#starter.settled();
    await this.#reconciling.run(async () => {});
  }

  /** `POST /sessions/resume` (WPL-22); `lines` are what the sessions ledger has of the session. */
  resumeSession<Q extends AskedPastSession>(asked: Q) {
    return perform(this.pastSessions, asked);
  }

  /** Before the sessions of an earlier daemon are known, nobody can tell what runs. */
  async requireAdopted(): Promise<void> {
    if (!this.surfaces.cli.reconciler.adopted) await this.reconcile();
    if (this.surfaces.cli.reconciler.adopted) return;
    const detail = this.#listing.kind === 'unknown' ? this.#listing.detail : '';
    throw new CodedError('mux_unavailable', `${UNTOLD} (${detail}); see \`svc doctor\` and try again`);
  }

  #fresh(fiber_id: string): FiberDocument {
    const known = this.#world.documents.find(fiber_id);
    const document = this.#world.documents.reread(known);
    if (document === undefined)
      throw new CodedError('fiber_not_found', `${known.id} is no longer in ${known.store}`);
    return document;
  }
}
