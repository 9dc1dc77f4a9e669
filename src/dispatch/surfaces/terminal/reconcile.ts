import { SURFACE_RULES } from '../../../contract/surface.ts';
import type { MuxListing, MuxServer, MuxSession } from '../../../mux/mux.ts';
import { sessionNamed, sessionsOf } from '../../../mux/mux-listing.ts';
import { isUnfinished, type UnfinishedClaims } from '../../claims/unfinished-claims.ts';
import { Settler } from '../../end/settle.ts';
import { isWaiting, type Loss, serverOf } from '../../holds/incidents.ts';
import { cameAbout, type Memory } from '../../holds/memory.ts';
import { recallOwed } from '../../holds/owed-starts.ts';
import { agentFact, assessLiveness, type Liveness } from '../../run/liveness.ts';
import { moveRun, type Run } from '../../run/run.ts';
import { recordDispatch } from '../../run/run-ledger.ts';
import { isStarted, shownState } from '../../run/run-state.ts';
import { runOfManifest } from '../../run/runs.ts';
import type { World } from '../../world/world.ts';
import { recogniseSession } from './adopt.ts';

/** How long a start may take from its claim to a recorded agent, in milliseconds. */
const STARTUP_MS = 10_000;

/** One pass: what the multiplexer said, and a way to ask it once more. */
type Pass = {
  listing: MuxListing;
  server: () => Promise<MuxListing>;
  moved: Set<string>;
  lost: Loss[];
};

/** Compares the runs in memory with the sessions of the multiplexer. */
export class Reconciler {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #settler: Settler;
  readonly #claims: UnfinishedClaims;
  /** Launch ids whose end is being handled. */
  #ending = new Set<string>();
  /** Launch ids of an earlier daemon, until they are seen to live. */
  #found = new Set<string>();
  /** Sessions of the last listing in which nothing of a worker runs any more. */
  #remnants = new Set<string>();
  #adopted = false;

  constructor(world: World, memory: Memory, claims: UnfinishedClaims) {
    this.#world = world;
    this.#memory = memory;
    this.#claims = claims;
    this.#settler = new Settler(world, memory);
  }

  /** False until a first listing was understood: before that nothing may be started. */
  get adopted(): boolean {
    return this.#adopted;
  }

