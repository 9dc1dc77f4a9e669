import { CodedError } from '../../base/errors.ts';
import { Mutex } from '../../base/mutex.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import type { Claimed, ClaimRequest } from '../../contract/http/capture.ts';
import type { Rehearsal } from '../../contract/http/rehearsal.ts';
import type { Surface } from '../../contract/surface.ts';
import { markClaim, needsMark } from '../edits/claim-markers.ts';
import { cameAbout, type Memory } from '../holds/memory.ts';
import { moveRun, type Run } from '../run/run.ts';
import { runOfManifest } from '../run/runs.ts';
import type { RunManifest } from '../run-directory/run-records.ts';
import { keyOf } from '../world/documents.ts';
import type { World } from '../world/world.ts';
import { perform, type Write } from '../world/write.ts';
import {
  type Claimable,
  type ClaimPorts,
  claimableDocument,
  claimedReply,
  claimManifest,
  otherWorker,
  requireCurrent,
  showClaim,
} from './claim-checks.ts';

/** How a surface finds the session or conversation that a claim names. */
export type ClaimedBy = {
  surface: Surface;
  /** What the request names; throws `invalid_request` where it names nothing. */
  nameIn(request: ClaimRequest): string;
  /** The name as people read it. */
  shown(name: string): string;
  hasName(run: Run, name: string): boolean;
  /** Throws where it does not run, or is the worker of another fiber. */
  find(name: string, document: FiberDocument, session_uuid: string | undefined): Promise<Found>;
  /** The document has the claim. */
  marked?(run: Run): void;
  captures: {
    /** Makes a capture the run of a fiber. */
    bind(manifest: RunManifest): void;
    /** Makes it unclaimed again. */
    giveBack(launch_id: string): void;
  };
};

/** A worker that runs already: a capture of ours, or what a person began, which `record` writes down. */
export type Found = { run: Claimable; record: ((manifest: RunManifest) => void) | null };

type PlannedClaim = { document: FiberDocument; meeting: string | undefined; name: string } & (
  | { kind: 'again'; run: Run }
  | { kind: 'new'; found: Found; manifest: RunManifest }
);

/** Makes what runs already the worker of a fiber; starts, resumes, names and interrupts nothing (WPL-5). */
export class Claims implements Write<ClaimRequest, PlannedClaim, Rehearsal, Claimed> {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #by: ClaimedBy;
  readonly #ports: ClaimPorts;
  readonly #claiming = new Mutex();

  constructor(world: World, memory: Memory, by: ClaimedBy, ports: ClaimPorts) {
    this.#world = world;
    this.#memory = memory;
    this.#by = by;
    this.#ports = ports;
  }

  /** `POST /claim`. The same claim once more is success. */
  claim<Q extends ClaimRequest>(asked: Q) {
    return perform(this, asked);
  }

  inTurn<T>(_asked: ClaimRequest, run: () => Promise<T>): Promise<T> {
    return this.#claiming.run(run);
  }

  /** Who would be the worker. */
  async plan(request: ClaimRequest): Promise<PlannedClaim> {
    const name = this.#by.nameIn(request);
    await this.#ports.adopted();
    const { meeting } = request;
    const document = claimableDocument(this.#world, request.fiber_id, this.#by.surface);
    const key = keyOf(document);
    await this.#ports.underWay(key);
    const running = this.#memory.runs.get(key);
    if (running !== undefined) {
      if (!this.#by.hasName(running, name)) throw otherWorker(document, running);
      return { kind: 'again', document, meeting, name, run: running };
    }
    const owner = this.#memory.runs.all().find((run) => this.#by.hasName(run, name));
    if (owner !== undefined)
      throw new CodedError('session_claimed', `${this.#by.shown(name)} is the worker of ${owner.fiber_id}`);
    const found = await this.#by.find(name, document, request.session_uuid);
    const manifest = claimManifest(this.#world, document, found.run, meeting);
    return { kind: 'new', document, meeting, name, found, manifest };
  }

  show(plan: PlannedClaim): Promise<Rehearsal> {
    const run = plan.kind === 'again' ? plan.run : runOfManifest(plan.manifest);
    return showClaim(this.#world, { ...plan, run, name: this.#by.shown(plan.name) });
  }

  async apply(plan: PlannedClaim): Promise<Claimed> {
    const { document, meeting } = plan;
    if (plan.kind === 'again') return this.#again(document, plan.run, meeting);
    const { found, manifest } = plan;
    const key = keyOf(document);
    const run: Run = { ...runOfManifest(manifest), state: { kind: 'starting' } };
    // Nothing is awaited between this look and the claim in memory, so that no start comes between.
    const start = this.#ports.underWay(key);
    if (start !== undefined || !this.#memory.runs.claim(run)) {
      await start;
      const other = this.#memory.runs.get(key);
      throw other === undefined
        ? new CodedError('conflict', `${document.id} was being started; claim it again`)
        : otherWorker(document, other);
    }
    try {
      await this.#write(document, run, found, manifest, meeting);
    } catch (error) {
      this.#memory.runs.release(run);
      throw error;
    } finally {
      moveRun(run, { kind: 'start_over' });
      this.#ports.onMoved([key]);
    }
    return claimedReply(this.#world.host, run, false);
  }

  /** The claim on disk, the document's markers, the ledger line; taken back where the document is not written. */
  async #write(
    document: FiberDocument,
    run: Run,
    { record }: Found,
    manifest: RunManifest,
    meeting: string | undefined,
  ): Promise<void> {
    const world = this.#world;
    if (record === null) this.#by.captures.bind(manifest);
    else record(manifest);
    try {
      await this.#mark(document, run, meeting);
    } catch (error) {
      if (record === null) this.#by.captures.giveBack(run.launch_id);
      else world.runDirectories.update(run.launch_id, { state: 'ended', ended_at: world.clock.now() });
      throw error;
    }
    cameAbout(world, this.#memory, run);
    const { fiber_id: fiber, mux_session: session, agent } = run;
    world.logger.info(
      { fiber, session, thread: run.app?.thread_id, run: run.run_id, agent },
      'what ran already was claimed as a worker',
    );
  }

  /** A claim that was made before: what its document does not say is written now. */
  async #again(document: FiberDocument, run: Run, meeting: string | undefined): Promise<Claimed> {
    if (needsMark(document, run, meeting)) await this.#mark(document, run, meeting);
    this.#ports.onMoved([run.key]);
    return claimedReply(this.#world.host, run, true);
  }

  async #mark(document: FiberDocument, run: Run, meeting: string | undefined): Promise<void> {
    await this.#world.documents.change(document, (current) => {
      requireCurrent(this.#memory, run);
      return markClaim(this.#world, current, run, meeting);
    });
    this.#by.marked?.(run);
  }
}
