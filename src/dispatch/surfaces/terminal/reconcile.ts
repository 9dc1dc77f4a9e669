import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { SURFACE_RULES } from '../../../contract/surface.ts';
import type { MuxListing, MuxServer } from '../../../mux/mux.ts';
import { addressOf } from '../../../mux/mux-listing.ts';
import { isUnfinished, type UnfinishedClaims } from '../../claims/unfinished-claims.ts';
import { type SeenEnd, Settler } from '../../end/settle.ts';
import { planWorkerEnd } from '../../end/worker-end.ts';
import { isWaiting, type Loss, serverOf } from '../../holds/incidents.ts';
import { cameAbout, type Memory } from '../../holds/memory.ts';
import { recallOwed } from '../../holds/owed-starts.ts';
import { agentFact, assessLiveness, type Liveness, paneOfRun } from '../../run/liveness.ts';
import { moveRun, type Run } from '../../run/run.ts';
import { recordDispatch } from '../../run/run-ledger.ts';
import { isStarted, shownState } from '../../run/run-state.ts';
import { runOfManifest } from '../../run/runs.ts';
import type { RunManifest } from '../../run-directory/run-records.ts';
import type { World } from '../../world/world.ts';
import { givenUpRuns, sessionsNotOurs } from './adopt.ts';

/** How long a start may take from its claim to a recorded agent, in milliseconds. */
const STARTUP_MS = 10_000;

/** One pass: what the multiplexer said, and a way to ask it once more. */
type Pass = {
  listing: MuxListing;
  server: () => Promise<MuxListing>;
  moved: Set<string>;
};

/** A run that has ended, as it was seen; `cause` where it went down with its server or its machine. */
type End = { run: Run; seen: SeenEnd; cause: Loss['cause'] | null };

/** Compares the runs in memory with the sessions of the multiplexer. */
export class Reconciler {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #settler: Settler;
  readonly #claims: UnfinishedClaims;
  /** Launch ids of an earlier daemon, until they are seen to live. */
  #found = new Set<string>();
  #recalled = false;

  constructor(world: World, memory: Memory, claims: UnfinishedClaims) {
    this.#world = world;
    this.#memory = memory;
    this.#claims = claims;
    this.#settler = new Settler(world, memory);
  }

  /** False until a first listing was understood: before that nothing may be started. */
  get adopted(): boolean {
    return this.#memory.adopted;
  }

