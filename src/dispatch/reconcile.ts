import type { MuxListing, MuxSession } from '../mux/mux.ts';
import { parseWorkerSessionName } from '../mux/session-name.ts';
import { concludeRole } from './conclude.ts';
import { recordDispatch } from './launch.ts';
import type { LaunchEnd } from './launches.ts';
import { agentFact, assessLiveness, type Liveness } from './liveness.ts';
import { keyOf, type Memory } from './memory.ts';
import type { RunManifest } from './run-records.ts';
import type { Run } from './runs.ts';
import { planWorkerEnd } from './worker-end.ts';
import type { World } from './world.ts';

/** How long a launch may take from its claim to a recorded agent, in milliseconds. */
const STARTUP_MS = 10_000;
/** How long the run script may take to write how it ended, in milliseconds. */
const EXIT_FILE_GRACE_MS = 1_000;
const EXIT_FILE_STEP_MS = 25;

/** Holds the runs in memory against the world; every effect of a worker's end is here. */
export class Reconciler {
  readonly #world: World;
  readonly #memory: Memory;
  /** Launch ids whose end is being handled. */
  #ending = new Set<string>();
  #adopted = false;

  constructor(world: World, memory: Memory) {
    this.#world = world;
    this.#memory = memory;
  }

  /** False until a first listing was understood: before that nothing may be launched. */
  get adopted(): boolean {
    return this.#adopted;
  }

  /**
   * One pass over the runs that had been started before the listing was asked for, and over its sessions.
   * Answers the keys of the fibers whose rows may have moved.
   */
  async reconcile(listing: MuxListing, started: readonly Run[]): Promise<Set<string>> {
    const moved = new Set<string>();
    const known = [...started];
    if (listing.kind !== 'unknown' && !this.#adopted) {
      for (const manifest of this.#world.launches.open()) {
        const adopted = await this.#adopt(manifest, listing, moved);
        if (adopted !== null) known.push(adopted);
      }
      this.#adopted = true;
    }
    for (const run of known) await this.#look(run, listing, moved);
    if (listing.kind === 'alive') {
      for (const session of listing.sessions) this.#adoptStray(session, moved);
    }
    return moved;
  }

