import { messageOf } from '../../../base/errors.ts';
import { InFlight } from '../../../base/in-flight.ts';
import type { Captured, CaptureRefused, CaptureView } from '../../../contract/http/capture.ts';
import type { Rehearsal } from '../../../contract/http/rehearsal.ts';
import type { TranscriptProbe } from '../../../harness/adapter.ts';
import type { MuxListing } from '../../../mux/mux.ts';
import { paneOfLaunch } from '../../../mux/mux-listing.ts';
import {
  type AskedCapture,
  checkCapture,
  isShown,
  KEPT_MS,
  refusedCapture,
  viewOfCapture,
} from '../../claims/capture-checks.ts';
import type { Memory } from '../../holds/memory.ts';
import type { Refusal } from '../../holds/refusals.ts';
import { requireMayStart } from '../../holds/start-refusal.ts';
import { agentFact, assessLiveness, type Liveness } from '../../run/liveness.ts';
import { probeTranscript } from '../../run/run-session.ts';
import {
  bindCapture,
  type CaptureRecord,
  discardCapture,
  listCaptures,
  removeCapture,
  unbindCapture,
  updateCapture,
  writeCapture,
} from '../../run-directory/capture-directory.ts';
import { isKilledForMemory } from '../../run-directory/memory-end.ts';
import type { RunManifest } from '../../run-directory/run-records.ts';
import type { World } from '../../world/world.ts';
import { perform, type Write } from '../../world/write.ts';
import { type PlannedCapture, planCapture, showCapture } from './capture-start.ts';
import { createSession } from './create-session.ts';

/** How long a start may take from its record to a recorded agent, in milliseconds. */
const STARTUP_MS = 10_000;
type Known = {
  record: CaptureRecord;
  state: CaptureView['state'];
  /** Its start is under way in this daemon: what a listing lacks says nothing of it yet. */
  being_started: boolean;
};

