import { CodedError, isCoded } from '../base/errors.ts';
import { Mutex } from '../base/mutex.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { ResumedSession } from '../contract/http/attach.ts';
import type { Dispatched, DispatchRequest, Killed, Refused, Released } from '../contract/http/dispatch.ts';
import { type Rehearsal, rehearsal } from '../contract/http/rehearsal.ts';
import type { Why } from '../contract/http/why.ts';
import type { SessionLine } from '../contract/ledger.ts';
import { rehearsedWrite } from '../fibers/rehearsed-write.ts';
import type { MuxListing } from '../mux/mux.ts';
import { AppCaptures } from './app/app-captures.ts';
import { AppClaims } from './app/app-claims.ts';
import { appIdentity, isAppRun, isReserved } from './app/app-run.ts';
import { AppRuns } from './app/app-runs.ts';
import { Captures } from './capture/captures.ts';
import { Claims } from './capture/claims.ts';
import { UnfinishedClaims } from './capture/unfinished-claims.ts';
import { Arming } from './due/arming.ts';
import { blockWhenPaused } from './due/breaker-row.ts';
import { isPendingLaunch, judgeEligibility, waitsForPlace } from './due/eligibility.ts';
import { owedStart } from './due/owed-starts.ts';
import { describeLimit, limitOf, showLimit } from './due/usage-limits.ts';
import { explainFiber } from './due/why.ts';
import { endWorker } from './end/end-worker.ts';
import { Reconciler } from './end/reconcile.ts';
import { concludedBy } from './end/worker-end.ts';
import { dueOf, eligibilityFacts, workerCount } from './fiber-facts.ts';
import { keyOf, type Memory } from './memory.ts';
import { dispatchedReply, refusedReply, withUntold } from './requests/replies.ts';
import { PhaseWatch } from './run/phase-watch.ts';
import type { Authority } from './run/run-id.ts';
import { muxSessionOf, type Run, workerName } from './run/runs.ts';
import type { LaunchResult } from './start/launch.ts';
import { Launcher } from './start/launcher.ts';
import { requestedDirectory } from './start/requested-directory.ts';
import { StartWatch } from './start/start-watch.ts';
import { openPastSession, rehearsePastSession } from './terminal/past-session-terminal.ts';
import { Turns } from './turns.ts';
import type { World } from './world.ts';

