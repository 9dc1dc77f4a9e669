import { CodedError, messageOf } from '../base/errors.ts';
import { Mutex } from '../base/mutex.ts';
import type { FiberDocument } from '../contract/fiber.ts';
import type { Dispatched, DispatchRequest, Killed, Refused, Released } from '../contract/http/dispatch.ts';
import type { MuxListing } from '../mux/mux.ts';
import { isPendingLaunch, judgeEligibility } from './eligibility.ts';
import { endWorker } from './end-worker.ts';
import { checkLaunch, type LaunchResult, planRun, startRun } from './launch.ts';
import { dueOf, eligibilityFacts, keyOf, type Memory } from './memory.ts';
import { Reconciler } from './reconcile.ts';
import type { Refusal } from './refusals.ts';
import { requestedDirectory } from './requested-directory.ts';
import type { Authority } from './run-id.ts';
import type { Run } from './runs.ts';
import { confirmStart } from './start-watch.ts';
import type { World } from './world.ts';

/** Launches under way at the same time; a start costs tmux a few milliseconds. */
const LAUNCHES_AT_ONCE = 4;

/** Refusals that the dispatch API reports as `arm_refused`, because a person can resend with a directory (WPL-1). */
const NEEDS_DIRECTORY = 'arm_refused';

/**
 * The dispatch state machine: reads the documents and the world, asks the kernels, applies what they say.
 * One instance lives on the poller thread; `onMoved` is told the keys of fibers whose rows may have changed.
 */
export class Dispatcher {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #reconciler: Reconciler;
  readonly #onMoved: (keys: Iterable<string>) => void;
  #launches = new Map<string, Promise<LaunchResult>>();
  #reconciling = new Mutex();
  #armed = new Set<string>();
  #listing: MuxListing = { kind: 'unknown', detail: 'not asked yet' };

  constructor(world: World, memory: Memory, onMoved: (keys: Iterable<string>) => void) {
    this.#world = world;
    this.#memory = memory;
    this.#reconciler = new Reconciler(world, memory);
    this.#onMoved = onMoved;
  }

  /** What the multiplexer answered last. */
  get listing(): MuxListing {
    return this.#listing;
  }

