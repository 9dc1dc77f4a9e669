import { sleep } from '../base/clock.ts';
import { CodedError } from '../base/errors.ts';
import { Mutex } from '../base/mutex.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { DispatchRequest, Released } from '../contract/http/dispatch.ts';
import type { Why } from '../contract/http/why.ts';
import type { MuxListing } from '../mux/mux.ts';
import { AppCaptures } from './app/app-captures.ts';
import { AppClaims } from './app/app-claims.ts';
import { isAppRun } from './app/app-run.ts';
import { AppRuns } from './app/app-runs.ts';
import { Captures } from './capture/captures.ts';
import { Claims } from './capture/claims.ts';
import { UnfinishedClaims } from './capture/unfinished-claims.ts';
import { PollRounds } from './due/poll-rounds.ts';
import { explainFiber } from './due/why.ts';
import { endWorker } from './end/end-worker.ts';
import { Reconciler } from './end/reconcile.ts';
import { keyOf, type Memory } from './memory.ts';
import { Dispatches } from './requests/dispatches.ts';
import { Kills } from './requests/kills.ts';
import { PhaseWatch } from './run/phase-watch.ts';
import type { Run } from './run/run.ts';
import { Launcher } from './start/launcher.ts';
import { StartWatch } from './start/start-watch.ts';
import { type AskedPastSession, PastSessions } from './terminal/past-session-terminal.ts';
import type { World } from './world.ts';
import { perform } from './write.ts';

/** How often a worker that is being ended is looked at, in milliseconds. */
const END_LOOK_MS = 100;

/**
 * The dispatch state machine: reads the documents and the world, asks the kernels, applies what they say.
 * One instance lives on the poller thread; `onMoved` is told the keys of fibers whose rows may have changed.
 */
export class Dispatcher {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #reconciler: Reconciler;
  readonly #launcher: Launcher;
  readonly #starts: StartWatch;
  readonly #phases: PhaseWatch;
  readonly #apps: AppRuns;
  readonly #dispatches: Dispatches;
  /** What is started without a request. */
  readonly rounds: PollRounds;
  readonly kills: Kills;
  /** Captures that no fiber was claimed for yet. */
  readonly captures: Captures;
  readonly claims: Claims;
  readonly appCaptures: AppCaptures;
  readonly appClaims: AppClaims;
  readonly pastSessions: PastSessions;
  readonly #onMoved: (keys: Iterable<string>) => void;
  #reconciling = new Mutex();
  #listing: MuxListing = { kind: 'unknown', detail: 'not asked yet' };

  constructor(world: World, memory: Memory, onMoved: (keys: Iterable<string>) => void) {
    this.#world = world;
    this.#memory = memory;
    this.#onMoved = onMoved;
    this.captures = new Captures(world, memory);
    this.appCaptures = new AppCaptures(world, memory);
    const unfinished = new UnfinishedClaims(world, memory, { cli: this.captures, app: this.appCaptures });
    this.#reconciler = new Reconciler(world, memory, unfinished);
    this.#launcher = new Launcher(world, memory, { cut: (run) => this.#cut(run, 'forced_start'), onMoved });
    this.#starts = new StartWatch(world, memory);
    this.#phases = new PhaseWatch(world, memory);
    this.rounds = new PollRounds(world, memory, { launcher: this.#launcher, onMoved });
    this.#apps = new AppRuns(world, memory, unfinished, onMoved);
    const ports = {
      adopted: () => this.#requireAdopted(),
      underWay: (key: string) => this.#launcher.underWay(key),
      onMoved,
    };
    this.kills = new Kills(world, memory, {
      adopted: ports.adopted,
      launched: async (key) => this.#launcher.underWay(key),
      cut: (run) => this.#cut(run, 'kill'),
      moved: onMoved,
    });
    this.claims = new Claims(world, memory, this.captures, ports);
    this.appClaims = new AppClaims(world, memory, this.appCaptures, ports);
    this.#dispatches = new Dispatches(world, memory, {
      adopted: ports.adopted,
      fresh: (fiber_id) => this.#fresh(fiber_id),
      launcher: this.#launcher,
      launched: (key) => this.kills.forget(key),
    });
    this.pastSessions = new PastSessions(world, memory, this.captures, ports.adopted);
  }

  /** Launches whose workers may live. */
  launchIds(): Set<string> {
    return new Set(this.#memory.runs.all().map((run) => run.launch_id));
  }

  /** What the multiplexer answered last. */
  get listing(): MuxListing {
    return this.#listing;
  }

  /** Holds the known runs against the world: ends, adoptions, workers that do not answer. */
  reconcile(): Promise<void> {
    return this.#reconciling.run(async () => {
      // A listing says nothing of a worker that was started after it was asked for.
      const started = this.#memory.runs.all().filter((run) => !run.being_started);
      this.#listing = await this.#world.mux.list();
      const moved = await this.#reconciler.reconcile(this.#listing, started);
      this.#memory.mux_answers = this.#reconciler.adopted && this.#listing.kind !== 'unknown';
      await this.captures.reconcile(this.#listing);
      if (moved.size > 0) this.#onMoved(moved);
    });
  }