/** The captures that no fiber was claimed for yet: their starts, their ends, and what a restart finds of them. */
export class Captures
  implements
    Write<AskedCapture, PlannedCapture | Refusal, Rehearsal | CaptureRefused, Captured | CaptureRefused>
{
  readonly #world: World;
  readonly #memory: Memory;
  readonly #starts = new InFlight();
  #known = new Map<string, Known>();
  #found = false;

  constructor(world: World, memory: Memory) {
    this.#world = world;
    this.#memory = memory;
  }

  /** `POST /capture` on the terminal surface: every check before any effect; a refusal is a value. */
  capture<Q extends AskedCapture>(asked: Q) {
    return perform(this, asked);
  }

  /** Resolves when no capture is being started. */
  settled(): Promise<void> {
    return this.#starts.settled();
  }

  async plan(asked: AskedCapture): Promise<PlannedCapture | Refusal> {
    requireMayStart(this.#memory, asked.store, { look: asked.dry_run !== true });
    const checked = await checkCapture(this.#world, asked);
    return 'reason' in checked ? checked : planCapture(this.#world, checked, asked.claim);
  }

  show(planned: PlannedCapture | Refusal): Rehearsal | CaptureRefused {
    return 'reason' in planned ? refusedCapture(this.#world.host, planned) : showCapture(planned);
  }

  async apply(planned: PlannedCapture | Refusal): Promise<Captured | CaptureRefused> {
    if ('reason' in planned) return refusedCapture(this.#world.host, planned);
    // The brake may have been pulled, or the lease lost, while the checks were asked.
    requireMayStart(this.#memory, planned.record.store, { look: true });
    return this.#starts.add(this.#start(planned));
  }

  async #start(planned: PlannedCapture): Promise<Captured | CaptureRefused> {
    const world = this.#world;
    const { record } = planned;
    const known: Known = { record, state: 'starting', being_started: true };
    this.#known.set(record.launch_id, known);
    try {
      this.#write(known, planned);
      const refusal = await this.#openSession(record);
      if (refusal !== null) return refusedCapture(world.host, refusal);
      this.#update(known, { state: 'spawned' });
      this.#record(known.record, 'capture');
      world.logger.info({ session: record.mux_session, agent: record.agent }, 'started a capture');
    } finally {
      known.being_started = false;
    }
    return {
      captured: true,
      surface: 'cli',
      host: world.host,
      mux_session: record.mux_session,
      ...(record.session_uuid === null ? {} : { session_uuid: record.session_uuid }),
      run_id: record.run_id,
      agent: record.agent,
      harness: record.harness,
    };
  }

  /** A capture that could not be written down is none. */
  #write(known: Known, planned: PlannedCapture): void {
    try {
      writeCapture(this.#world.settings.data_dir, planned);
    } catch (error) {
      this.#known.delete(known.record.launch_id);
      throw error;
    }
  }

  /** The unclaimed capture whose session has this name. */
  bySession(mux_session: string): CaptureRecord | undefined {
    return this.#open().find(({ record }) => record.mux_session === mux_session)?.record;
  }

  /** The unclaimed capture that holds this conversation. */
  byConversation(session_uuid: string): CaptureRecord | undefined {
    return this.#open().find(({ record }) => record.session_uuid === session_uuid)?.record;
  }

  /** Those that may run. */
  open(): CaptureRecord[] {
    return this.#open().map(({ record }) => record);
  }

  /** False for one that was claimed for a fiber meanwhile. */
  hasEnded(launch_id: string): boolean {
    return this.#known.get(launch_id)?.state === 'ended';
  }

  /** Makes a capture the run of a fiber. */
  bind(manifest: RunManifest): void {
    bindCapture(this.#world.settings.data_dir, manifest);
    this.#known.delete(manifest.launch_id);
  }

  /** Makes it unclaimed again. */
  giveBack(launch_id: string): void {
    unbindCapture(this.#world.settings.data_dir, launch_id);
    if (!this.#found || this.#known.has(launch_id)) return;
    const record = listCaptures(this.#world.settings.data_dir).find((one) => one.launch_id === launch_id);
    if (record !== undefined) this.#known.set(launch_id, { record, state: 'unknown', being_started: false });
  }

  /** True when the process of some open capture has ended. */
  async someEnded(): Promise<boolean> {
    for (const { record } of this.#open()) {
      const agent = this.#world.runDirectories.agent(record.launch_id);
      if (agent.kind === 'found' && (await this.#world.processes.look(agent.value)) === 'gone') return true;
    }
    return false;
  }

  /** Holds the captures against the world. */
  async reconcile(listing: MuxListing): Promise<void> {
    if (!this.#found) this.#findRecorded();
    for (const known of this.#open()) {
      if (known.being_started) continue;
      const life = await this.#lifeOf(known.record, listing);
      if (!this.#known.has(known.record.launch_id)) continue;
      if (life.kind === 'ended') this.#end(known, life.why);
      else this.#lives(known, life);
    }
  }

  /** Learns the conversation's id where the harness assigned it, so that it can be opened again later. */
  async learn(): Promise<void> {
    for (const known of this.#open()) {
      const { record } = known;
      if (record.session_uuid !== null || record.state !== 'spawned') continue;
      const probe = await this.#transcriptOf(record);
      // A claim may have come meanwhile: the run then learns it.
      if (probe.kind !== 'found' || this.#known.get(record.launch_id) !== known) continue;
      this.#update(known, { session_uuid: probe.session_uuid });
      this.#record(known.record, 'learned');
    }
  }

  async #transcriptOf(record: CaptureRecord): Promise<TranscriptProbe> {
    try {
      return await probeTranscript(this.#world, {
        harness: record.harness,
        agent: this.#world.harness.agent(record.agent),
        project_dir: record.project_dir,
        session_uuid: null,
        run: { launch_id: record.launch_id, dispatched_at: record.captured_at },
      });
    } catch (error) {
      // Its agent is no longer in the registry: nothing can be told.
      return { kind: 'unknown', detail: messageOf(error) };
    }
  }

  /** Takes an ended capture off the list; its files stay as long as those of any other. */
  dismiss(run_id: string): void {
    for (const known of this.#known.values())
      if (known.record.run_id === run_id && known.state === 'ended') this.#update(known, { dismissed: true });
  }

  removeOld(now: number): void {
    const { settings, logger } = this.#world;
    for (const [launch_id, { record }] of this.#known) {
      if (record.ended_at === null || now - record.ended_at <= KEPT_MS) continue;
      discardCapture(settings.data_dir, launch_id, logger);
      this.#known.delete(launch_id);
    }
  }

  view(): CaptureView[] {
    const now = this.#world.clock.now();
    return [...this.#known.values()]
      .filter(({ record }) => isShown(record, now))
      .map(({ record, state }) => ({
        surface: 'cli',
        mux_session: record.mux_session,
        ...viewOfCapture(record, this.#world),
        state,
      }));
  }

  /** Null if the session runs or its state is unknown; a refusal undoes everything. */
  async #openSession(record: CaptureRecord): Promise<Refusal | null> {
    const { mux, settings } = this.#world;
    const created = await createSession(this.#world, record);
    if (created.kind === 'created') return null;
    const refusal: Refusal =
      created.kind === 'duplicate'
        ? { reason: 'session_name_taken', message: `a tmux session named ${record.mux_session} exists` }
        : { reason: created.code, message: created.detail };
    const listing = await mux.list();
    const listed = paneOfLaunch(listing, record.launch_id) !== undefined;
    if (listed) return null;
    // Without an answer the record stays: a later listing shows whether the session exists.
    if (listing.kind !== 'unknown') {
      this.#known.delete(record.launch_id);
      removeCapture(settings.data_dir, record.launch_id);
    }
    return refusal;
  }

  #open(): Known[] {
    return [...this.#known.values()].filter(({ record }) => record.state !== 'ended');
  }

  /** Takes up what an earlier daemon left. */
  #findRecorded(): void {
    this.#found = true;
    for (const record of listCaptures(this.#world.settings.data_dir)) {
      if (record.app !== undefined) continue;
      if (this.#known.has(record.launch_id)) continue;
      this.#known.set(record.launch_id, {
        record,
        state: record.state === 'ended' ? 'ended' : 'unknown',
        being_started: false,
      });
    }
  }

  async #lifeOf(record: CaptureRecord, listing: MuxListing): Promise<Liveness> {
    const { runDirectories, processes, clock, bootId } = this.#world;
    const agent = runDirectories.agent(record.launch_id);
    const life = agent.kind === 'found' ? await processes.look(agent.value) : null;
    return assessLiveness({
      listing,
      pane: paneOfLaunch(listing, record.launch_id)?.pane,
      manifest: {
        dispatched_at: record.captured_at,
        state: record.state,
        boot_id: record.boot_id,
      },
      boot_id: bootId,
      agent: agentFact(agent, life),
      exit: runDirectories.readEnd(record.launch_id).exit,
      now: clock.now(),
      startup_ms: STARTUP_MS,
    });
  }

  #lives(known: Known, life: Exclude<Liveness, { kind: 'ended' }>): void {
    if (known.record.state === 'claimed' && life.kind === 'alive') {
      this.#update(known, { state: 'spawned' });
      this.#record(known.record, 'capture');
    }
    known.state = life.kind === 'alive' ? 'running' : life.kind;
  }

  #end(known: Known, why: string): void {
    const { runDirectories, workerMemory } = this.#world;
    const { mux_session, launch_id } = known.record;
    const { exit, end } = runDirectories.readEnd(launch_id);
    const run_dir = runDirectories.directory(launch_id);
    const killed = isKilledForMemory(
      exit.kind === 'found' ? exit.value : null,
      workerMemory.readEnd(run_dir),
    );
    const ended_reason =
      end.kind === 'found'
        ? end.value.reason
        : killed
          ? 'memory_limit'
          : exit.kind === 'found'
            ? (exit.value.reason ?? exit.value.signal ?? `exited with ${exit.value.code}`)
            : why;
    this.#update(known, { state: 'ended', ended_at: this.#world.clock.now(), ended_reason });
    workerMemory.release(run_dir);
    known.state = 'ended';
    this.#world.logger.warn(
      { session: mux_session, launch: launch_id, reason: ended_reason },
      'a capture ended before it had claimed a fiber; its text is in its run directory',
    );
  }

  #update(known: Known, change: Parameters<typeof updateCapture>[2]): void {
    try {
      known.record = updateCapture(this.#world.settings.data_dir, known.record, change);
    } catch (error) {
      known.record = { ...known.record, ...change };
      this.#world.logger.warn(
        { err: error, launch: known.record.launch_id },
        'the record of a capture could not be brought up to date',
      );
    }
  }

  #record(record: CaptureRecord, kind: 'capture' | 'learned'): void {
    this.#world.recordSession({
      fiber: null,
      uid: null,
      session: record.session_uuid,
      thread_id: null,
      harness: record.harness,
      agent: record.agent,
      host: this.#world.host,
      mux: record.mux_session,
      at: this.#world.clock.now(),
      kind,
      run_id: record.run_id,
    });
  }
}