  async #look(run: Run, listing: MuxListing, moved: Set<string>): Promise<void> {
    const before = run.state;
    const life = await this.#lifeOf(run, listing);
    if (life.kind === 'ended') {
      await this.#end(run, listing.kind === 'absent');
      moved.add(run.key);
      return;
    }
    run.state = life.kind === 'unknown' ? 'unknown' : run.confirmed ? 'running' : 'starting';
    if (run.state !== before) moved.add(run.key);
  }

  /** What the world says of one run now. */
  async #lifeOf(
    run: Pick<Run, 'launch_id' | 'mux_session' | 'started_at'>,
    listing: MuxListing,
    claim: Pick<RunManifest, 'state' | 'boot_id'> = { state: 'spawned', boot_id: this.#world.bootId },
  ): Promise<Liveness> {
    const agent = this.#world.launches.agent(run.launch_id);
    const life = agent.kind === 'found' ? await this.#world.processes.look(agent.value) : null;
    return assessLiveness({
      listing,
      manifest: { mux_session: run.mux_session, dispatched_at: run.started_at, ...claim },
      boot_id: this.#world.bootId,
      agent: agentFact(agent, life),
      exit: this.#world.launches.readEnd(run.launch_id).exit,
      now: this.#world.clock.now(),
      startup_ms: STARTUP_MS,
    });
  }

  /** Answers the run when it is ours to watch or to settle. */
  async #adopt(manifest: RunManifest, listing: MuxListing, moved: Set<string>): Promise<Run | null> {
    const run = runOf(manifest);
    const life = await this.#lifeOf(run, listing, { state: 'spawned', boot_id: manifest.boot_id });
    const neverStarted = manifest.state === 'claimed' && life.kind === 'ended' && !this.#left(manifest);
    if (neverStarted) {
      this.#close(manifest.launch_id);
      this.#log(run, 'a claim of an earlier daemon was never started');
      return null;
    }
    if (!this.#memory.runs.claim(run)) {
      this.#close(manifest.launch_id);
      return null;
    }
    moved.add(run.key);
    if (manifest.state === 'claimed') {
      recordDispatch(this.#world, run);
      this.#world.launches.update(run.launch_id, { state: 'spawned' });
    }
    if (life.kind === 'ended') return run;
    this.#memory.quarantine.sawRunning(run.key);
    run.state = life.kind === 'unknown' ? 'unknown' : 'starting';
    this.#log(run, 'adopted a running worker');
    return run;
  }

  /** True when the claimed launch has left any trace of having been started. */
  #left(manifest: RunManifest): boolean {
    const { exit } = this.#world.launches.readEnd(manifest.launch_id);
    return exit.kind !== 'none' || this.#world.launches.agent(manifest.launch_id).kind !== 'none';
  }

  /** A session with a worker's name and no run directory of ours: somebody’s worker all the same. */
  #adoptStray(session: MuxSession, moved: Set<string>): void {
    const named = parseWorkerSessionName(session.name);
    if (named === null || session.pane_dead) return;
    const document = this.#world.documents.byUid(named.uid);
    if (document?.svc?.host !== this.#world.host) return;
    const key = keyOf(document);
    if (this.#memory.launching.has(key) || this.#memory.runs.get(key) !== undefined) return;
    const agent = this.#world.harness.agent(null);
    const run: Run = {
      key,
      fiber_id: document.id,
      uid: named.uid,
      store: document.store,
      path: document.path,
      launch_id: `stray-${session.created_at}-${named.uid}`,
      run_id: document.svc.runtime?.run_id ?? `stray-${session.created_at}`,
      mux_session: session.name,
      agent: document.svc.agent ?? agent.id,
      harness: agent.harness,
      session_uuid: document.svc.runtime?.session_uuid ?? null,
      surface: 'cli',
      project_dir: document.project_dir ?? '',
      started_at: session.created_at,
      state: 'running',
      confirmed: true,
      transcript_path: null,
      last_activity_at: null,
    };
    this.#memory.runs.claim(run);
    this.#memory.quarantine.sawRunning(key);
    moved.add(key);
    this.#log(run, 'adopted a worker session that has no run directory');
  }

  async #end(run: Run, server_absent: boolean): Promise<void> {
    if (this.#ending.has(run.launch_id)) return;
    this.#ending.add(run.launch_id);
    try {
      await this.#settle(run, server_absent);
    } catch (error) {
      // The run stays in memory, so the fiber stays occupied and the next pass tries again.
      this.#world.logger.error(
        { err: error, fiber: run.fiber_id, session: run.mux_session },
        'a worker’s end could not be settled',
      );
    } finally {
      this.#ending.delete(run.launch_id);
    }
  }

  async #settle(run: Run, server_absent: boolean): Promise<void> {
    const world = this.#world;
    const launch = await this.#awaitEnd(run.launch_id);
    const known = world.documents.byUid(run.uid);
    const document = known === undefined ? undefined : world.documents.reread(known);
    const now = world.clock.now();
    const plan = planWorkerEnd({ run, document, launch, server_absent, now });
    if (plan.conclude && document !== undefined) await concludeRole(world, document, run, now);
    this.#memory.breaker.record(run.key, plan.breaker, now);
    if (plan.hold !== null) this.#memory.quarantine.hold(run.key, plan.hold);
    this.#memory.refusals.clear(run.key, 'startup_unconfirmed');
    this.#blockWhenPaused(run, now);
    this.#close(run.launch_id);
    this.#memory.runs.release(run);
    this.#log(run, 'a worker ended', {
      reason: plan.reason,
      code: launch.exit.kind === 'found' ? launch.exit.value.code : null,
    });
  }

  #blockWhenPaused(run: Run, now: number): void {
    const paused_until = this.#memory.breaker.pausedUntil(run.key, now);
    if (paused_until === null) return;
    const screen = this.#world.launches.readScreen(run.launch_id);
    const deaths = this.#memory.breaker.deaths(run.key);
    this.#memory.refusals.record(
      run.key,
      {
        reason: 'loop_breaker',
        message: `${deaths} workers in a row died soon after their start; \`svc dispatch ${run.fiber_id} --force\` tries again at once`,
        ...(screen === null ? {} : { screen }),
      },
      now,
      paused_until,
    );
  }

  /** The session can be gone a moment before its run script’s last word is on disk. */
  async #awaitEnd(launch_id: string): Promise<LaunchEnd> {
    const until = this.#world.clock.now() + EXIT_FILE_GRACE_MS;
    for (;;) {
      const end = this.#world.launches.readEnd(launch_id);
      if (end.exit.kind === 'found' || this.#world.launches.agent(launch_id).kind === 'none') return end;
      if (this.#world.clock.now() >= until) return end;
      await new Promise<void>((resolve) => {
        this.#world.clock.after(EXIT_FILE_STEP_MS, resolve);
      });
    }
  }

  #close(launch_id: string): void {
    this.#world.launches.update(launch_id, { state: 'ended', ended_at: this.#world.clock.now() });
  }

  #log(run: Run, message: string, more: Record<string, unknown> = {}): void {
    this.#world.logger.info(
      { fiber: run.fiber_id, session: run.mux_session, run: run.run_id, ...more },
      message,
    );
  }
}

function runOf(manifest: RunManifest): Run {
  return {
    key: manifest.uid,
    fiber_id: manifest.fiber,
    uid: manifest.uid,
    store: manifest.store,
    path: manifest.path,
    launch_id: manifest.launch_id,
    run_id: manifest.run_id,
    mux_session: manifest.mux_session,
    agent: manifest.agent,
    harness: manifest.harness,
    session_uuid: manifest.session_uuid,
    surface: manifest.surface,
    project_dir: manifest.project_dir,
    started_at: manifest.dispatched_at,
    state: 'unknown',
    confirmed: false,
    transcript_path: null,
    last_activity_at: null,
  };
}