  /**
   * One pass over the runs that had been started before the listing was asked for, and over its sessions.
   * Answers the keys of the fibers whose rows may have moved.
   */
  async reconcile(listing: MuxListing, started: readonly Run[]): Promise<Set<string>> {
    const pass: Pass = { listing, server: this.#askOnce(listing), moved: new Set() };
    const known = new Set(started);
    if (!this.#memory.adopted) {
      const manifests = this.#world.runDirectories.all();
      if (!this.#recalled) this.#recallDeaths(manifests, pass);
      if (listing.kind !== 'unknown') {
        for (const run of this.#adoptRecorded(manifests, pass)) known.add(run);
        this.#memory.adopted = true;
      }
    }
    // App conversations are compared with their server, not with the multiplexer.
    const ours = [...known].filter((run) => SURFACE_RULES[run.surface].in_terminal);
    const looked = await Promise.all(ours.map((run) => this.#look(run, pass)));
    await this.#settleAll(looked.filter((end) => end !== null));
    if (listing.kind !== 'unknown') await this.#adoptSessions(listing, pass);
    for (const key of await this.#settler.concludePending()) pass.moved.add(key);
    this.#dropSettled();
    return pass.moved;
  }

  /** Whether the server is there, asked again at most once: a listing can be older than a server's end. */
  #askOnce(listing: MuxListing): Pass['server'] {
    let asked: Promise<MuxListing> | null = null;
    return () => {
      if (listing.kind !== 'alive') return Promise.resolve(listing);
      asked ??= this.#world.mux.list();
      return asked;
    };
  }

  /** The end of a run that is to be settled; null for one that goes on, or that nothing is known of yet. */
  async #look(run: Run, pass: Pass): Promise<End | null> {
    const life = await this.#lifeOf(run, pass.listing);
    if (isUnfinished(run) && !(await this.#finishClaim(run, life, pass))) return null;
    if (life.kind === 'ended') return this.#lookAtEnd(run, life.why === 'rebooted', pass);
    if (life.kind === 'alive') this.#followPane(run, pass);
    this.#lives(run, life, pass);
    return null;
  }

  /**
   * A worker whose session was renamed, or whose pane was moved into another session, is shown and ended there; on disk too,
   * for the next daemon.
   */
  #followPane(run: Run, pass: Pass): void {
    const found = paneOfRun(run, pass.listing);
    const address = found === undefined ? null : addressOf(found.pane);
    if (found === undefined || address === null) return;
    if (run.pane?.id !== address.id) pass.moved.add(run.key);
    run.pane = address;
    const { name } = found.session;
    if (name === run.mux_session) return;
    const before = run.mux_session;
    run.mux_session = name;
    this.#world.runDirectories.update(run.launch_id, { mux_session: name });
    pass.moved.add(run.key);
    this.#log(run, 'followed a renamed session', { before });
  }

  /** False when there is no such run any more, or it cannot be told yet whether there is to be one. */
  async #finishClaim(run: Run, life: Liveness, pass: Pass): Promise<boolean> {
    if (life.kind !== 'alive' && life.kind !== 'ended') return true;
    const outcome = await (life.kind === 'alive' ? this.#claims.make(run) : this.#claims.drop(run));
    if (outcome !== 'waits') pass.moved.add(run.key);
    else moveRun(run, { kind: 'looked', answers: life.kind === 'alive' });
    return outcome === 'made';
  }

  #lives(run: Run, life: Exclude<Liveness, { kind: 'ended' }>, pass: Pass): void {
    const before = shownState(run.state);
    if (!isStarted(run.state) && life.kind === 'alive') cameAbout(this.#world, this.#memory, run);
    const { listing } = pass;
    if (listing.kind === 'alive' && listing.server !== undefined && life.kind === 'alive')
      if (paneOfRun(run, listing) !== undefined) this.#listedBy(run, listing.server);
    moveRun(run, { kind: 'looked', answers: life.kind !== 'unknown' });
    if (life.kind === 'alive' && this.#found.delete(run.launch_id)) {
      this.#memory.quarantine.sawRunning(run.key, run.launch_id);
      this.#world.runDirectories.withdrawForcedStart(run.launch_id);
      this.#log(run, 'adopted a running worker');
    }
    if (shownState(run.state) !== before) pass.moved.add(run.key);
  }

  /** On disk too: the next daemon must be able to tell that this server is gone, and another has taken its place. */
  #listedBy(run: Run, server: MuxServer): void {
    if (run.server?.pid === server.pid && run.server.started_at === server.started_at) return;
    run.server = server;
    this.#world.runDirectories.update(run.launch_id, { server });
  }

  /** What the world says of one run now. */
  async #lifeOf(run: Run, listing: MuxListing): Promise<Liveness> {
    const world = this.#world;
    const agent = world.runDirectories.agent(run.launch_id);
    const life = agent.kind === 'found' ? await world.processes.look(agent.value) : null;
    return assessLiveness({
      listing,
      pane: paneOfRun(run, listing)?.pane,
      manifest: {
        dispatched_at: run.started_at,
        state: isStarted(run.state) ? 'spawned' : 'claimed',
        boot_id: run.boot_id,
      },
      boot_id: world.bootId,
      agent: agentFact(agent, life),
      exit: world.runDirectories.readEnd(run.launch_id).exit,
      now: world.clock.now(),
      startup_ms: STARTUP_MS,
    });
  }

  /** How workers died is known also while the multiplexer does not answer. */
  #recallDeaths(manifests: readonly RunManifest[], pass: Pass): void {
    this.#recalled = true;
    this.#memory.deaths.recall(manifests);
    for (const { uid, death } of manifests) if (death) pass.moved.add(uid);
  }

  /** Takes up the starts that an earlier daemon left open; the newest of a fiber first. */
  #adoptRecorded(manifests: readonly RunManifest[], pass: Pass): Run[] {
    const runs: Run[] = [];
    recallOwed(this.#memory, manifests);
    for (const manifest of manifests.toReversed()) {
      if (manifest.state === 'ended') continue;
      const run = runOfManifest(manifest);
      if (manifest.ended_at !== null) {
        if (!this.#memory.unconcluded.has(run.key)) this.#memory.unconcluded.set(run.key, run);
        continue;
      }
      runs.push(run);
      pass.moved.add(run.key);
      if (this.#memory.runs.claim(run)) this.#found.add(run.launch_id);
    }
    return runs;
  }

  /** Workers of which no run in memory tells, and sessions that have only their names. */
  async #adoptSessions(listing: MuxListing, pass: Pass): Promise<void> {
    const { runDirectories } = this.#world;
    for (const run of await givenUpRuns(this.#world, this.#memory, listing)) {
      if (!this.#memory.runs.claim(run)) continue;
      this.#memory.quarantine.sawRunning(run.key, run.launch_id);
      pass.moved.add(run.key);
      runDirectories.withdrawForcedStart(run.launch_id);
      runDirectories.update(run.launch_id, { state: 'spawned', ended_at: null });
      this.#log(run, 'adopted a worker whose launch had been given up');
    }
    const before = this.#memory.not_ours;
    const now = sessionsNotOurs(this.#world, this.#memory, listing);
    for (const key of new Set([...before.keys(), ...now.keys()]))
      if (!isDeepStrictEqual(before.get(key), now.get(key))) pass.moved.add(key);
    this.#memory.not_ours = now;
  }

  async #lookAtEnd(run: Run, rebooted: boolean, pass: Pass): Promise<End | null> {
    pass.moved.add(run.key);
    try {
      const started = isStarted(run.state);
      if (!started && !this.#hasLeftTrace(run)) {
        await this.#settler.abandon(run);
        this.#log(run, 'a claim was never started');
        return null;
      }
      if (!started) recordDispatch(this.#world, run);
      const serverNow = async () => serverOf(run, await pass.server());
      const seen = await this.#settler.look(run, {
        rebooted,
        server: async () => {
          const server = await serverNow();
          return server === 'lost' || server === 'replaced' ? 'absent' : server;
        },
      });
      if (seen === null) {
        moveRun(run, { kind: 'looked', answers: false });
        return null;
      }
      const { reason } = planWorkerEnd(seen);
      if (reason === 'reboot') return { run, seen, cause: reason };
      if (reason !== 'server_lost') return { run, seen, cause: null };
      return { run, seen, cause: (await serverNow()) === 'replaced' ? 'server_replaced' : reason };
    } catch (error) {
      this.#reportUnsettled(run, error);
      return null;
    }
  }

  /** Each with its own writes, so that a request which comes meanwhile is answered between two of them. */
  async #settleAll(ends: readonly End[]): Promise<void> {
    const lost = ends.flatMap(({ run, cause }) => (cause === null ? [] : [{ run, cause }]));
    // Recorded first: of an end that is written already the next daemon would not tell (P2).
    this.#memory.incidents.record(lost, this.#world.clock.now(), () => this.#world.newUlid());
    this.#tellIncident(lost);
    const settling: Promise<void>[] = [];
    for (const end of ends) {
      if (settling.length > 0) await nextTurn();
      settling.push(this.#settle(end));
    }
    await Promise.all(settling);
  }

  async #settle({ run, seen, cause }: End): Promise<void> {
    try {
      const settled = await this.#settler.settle(run, seen);
      if (settled.reason === 'server_lost' || settled.reason === 'reboot') return;
      this.#log(run, 'a worker ended', settled);
      // A person has stopped it, or its handoff was read, after its loss was noted.
      if (cause !== null) this.#memory.incidents.drop(({ uid }) => uid === run.uid);
    } catch (error) {
      this.#reportUnsettled(run, error);
    }
  }

  /** The run stays in memory, so the fiber stays occupied and the next pass tries again. */
  #reportUnsettled(run: Run, error: unknown): void {
    this.#world.logger.error(
      { err: error, fiber: run.fiber_id, session: run.mux_session },
      'a worker’s end could not be settled',
    );
  }

  /** True when the claimed start has left any trace of having been started. */
  #hasLeftTrace(run: Run): boolean {
    const { exit } = this.#world.runDirectories.readEnd(run.launch_id);
    return exit.kind !== 'none' || this.#world.runDirectories.agent(run.launch_id).kind !== 'none';
  }

  /** Many deaths by one cause are one incident. */
  #tellIncident(lost: readonly Loss[]): void {
    if (lost.length === 0) return;
    this.#world.logger.warn(
      { fibers: lost.map(({ run }) => run.fiber_id), workers: lost.length },
      'workers went down with their tmux server or with the machine; none is started again by itself',
    );
  }

  /** What runs again, or was settled by a person, waits no more. */
  #dropSettled(): void {
    const { incidents, runs } = this.#memory;
    incidents.drop((fiber) => {
      const run = runs.get(fiber.uid);
      return (run !== undefined && isStarted(run.state)) || !isWaiting(this.#world, fiber);
    });
  }

  #log(run: Run, message: string, more: Record<string, unknown> = {}): void {
    this.#world.logger.info(
      { fiber: run.fiber_id, session: run.mux_session, run: run.run_id, ...more },
      message,
    );
  }
}