/** Launches under way at the same time; a start costs tmux a few milliseconds. */
const LAUNCHES_AT_ONCE = 4;

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
  readonly #arming: Arming;
  readonly #apps: AppRuns;
  /** Captures that no fiber was claimed for yet. */
  readonly captures: Captures;
  readonly claims: Claims;
  readonly appCaptures: AppCaptures;
  readonly appClaims: AppClaims;
  readonly #onMoved: (keys: Iterable<string>) => void;
  #reconciling = new Mutex();
  #turns = new Turns();
  #listing: MuxListing = { kind: 'unknown', detail: 'not asked yet' };
  /** Sessions ended by a kill of this daemon, by fiber key: killing once more is success (P5). */
  #killed = new Map<string, Omit<Killed, 'killed' | 'fiber_id'>>();
  #stopped = false;

  constructor(world: World, memory: Memory, onMoved: (keys: Iterable<string>) => void) {
    this.#world = world;
    this.#memory = memory;
    this.#onMoved = onMoved;
    this.captures = new Captures(world);
    this.appCaptures = new AppCaptures(world);
    const unfinished = new UnfinishedClaims(world, memory, { cli: this.captures, app: this.appCaptures });
    this.#reconciler = new Reconciler(world, memory, unfinished);
    this.#launcher = new Launcher(world, memory, { cut: (run) => this.#cut(run, 'forced_start'), onMoved });
    this.#starts = new StartWatch(world, memory);
    this.#phases = new PhaseWatch(world, memory);
    this.#arming = new Arming(world, memory);
    this.#apps = new AppRuns(world, memory, unfinished, onMoved);
    const ports = {
      adopted: () => this.#requireAdopted(),
      underWay: (key: string) => this.#launcher.underWay(key),
      onMoved,
    };
    this.claims = new Claims(world, memory, this.captures, ports);
    this.appClaims = new AppClaims(world, memory, this.appCaptures, ports);
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

  /** One round of DSP-2 over all documents: launches what is due, notes what waits. */
  async launchDue(): Promise<void> {
    const documents = [...this.#world.documents.all()];
    const disarmed = this.#arming.note(documents);
    for (const document of documents) if (document.svc !== undefined) this.#showPaused(document);
    const limited = documents.filter((document) => document.svc !== undefined && this.#showLimit(document));
    if (disarmed.length + limited.length > 0) this.#onMoved([...disarmed, ...limited.map(keyOf)]);
    await this.#launchAmong(documents);
  }

  /** The same for documents that have just moved, between two rounds. */
  async launchMoved(paths: ReadonlySet<string>): Promise<void> {
    const documents = [...this.#world.documents.all()].filter((document) => paths.has(document.path));
    const disarmed = this.#arming.noteSome(documents);
    if (disarmed.length > 0) this.#onMoved(disarmed);
    await this.#launchAmong(documents);
  }

  /** Fibers that only a hold keeps from being launched, oldest hold first. */
  pending(): { document: FiberDocument; since: number; reason: string }[] {
    const now = this.#world.clock.now();
    const waiting = [];
    for (const document of this.#world.documents.all()) {
      // Asked with every `GET /state`: nearly all documents are settled without gathering their facts.
      if (document.svc?.host !== this.#world.host || document.status !== 'active') continue;
      const facts = eligibilityFacts(this.#world, this.#memory, document);
      if (!isPendingLaunch(document, facts) || facts.held === null) continue;
      const since = this.#memory.quarantine.since(keyOf(document), now);
      waiting.push({ document, since, reason: facts.held });
    }
    return waiting.sort((a, b) => a.since - b.since);
  }

  /** `POST /dispatch`: all checks before any effect; a refusal is a value (WPL-1). */
  async dispatch(request: DispatchRequest): Promise<Dispatched | Refused> {
    await this.#requireAdopted();
    const directory = requestedDirectory(request.project_dir);
    const document = this.#fresh(request.fiber_id);
    const key = keyOf(document);
    const underWay = this.#launcher.underWay(key);
    if (underWay !== undefined) return withUntold(this.#reply(document, await underWay, true), request);
    const running = this.#memory.runs.get(key);
    if (
      running !== undefined &&
      !needsLaunch(running, request) &&
      !this.#world.documents.isAmbiguous(document)
    )
      return withUntold(dispatchedReply(this.#world.host, running, true), request);
    const authority = this.#authorityOf(request, document);
    const result = await this.#launcher.launch(document, authority, directory);
    if (result.kind !== 'launched') return this.#reply(document, result, false);
    this.#killed.delete(key);
    const limit = limitOf(this.#world, this.#memory, result.run.agent);
    const reply = dispatchedReply(this.#world.host, result.run, false);
    return limit === null ? reply : { ...reply, notes: [`${describeLimit(limit)}; started all the same`] };
  }

  /** `POST /kill`: ends the worker and keeps the poller from starting it again; once more is success (P5). */
  async kill(fiber_id: string): Promise<Killed> {
    await this.#requireAdopted();
    const { key, id } = this.#killable(fiber_id);
    await this.#launcher.underWay(key);
    const run = this.#memory.runs.get(key);
    if (run === undefined) {
      const killed = this.#killed.get(key);
      if (killed !== undefined) return { killed: true, already_killed: true, fiber_id: id, ...killed };
      throw new CodedError('no_worker', `nothing runs for ${id}`, { details: { fiber_id: id } });
    }
    // From here on nobody starts it again by itself, whatever becomes of the worker.
    this.#memory.quarantine.hold(key, 'killed');
    if (!(await this.#cut(run, 'kill')))
      throw new CodedError(
        'mux_unavailable',
        `the worker ${run.mux_session} could not be seen to end; look at it with \`svc attach ${id}\``,
        { details: { fiber_id: id } },
      );
    const killed = { mux_session: muxSessionOf(run), ...appIdentity(run) };
    this.#killed.set(key, killed);
    return { killed: true, fiber_id: id, ...killed };
  }

  /** What `dispatch` would do now: every check, no effect, and a refusal is noted nowhere. */
  async rehearse(request: DispatchRequest): Promise<Rehearsal | Refused> {
    await this.#requireAdopted();
    const directory = requestedDirectory(request.project_dir);
    const document = this.#fresh(request.fiber_id);
    const key = keyOf(document);
    if (this.#launcher.underWay(key) !== undefined)
      return rehearsal(`start nothing: a worker of ${document.id} is being started already`);
    const running = this.#memory.runs.get(key);
    if (
      running !== undefined &&
      !needsLaunch(running, request) &&
      !this.#world.documents.isAmbiguous(document)
    )
      return rehearsal(`start nothing: the worker ${workerName(running)} of ${document.id} runs already`);
    const rehearsed = await this.#launcher.rehearse(
      document,
      this.#authorityOf(request, document),
      directory,
    );
    return 'dry_run' in rehearsed ? rehearsed : refusedReply(this.#world.host, document, rehearsed.refusal);
  }

  /** What `kill` would do now. */
  async rehearseKill(fiber_id: string): Promise<Rehearsal> {
    await this.#requireAdopted();
    const { key, id } = this.#killable(fiber_id);
    const run = this.#memory.runs.get(key);
    if (run !== undefined) {
      const document = this.#world.documents.of(run);
      const written =
        document === undefined
          ? null
          : await this.#world.documents.rehearse(document, (current) =>
              concludedBy(current, run, this.#world.clock.now()),
            );
      return {
        ...(written === null || written.diff === '' ? rehearsal('') : rehearsedWrite('conclude', written)),
        would: `end the worker ${workerName(run)} of ${id} and hold the fiber`,
        ends: [workerName(run)],
      };
    }
    const ended = this.#killed.get(key);
    if (ended === undefined)
      throw new CodedError('no_worker', `nothing runs for ${id}`, { details: { fiber_id: id } });
    return rehearsal(`end nothing: the worker of ${id} was ended already`);
  }

  /** Why the poller does not start this fiber now; `look` also asks what reaches outside the daemon (DSP-4). */
  why(fiber_id: string, options: { look: boolean }): Promise<Why> {
    const document = this.#fresh(fiber_id);
    return explainFiber(this.#world, this.#memory, document, {
      ...options,
      mux_detail: this.#listing.kind === 'unknown' ? this.#listing.detail : null,
      waits_since: this.#turns.since(keyOf(document)),
    });
  }

  /** Resolves when no launch is under way. */
  launchesSettled(): Promise<void> {
    return this.#launcher.settled();
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
    const pending = this.pending();
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
    this.#stopped = true;
    await this.#launcher.settled();
    await this.#reconciling.run(async () => {});
  }

  /** Launches what is due; with a bound on the workers, whoever has waited longest goes first. */
  async #launchAmong(moved: readonly FiberDocument[]): Promise<void> {
    if (!this.#memory.mux_answers) return;
    const bounded = this.#memory.most_workers !== null;
    // Who has just moved must not overtake who waits already.
    const documents = bounded ? [...this.#world.documents.all()] : moved;
    if (bounded) this.#noteTurns(documents);
    const tried = new Set<string>();
    for (;;) {
      const due = documents.filter((document) => !tried.has(document.path) && this.#isEligible(document));
      if (due.length === 0 || this.#stopped) return;
      const places = (this.#memory.most_workers ?? Number.POSITIVE_INFINITY) - workerCount(this.#memory);
      const chosen = bounded ? this.#turns.inOrder(due).slice(0, places) : due;
      if (chosen.length === 0) return;
      for (const document of chosen) tried.add(document.path);
      const next = chosen[Symbol.iterator]();
      const lane = async () => {
        for (const document of next) if (!this.#stopped) await this.#launchByPoll(document);
      };
      await Promise.all(Array.from({ length: LAUNCHES_AT_ONCE }, lane));
    }
  }

  #noteTurns(documents: readonly FiberDocument[]): void {
    const waiting = documents.filter(
      (document) =>
        document.svc !== undefined &&
        waitsForPlace(document, eligibilityFacts(this.#world, this.#memory, document)),
    );
    this.#turns.note(waiting, this.#world.clock.now());
  }

  #isEligible(document: FiberDocument): boolean {
    if (document.svc === undefined) return false;
    return judgeEligibility(document, eligibilityFacts(this.#world, this.#memory, document)).eligible;
  }

  /** The row may be older than its file and than what happened since it was judged, so both are looked at again. */
  async #launchByPoll(judged: FiberDocument): Promise<void> {
    let document: FiberDocument | undefined;
    try {
      document = this.#world.documents.reread(judged);
    } catch (error) {
      // The store does not answer: the next listing says so.
      if (isCoded(error, 'store_unavailable')) return;
      throw error;
    }
    if (document === undefined || !this.#isEligible(document)) return;
    const due = dueOf(this.#world, document);
    const owed = owedStart(this.#memory, document);
    const occurrence = owed === null && due?.kind === 'due' ? due.occurrence : null;
    await this.#launcher.launch(document, {
      kind: 'poll',
      occurrence,
      user_message: owed?.user_message ?? null,
    });
  }

  /** A fiber that was paused before this daemon started is shown as blocked all the same. */
  #showPaused(document: FiberDocument): void {
    const key = keyOf(document);
    if (document.svc?.host !== this.#world.host || this.#memory.refusals.get(key) !== undefined) return;
    if (this.#memory.runs.get(key) !== undefined || document.status !== 'active') return;
    blockWhenPaused(this.#world, this.#memory, key, document.id);
  }

  /** Fibers that a usage limit keeps back are shown as blocked; true when the row moved. */
  #showLimit(document: FiberDocument): boolean {
    if (document.svc?.host !== this.#world.host) return false;
    const shown = this.#memory.refusals.get(keyOf(document))?.reason === 'usage_limit';
    if (this.#memory.limits.isEmpty && !shown) return false;
    const verdict = judgeEligibility(document, eligibilityFacts(this.#world, this.#memory, document));
    return showLimit(
      this.#world,
      this.#memory,
      document,
      keyOf(document),
      verdict.eligible ? null : verdict.gate,
    );
  }

  /** `POST /sessions/resume` (WPL-22); `lines` are what the sessions ledger has of the session. */
  async resumeSession(request: { session: string; lines: readonly SessionLine[] }): Promise<ResumedSession> {
    await this.#requireAdopted();
    return openPastSession(this.#world, this.#memory, this.captures, request);
  }

  /** What `resumeSession` would do now. */
  async rehearseResume(request: { session: string; lines: readonly SessionLine[] }): Promise<Rehearsal> {
    await this.#requireAdopted();
    return rehearsePastSession(this.#world, this.#memory, this.captures, request);
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

  /** Ends a run on request; false when it could not be seen to end. */
  async #cut(run: Run, reason: 'kill' | 'forced_start'): Promise<boolean> {
    if (isAppRun(run)) {
      await this.#apps.release(run, reason);
      this.#onMoved([run.key]);
      return true;
    }
    const at = this.#world.clock.now();
    run.ending = { reason, at };
    if (!run.stray) this.#world.launches.writeEnd(run.launch_id, reason, at);
    await endWorker(this.#world, run);
    await this.reconcile();
    const ended = this.#memory.runs.get(run.key)?.launch_id !== run.launch_id;
    if (!ended) {
      run.ending = null;
      if (reason === 'forced_start' && !run.stray) this.#world.launches.withdrawForcedStart(run.launch_id);
    }
    return ended;
  }

  #fresh(fiber_id: string): FiberDocument {
    const known = this.#world.documents.find(fiber_id);
    const document = this.#world.documents.reread(known);
    if (document === undefined)
      throw new CodedError('fiber_not_found', `${known.id} is no longer in ${known.store}`);
    return document;
  }

  /** A worker can be ended although its document is gone. */
  #killable(reference: string): { key: string; id: string } {
    try {
      const document = this.#world.documents.find(reference);
      return { key: keyOf(document), id: document.id };
    } catch (error) {
      const run = this.#memory.runs
        .all()
        .find((one) => one.fiber_id === reference || one.uid === reference.toUpperCase());
      if (run === undefined || !isCoded(error, 'fiber_not_found')) throw error;
      return { key: run.key, id: run.fiber_id };
    }
  }

  #authorityOf(request: DispatchRequest, document: FiberDocument): Extract<Authority, { kind: 'request' }> {
    const said = request.user_message?.trim() ? request.user_message : null;
    return {
      kind: 'request',
      force: request.force === true,
      user_message: said ?? owedStart(this.#memory, document)?.user_message ?? null,
      resume_mode: request.resume_mode ?? null,
      despite_brake: request.despite_brake === true,
    };
  }

  #reply(document: FiberDocument, result: LaunchResult, joined: boolean): Dispatched | Refused {
    if (result.kind === 'launched') return dispatchedReply(this.#world.host, result.run, joined);
    const refusal =
      result.kind === 'refused'
        ? result.refusal
        : { reason: 'conflict', message: `${document.id} was changed while it was being started; try again` };
    return refusedReply(this.#world.host, document, refusal);
  }
}

/** A request that starts something although the fiber has a run: to cut it, to finish its start, or to replace what is gone. */
function needsLaunch(running: Run, request: DispatchRequest): boolean {
  return request.force === true || isReserved(running) || running.app?.missing === true;
}