  /** True when some recorded process has ended without the multiplexer having said so. */
  async someProcessEnded(): Promise<boolean> {
    for (const run of this.#memory.runs.all()) {
      const agent = this.#world.launches.agent(run.launch_id);
      if (agent.kind === 'found' && (await this.#world.processes.look(agent.value)) === 'gone') return true;
    }
    return this.captures.someEnded();
  }

  /** `POST /dispatch`. */
  dispatch<Q extends DispatchRequest>(asked: Q) {
    return perform(this.#dispatches, asked);
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

  /** Resolves when no launch and no start of a capture is under way. */
  async startsSettled(): Promise<void> {
    await Promise.all([this.#launcher.settled(), this.captures.settled(), this.appCaptures.settled()]);
  }

  /**
   * The fiber's running worker, once no launch of it is under way. Where nobody can tell what runs, throws
   * `mux_unavailable` when it has to be `sure`, and answers what is known otherwise.
   */
  async workerOf(key: string, options: { sure: boolean }): Promise<Run | undefined> {
    if (options.sure) await this.#requireAdopted();
    await this.#launcher.underWay(key);
    return this.#memory.runs.get(key);
  }

  /** Lifts every hold; answers how many fibers may now be launched. */
  release(): Released {
    const pending = this.rounds.pending();
    this.#memory.quarantine.release(this.#world.clock.now());
    this.#onMoved(pending.map((one) => keyOf(one.document)));
    return { released: true, pending: pending.length };
  }

  /** Holds the app conversations against their server; resolves when all have been looked at. */
  async watchApps(): Promise<void> {
    if (!this.#reconciler.adopted) return;
    await this.#apps.look();
    await this.appCaptures.look();
  }

  /** Looks after workers whose start is not confirmed yet (P9). */
  async watchStarts(): Promise<void> {
    const moved = await this.#starts.starts(this.#listing);
    await this.captures.learn();
    if (moved.length > 0) this.#onMoved(moved);
  }

  /** Takes over what the hooks of workers told. */
  async watchPhases(): Promise<void> {
    const moved = await this.#phases.look();
    if (moved.length > 0) this.#onMoved(moved);
  }

  /** Brings `last_activity_at` of confirmed workers up to date from their transcripts. */
  async watchActivity(): Promise<void> {
    const moved = await this.#starts.activity();
    if (moved.length > 0) this.#onMoved(moved);
  }

  /** Starts nothing more; resolves when no launch is under way. */
  async stop(): Promise<void> {
    this.rounds.stop();
    await this.#launcher.settled();
    await this.#reconciling.run(async () => {});
  }

  /** `POST /sessions/resume` (WPL-22); `lines` are what the sessions ledger has of the session. */
  resumeSession<Q extends AskedPastSession>(asked: Q) {
    return perform(this.pastSessions, asked);
  }

  /** Before the sessions of an earlier daemon are known, nobody can tell what runs. */
  async #requireAdopted(): Promise<void> {
    if (!this.#reconciler.adopted) await this.reconcile();
    if (this.#reconciler.adopted) return;
    const detail = this.#listing.kind === 'unknown' ? this.#listing.detail : '';
    throw new CodedError(
      'mux_unavailable',
      `tmux has not told yet which workers run (${detail}); see \`svc doctor\` and try again`,
    );
  }

  /** Ends a run on request, looking again for as long as its processes may take; false when it was not seen to end. */
  async #cut(run: Run, reason: 'kill' | 'forced_start'): Promise<boolean> {
    if (isAppRun(run)) {
      await this.#apps.release(run, reason);
      this.#onMoved([run.key]);
      return true;
    }
    const at = this.#world.clock.now();
    run.ending = { reason, at };
    if (!run.stray) this.#world.launches.writeEnd(run.launch_id, reason, at);
    if (await this.#seenToEnd(run)) return true;
    run.ending = null;
    if (reason === 'forced_start' && !run.stray) this.#world.launches.withdrawForcedStart(run.launch_id);
    return false;
  }

  async #seenToEnd(run: Run): Promise<boolean> {
    const { clock, settings } = this.#world;
    const since = clock.now();
    for (;;) {
      await endWorker(this.#world, run);
      await this.reconcile();
      if (this.#memory.runs.get(run.key)?.launch_id !== run.launch_id) return true;
      if (Math.abs(clock.now() - since) >= settings.kill_grace_ms) return false;
      await sleep(clock, END_LOOK_MS);
    }
  }

  #fresh(fiber_id: string): FiberDocument {
    const known = this.#world.documents.find(fiber_id);
    const document = this.#world.documents.reread(known);
    if (document === undefined)
      throw new CodedError('fiber_not_found', `${known.id} is no longer in ${known.store}`);
    return document;
  }
}