  /**
   * One pass over the runs that had been started before the listing was asked for, and over its sessions.
   * Answers the keys of the fibers whose rows may have moved.
   */
  async reconcile(listing: MuxListing, started: readonly Run[]): Promise<Set<string>> {
    const pass: Pass = { listing, server: this.#askOnce(listing), moved: new Set(), lost: [] };
    const known = new Set(started);
    if (listing.kind !== 'unknown' && !this.#adopted) {
      for (const run of this.#adoptRecorded(pass)) known.add(run);
      this.#adopted = true;
    }
    // App conversations are compared with their server, not with the multiplexer.
    const ours = [...known].filter((run) => SURFACE_RULES[run.surface].in_terminal);
    await Promise.all(ours.map((run) => this.#look(run, pass)));
    if (listing.kind === 'alive') await this.#adoptSessions(listing, pass);
    for (const key of await this.#settler.concludePending()) pass.moved.add(key);
    this.#tellIncident(pass.lost);
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

  async #look(run: Run, pass: Pass): Promise<void> {
    const life = await this.#lifeOf(run, pass.listing);
    if (isUnfinished(run) && !(await this.#finishClaim(run, life, pass))) return;
    if (life.kind === 'alive') await this.#followName(run, pass);
    if (life.kind === 'ended') await this.#end(run, life.why === 'rebooted', pass);
    else this.#lives(run, life, pass);
  }

  /** A renamed session is shown, attached to and ended by its new name; on disk too, for the next daemon. */
  async #followName(run: Run, pass: Pass): Promise<void> {
    const session = await findRenamedSession(this.#world, run, pass.listing);
    if (session === null) return;
    const before = run.mux_session;
    run.mux_session = session.name;
    if (!run.stray) this.#world.runDirectories.update(run.launch_id, { mux_session: session.name });
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
      if (sessionNamed(listing, run.mux_session) !== undefined) this.#listedBy(run, listing.server);
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
    if (!run.stray) this.#world.runDirectories.update(run.launch_id, { server });
  }

  /** What the world says of one run now. */
  async #lifeOf(run: Run, listing: MuxListing): Promise<Liveness> {
    const world = this.#world;
    const agent = world.runDirectories.agent(run.launch_id);
    const life = agent.kind === 'found' ? await world.processes.look(agent.value) : null;
    return assessLiveness({
      listing,
      manifest: {
        mux_session: run.mux_session,
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

  /** Takes up the starts that an earlier daemon left open; the newest of a fiber first. */
  #adoptRecorded(pass: Pass): Run[] {
    const runs: Run[] = [];
    const manifests = this.#world.runDirectories.all();
    recallOwed(this.#memory, manifests);
    for (const manifest of manifests.reverse()) {
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

  /** Worker sessions of which no run in memory tells. */
  async #adoptSessions(listing: Extract<MuxListing, { kind: 'alive' }>, pass: Pass): Promise<void> {
    const identityOf = ({ id, created_at }: (typeof listing.sessions)[number]) => `${id} ${created_at}`;
    const listed = new Set(listing.sessions.map(identityOf));
    for (const identity of this.#remnants) if (!listed.has(identity)) this.#remnants.delete(identity);
    for (const session of listing.sessions) {
      const identity = identityOf(session);
      if (this.#remnants.has(identity)) continue;
      const found = await recogniseSession(this.#world, this.#memory, session);
      if (found === 'remnant') this.#remnants.add(identity);
      if (found === null || found === 'remnant' || !this.#memory.runs.claim(found.run)) continue;
      this.#memory.quarantine.sawRunning(found.run.key, found.run.launch_id);
      pass.moved.add(found.run.key);
      if (!found.run.stray) {
        this.#world.runDirectories.withdrawForcedStart(found.run.launch_id);
        this.#world.runDirectories.update(found.run.launch_id, { state: 'spawned', ended_at: null });
      }
      this.#log(found.run, found.message);
    }
  }

  async #end(run: Run, rebooted: boolean, pass: Pass): Promise<void> {
    if (this.#ending.has(run.launch_id)) return;
    this.#ending.add(run.launch_id);
    pass.moved.add(run.key);
    try {
      const started = isStarted(run.state);
      if (!started && !this.#hasLeftTrace(run)) {
        await this.#settler.abandon(run);
        this.#log(run, 'a claim was never started');
        return;
      }
      if (!started) recordDispatch(this.#world, run);
      let server: ReturnType<typeof serverOf> = 'alive';
      const settled = await this.#settler.settle(run, {
        rebooted,
        server: async () => {
          server = serverOf(run, await pass.server());
          return server === 'lost' || server === 'replaced' ? 'absent' : server;
        },
        lost: (reason) => {
          const cause = reason === 'server_lost' && server === 'replaced' ? 'server_replaced' : reason;
          this.#lost({ run, cause }, pass);
        },
      });
      if (settled.reason === 'postponed') moveRun(run, { kind: 'looked', answers: false });
      else if (!pass.lost.some((one) => one.run === run)) this.#log(run, 'a worker ended', settled);
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

  /** True when the claimed start has left any trace of having been started. */
  #hasLeftTrace(run: Run): boolean {
    const { exit } = this.#world.runDirectories.readEnd(run.launch_id);
    return exit.kind !== 'none' || this.#world.runDirectories.agent(run.launch_id).kind !== 'none';
  }

  /** Recorded first: of an end that is written already the next daemon would not tell (P2). */
  #lost(loss: Loss, pass: Pass): void {
    this.#memory.incidents.record([loss], this.#world.clock.now(), () => this.#world.newUlid());
    pass.lost.push(loss);
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

/**
 * The session in which the agent of a run is found although no session has the run's name any more, because a person
 * renamed it; null where there is none or nobody can tell.
 */
async function findRenamedSession(
  world: Pick<World, 'runDirectories' | 'processes'>,
  run: Pick<Run, 'launch_id' | 'mux_session'>,
  listing: MuxListing,
): Promise<MuxSession | null> {
  if (sessionNamed(listing, run.mux_session) !== undefined) return null;
  const agent = world.runDirectories.agent(run.launch_id);
  if (agent.kind !== 'found') return null;
  for (const session of sessionsOf(listing)) {
    if (session.pane_dead || session.pane_pid === null) continue;
    const commands = await world.processes.commands(session.pane_pid);
    if (commands?.some(({ pid }) => pid === agent.value.pid)) return session;
  }
  return null;
}