  /** Holds the known runs against the world: ends, adoptions, workers that do not answer. */
  reconcile(): Promise<void> {
    return this.#reconciling.run(async () => {
      // A listing says nothing of a worker that was started after it was asked for.
      const started = this.#memory.runs.all().filter((run) => run.state !== 'claimed');
      this.#listing = await this.#world.mux.list();
      const moved = await this.#reconciler.reconcile(this.#listing, started);
      if (moved.size > 0) this.#onMoved(moved);
    });
  }

  /** True when some recorded process has ended without the multiplexer having said so. */
  async someProcessEnded(): Promise<boolean> {
    for (const run of this.#memory.runs.all()) {
      const agent = this.#world.launches.agent(run.launch_id);
      if (agent.kind === 'found' && (await this.#world.processes.look(agent.value)) === 'gone') return true;
    }
    return false;
  }

  /** One round of DSP-2 over all documents: launches what is due, notes what waits. */
  async launchDue(): Promise<void> {
    const due: FiberDocument[] = [];
    for (const document of this.#world.documents.all()) {
      if (document.svc === undefined) continue;
      this.#noteArming(document);
      if (judgeEligibility(document, eligibilityFacts(this.#world, this.#memory, document)).eligible)
        due.push(document);
    }
    if (!this.#reconciler.adopted || this.#listing.kind === 'unknown') return;
    const next = due[Symbol.iterator]();
    const lane = async () => {
      for (const document of next) await this.#launchByPoll(document);
    };
    await Promise.all(Array.from({ length: LAUNCHES_AT_ONCE }, lane));
  }

  /** Fibers that only a hold keeps from being launched, oldest hold first. */
  pending(): { document: FiberDocument; since: number; reason: string }[] {
    const now = this.#world.clock.now();
    const waiting = [];
    for (const document of this.#world.documents.all()) {
      if (document.svc === undefined) continue;
      const facts = eligibilityFacts(this.#world, this.#memory, document);
      if (!isPendingLaunch(document, facts) || facts.held === null) continue;
      waiting.push({
        document,
        since: this.#memory.quarantine.since(keyOf(document), now),
        reason: facts.held,
      });
    }
    return waiting.sort((a, b) => a.since - b.since);
  }

  /** `POST /dispatch`: all checks before any effect; a refusal is a value (WPL-1). */
  async dispatch(request: DispatchRequest): Promise<Dispatched | Refused> {
    const document = this.#fresh(request.fiber_id);
    const key = keyOf(document);
    const underWay = this.#launches.get(key);
    if (underWay !== undefined) return this.#reply(document, await underWay, true);
    const running = this.#memory.runs.get(key);
    if (running !== undefined && request.force !== true) return this.#dispatched(running, true);
    const authority: Authority = {
      kind: 'request',
      force: request.force === true,
      user_message: request.user_message?.trim() ? request.user_message : null,
    };
    const result = await this.#launch(document, authority, requestedDirectory(request.project_dir));
    return this.#reply(document, result, false);
  }

  /** `POST /kill`: ends the worker and keeps the poller from starting it again; gone already is success (P5). */
  async kill(fiber_id: string): Promise<Killed> {
    const document = this.#world.documents.find(fiber_id);
    const key = keyOf(document);
    await this.#launches.get(key);
    const run = this.#memory.runs.get(key);
    if (run === undefined)
      throw new CodedError('no_worker', `nothing runs for ${document.id}`, {
        details: { fiber_id: document.id },
      });
    await this.#cut(run, 'kill');
    return { killed: true, fiber_id: document.id, mux_session: run.mux_session };
  }

  /** Lifts every hold; answers how many fibers may now be launched. */
  release(): Released {
    const pending = this.pending();
    this.#memory.quarantine.release(this.#world.clock.now());
    this.#onMoved(pending.map((one) => keyOf(one.document)));
    return { released: true, pending: pending.length };
  }

  /** Looks after workers whose start is not confirmed yet (P9). */
  async watchStarts(): Promise<void> {
    for (const run of this.#memory.runs.all()) {
      if (run.confirmed || run.state === 'claimed') continue;
      if ((await confirmStart(this.#world, run)) === 'confirmed') {
        if (run.state === 'starting') run.state = 'running';
        this.#memory.refusals.clear(run.key, 'startup_unconfirmed');
        this.#onMoved([run.key]);
      } else await this.#noteUnconfirmed(run);
    }
  }

  /** Brings `last_activity_at` of confirmed workers up to date from their transcripts. */
  async watchActivity(): Promise<void> {
    for (const run of this.#memory.runs.all()) {
      if (!run.confirmed || run.transcript_path === null) continue;
      const before = run.last_activity_at;
      await confirmStart(this.#world, run);
      if (run.last_activity_at !== before) this.#onMoved([run.key]);
    }
  }

  /** Resolves when no launch is under way any more. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#launches.values()]);
  }

  #noteArming(document: FiberDocument): void {
    const key = keyOf(document);
    if (document.status === 'active') this.#armed.add(key);
    else if (this.#armed.delete(key)) {
      this.#memory.quarantine.forget(key);
      this.#memory.refusals.clear(key);
      this.#onMoved([key]);
    }
  }

  async #launchByPoll(document: FiberDocument): Promise<void> {
    const due = dueOf(this.#world, document);
    const occurrence = due?.kind === 'due' ? due.occurrence : null;
    if (this.#launches.has(keyOf(document))) return;
    try {
      await this.#launch(document, { kind: 'poll', occurrence }, undefined);
    } catch (error) {
      this.#world.logger.error({ err: error, fiber: document.id }, 'a launch failed');
    }
  }

  /** The one way to a worker: claimed synchronously, so that two callers can never both start one (P13). */
  #launch(
    document: FiberDocument,
    authority: Authority,
    directory: string | undefined,
  ): Promise<LaunchResult> {
    const key = keyOf(document);
    const launch = this.#launchClaimed(document, authority, directory).finally(() => {
      this.#launches.delete(key);
      this.#memory.launching.delete(key);
      this.#onMoved([key]);
    });
    this.#launches.set(key, launch);
    this.#memory.launching.add(key);
    return launch;
  }

  async #launchClaimed(
    document: FiberDocument,
    authority: Authority,
    directory: string | undefined,
  ): Promise<LaunchResult> {
    const key = keyOf(document);
    const refused = this.#refuseForeign(document);
    const checked =
      refused === null
        ? await checkLaunch(this.#world, document, directory)
        : { kind: 'refused' as const, refusal: refused };
    if (checked.kind === 'refused') return this.#refuse(document, checked.refusal);
    await this.#world.harness.probe(checked.agent);
    const planned = planRun(this.#world, document, checked, authority);
    const earlier = this.#memory.runs.get(key);
    if (earlier !== undefined) {
      if (authority.kind === 'poll') return this.#refuse(document, alreadyRuns(earlier));
      await this.#cut(earlier, 'forced_start');
    }
    this.#memory.runs.claim(planned.run);
    let result: LaunchResult;
    try {
      result = await startRun(this.#world, document, planned, authority);
    } catch (error) {
      this.#memory.runs.release(planned.run);
      return this.#refuse(document, { reason: 'launch_failed', message: messageOf(error) });
    }
    if (result.kind === 'refused') {
      this.#memory.runs.release(planned.run);
      return this.#refuse(document, result.refusal);
    }
    this.#memory.refusals.clear(key);
    this.#memory.quarantine.sawRunning(key);
    if (authority.kind === 'request') this.#memory.breaker.clear(key);
    this.#world.logger.info(
      {
        fiber: document.id,
        session: planned.run.mux_session,
        run: planned.run.run_id,
        agent: planned.run.agent,
      },
      'started a worker',
    );
    return result;
  }

  #refuse(document: FiberDocument, refusal: Refusal): LaunchResult {
    const now = this.#world.clock.now();
    const retry_at = now + this.#world.settings.preflight_cooldown_ms;
    this.#memory.refusals.record(keyOf(document), refusal, now, retry_at);
    this.#world.logger.warn(
      { fiber: document.id, reason: refusal.reason, detail: refusal.message },
      'refused to start a worker',
    );
    return { kind: 'refused', refusal };
  }

  #refuseForeign(document: FiberDocument): Refusal | null {
    const owner = document.svc?.host;
    if (owner === undefined || owner === this.#world.host) return null;
    return {
      reason: 'arm_refused',
      message: `${document.id} belongs to host ${owner}, and this is ${this.#world.host}; dispatch it there`,
    };
  }

  /** Ends a run on request and sees it gone. */
  async #cut(run: Run, reason: 'kill' | 'forced_start'): Promise<void> {
    this.#world.launches.writeEnd(run.launch_id, reason, this.#world.clock.now());
    await endWorker(this.#world, run);
    await this.reconcile();
    if (this.#memory.runs.get(run.key)?.launch_id === run.launch_id)
      throw new CodedError(
        'mux_unavailable',
        `the worker ${run.mux_session} could not be seen to end; look at it with \`svc attach ${run.fiber_id}\``,
      );
  }

  async #noteUnconfirmed(run: Run): Promise<void> {
    const now = this.#world.clock.now();
    if (now - run.started_at < this.#world.settings.startup_confirm_ms) return;
    if (this.#memory.refusals.get(run.key)?.reason === 'startup_unconfirmed') return;
    const session =
      this.#listing.kind === 'alive'
        ? this.#listing.sessions.find((one) => one.name === run.mux_session)
        : undefined;
    const screen = session === undefined ? null : await this.#world.mux.capture(session);
    if (screen !== null) this.#world.launches.writeScreen(run.launch_id, screen);
    this.#memory.refusals.record(
      run.key,
      {
        reason: 'startup_unconfirmed',
        message: `${run.agent} wrote no transcript within ${Math.round(this.#world.settings.startup_confirm_ms / 1000)} s of its start; a dialog may be waiting: \`svc attach ${run.fiber_id}\``,
        ...(screen === null ? {} : { screen }),
      },
      now,
      null,
    );
    this.#onMoved([run.key]);
  }

  #fresh(fiber_id: string): FiberDocument {
    const known = this.#world.documents.find(fiber_id);
    const document = this.#world.documents.reread(known);
    if (document === undefined)
      throw new CodedError('fiber_not_found', `${known.id} is no longer in ${known.store}`);
    return document;
  }

  #reply(document: FiberDocument, result: LaunchResult, joined: boolean): Dispatched | Refused {
    if (result.kind === 'launched') return this.#dispatched(result.run, joined);
    const { refusal } = result;
    return {
      dispatched: false,
      reason: refusal.needs === undefined ? refusal.reason : NEEDS_DIRECTORY,
      fiber_id: document.id,
      host: this.#world.host,
      message: refusal.message,
      ...(refusal.needs === undefined ? {} : { needs: refusal.needs }),
    };
  }

  #dispatched(run: Run, already_running: boolean): Dispatched {
    return {
      dispatched: true,
      already_running,
      fiber_id: run.fiber_id,
      host: this.#world.host,
      surface: run.surface,
      mux_session: run.mux_session,
      session_uuid: run.session_uuid,
      run_id: run.run_id,
      agent: run.agent,
      harness: run.harness,
    };
  }
}

function alreadyRuns(run: Run): Refusal {
  return { reason: 'session_name_taken', message: `${run.mux_session} already runs` };
}
